//! What states and statics hold, before its upgrades.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use otp::net::{Filled, Lines, Outbox, Readable, TcpListener, TcpStream, Writable};
use otp::time::{Interval, Tick, Ticker, Timer};
use otp::{
    Any, Args, Bytes, Carry, Data, Down, Init, Monitor, Pid, Pool, Server, Tree, gen_server, one_for_one, supervisor, worker,
};

otp::application!(root);

const PERIOD: Duration = Duration::from_millis(5);

otp::kept! {
    /// Whatever anybody said.
    static SAID: Vec<String> = Vec::new();
    static UNUSED: u64 = 7;
}

/// A static of the standard library's.
static ANEW: std::sync::Mutex<u64> = std::sync::Mutex::new(0);

/// Counts periods, and finds out whether one is lost: all that were over when it last looked are counted at the next tick.
#[derive(Carry)]
pub struct Clock {
    ticker: Ticker,
    interval: Interval,
    since: Instant,
    looked: Instant,
    ticks: u64,
    waited: u64,
    lost: bool,
    #[otp(anew = ticks + 1)]
    anew: u64,
}

#[gen_server(module = "clock")]
impl Clock {
    fn init() -> Init<Self> {
        let (ticker, interval) = (Ticker::every(PERIOD)?, Interval::every(PERIOD)?);
        let since = Instant::now();
        Ok(Clock { ticker, interval, since, looked: since, ticks: 0, waited: 0, lost: false, anew: 0 })
    }

    #[info]
    fn tick(&mut self, tick: Tick) {
        self.ticks += tick.periods;
        let over = (self.looked - self.since).as_nanos() / PERIOD.as_nanos();
        self.lost |= u128::from(self.ticks) < over;
        self.looked = Instant::now();
    }

    /// Waits for the next period of the other timer; whether as many were over as the time that has passed says.
    #[call]
    async fn wait(&mut self) -> bool {
        let over = self.since.elapsed().as_nanos() / PERIOD.as_nanos();
        self.waited += self.interval.tick().await;
        u128::from(self.waited) >= over
    }

    #[call]
    fn ticked(&mut self) -> (u64, bool) {
        (self.ticks, self.lost)
    }

    #[call]
    fn made_anew(&mut self) -> bool {
        self.anew > 0 && self.anew <= self.ticks + 1
    }
}

#[derive(Data)]
pub struct Due;

/// Listens, and asks for one message only when it is told to; watches a process, and has a message on its way.
#[derive(Carry)]
pub struct Keeper {
    listener: TcpListener,
    stream: Option<TcpStream>,
    lines: Lines,
    outbox: Outbox,
    readable: u32,
    writable: u32,
    watches: Option<Monitor>,
    gone: u32,
    timer: Option<Timer>,
    due: u32,
}

#[gen_server(module = "keeper")]
impl Keeper {
    fn init() -> Init<Self> {
        println!("it keeps");
        Ok(Keeper {
            listener: TcpListener::bind(SocketAddr::from(([127, 0, 0, 1], 0)))?,
            stream: None,
            lines: Lines::of_at_most(100),
            outbox: Outbox::of_at_most(1 << 26),
            readable: 0,
            writable: 0,
            watches: None,
            gone: 0,
            timer: None,
            due: 0,
        })
    }

    #[call]
    fn port(&mut self) -> u16 {
        self.listener.local().map_or(0, |address| address.port())
    }

    #[call]
    fn ask_for_one(&mut self) {
        self.listener.notify_readable().expect("the poll set");
    }

    /// How many messages came, and whether somebody is waiting, who is taken in.
    #[call]
    fn accept(&mut self) -> (u32, bool) {
        let stream = self.listener.try_accept().expect("the listener");
        let came = stream.is_some();
        self.stream = stream.or(self.stream.take());
        (self.readable, came)
    }

    #[info]
    fn readable(&mut self, message: Readable) {
        assert_eq!(message.socket, self.listener.number());
        self.readable += 1;
    }

    /// The next line, or nothing where none is complete.
    #[call]
    fn line(&mut self) -> Option<String> {
        let stream = self.stream.as_ref()?;
        while let Ok(Filled::Some(_)) = self.lines.fill(stream) {}
        self.lines.next_line().map(|line| String::from_utf8_lossy(&line.expect("a short one")).into_owned())
    }

    /// Says more than the kernel takes; how many bytes wait for room.
    #[call]
    fn say_much(&mut self) -> usize {
        let stream = self.stream.as_ref().expect("a connection");
        self.outbox.put(&vec![b'x'; 1 << 25]).expect("room");
        self.outbox.flush(stream).expect("a connection");
        self.outbox.len()
    }

    #[info]
    fn writable(&mut self, _message: Writable) {
        self.writable += 1;
        self.outbox.flush(self.stream.as_ref().expect("a connection")).expect("a connection");
    }

    #[call]
    fn said(&mut self) -> (bool, usize) {
        (self.writable > 0, self.outbox.len())
    }

    #[call]
    fn watch(&mut self, process: Pid) {
        self.watches = Some(Monitor::of(&process));
    }

    #[info]
    fn down(&mut self, down: Down) {
        self.gone += u32::from(down.monitor == self.watches);
    }

    #[call]
    fn gone(&mut self) -> u32 {
        self.gone
    }

    #[call]
    fn later(&mut self, time: Duration) {
        self.timer = Some(Timer::after(time, &Due));
    }

    #[call]
    fn cancel(&mut self) {
        self.timer.take().expect("a timer").cancel();
    }

    #[info]
    fn due(&mut self, _due: Due) {
        self.due += 1;
    }

    #[call]
    fn dues(&mut self) -> u32 {
        self.due
    }

    #[call]
    fn say(&mut self, what: String) -> (Vec<String>, u64) {
        *ANEW.lock().expect("nobody panics") += 1;
        let said = SAID.with(|said| {
            said.push(what);
            said.clone()
        });
        (said, *ANEW.lock().expect("nobody panics"))
    }

    #[call]
    fn version(&mut self) -> u32 {
        1
    }
}

/// Of each form, and each in others.
#[derive(Carry, Debug)]
pub struct Everything {
    nothing: (),
    numbers: (u8, i64, f64, bool, char),
    texts: [String; 2],
    bytes: Bytes,
    any: Any,
    addresses: (Pid, Server<Keeper>, Pool<Keeper>),
    some: Option<Box<Kind>>,
    none: Option<Kind>,
    results: Vec<Result<Kind, String>>,
    map: BTreeMap<String, Vec<Kind>>,
    hash: HashMap<u64, Newtype>,
    set: BTreeSet<u8>,
    queue: VecDeque<Empty>,
    time: Duration,
    sent: Sent,
}

#[derive(Carry, Debug)]
enum Kind {
    Alone,
    Pair(u8, Option<Monitor>),
    Named {
        deeper: Option<Box<Kind>>,
        #[otp(rename = "other name")]
        renamed: u8,
    },
}

#[derive(Carry, Debug)]
struct Newtype(Option<Timer>);

#[derive(Carry, Debug)]
struct Empty;

#[derive(Data, Debug)]
struct Sent {
    number: u64,
}

#[gen_server(module = "everything")]
impl Everything {
    fn init() -> Init<Self> {
        let monitor = Monitor::of(&Pid::own());
        let named = || Kind::Named { deeper: Some(Box::new(Kind::Alone)), renamed: 3 };
        Ok(Everything {
            nothing: (),
            numbers: (255, i64::MIN, -0.5, true, 'k'),
            texts: ["".into(), "text".into()],
            bytes: Bytes(vec![0, 255]),
            any: Any::of(&vec![1_u8, 2]),
            addresses: (Pid::own(), Server::named("keeper"), Pool::named("nobody")),
            some: Some(Box::new(Kind::Pair(1, Some(monitor)))),
            none: None,
            results: vec![Ok(named()), Err("why".into())],
            map: BTreeMap::from([("key".into(), vec![Kind::Alone, Kind::Pair(2, None), named()])]),
            hash: HashMap::from([(u64::MAX, Newtype(Some(Timer::after(Duration::from_secs(600), &Due))))]),
            set: BTreeSet::from([1, 2]),
            queue: VecDeque::from([Empty, Empty]),
            time: Duration::new(1, 1),
            sent: Sent { number: 9 },
        })
    }

    #[call]
    fn shown(&mut self) -> String {
        format!("{self:?}")
    }
}

#[supervisor]
pub fn root(_args: Args) -> Tree {
    one_for_one()
        .child(worker::<Clock>(()).name("clock"))
        .child(worker::<Everything>(()).name("everything"))
        .child(worker::<Keeper>(()).name("keeper"))
}
