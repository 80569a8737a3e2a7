//! A shop before its upgrades: a counter, things in a pool, a door, and a log of events.

use std::time::Duration;

use otp::{
    Args, Caller, Data, EventManager, Init, Next, Pid, Reply, Server, Step, Task, Tree, events, gen_event, gen_server, gen_statem,
    one_for_one, pool, register, supervisor, time, worker,
};

otp::application!(root);

#[derive(Data)]
pub struct Counter {
    count: u64,
}

#[gen_server(module = "counter")]
impl Counter {
    fn init() -> Init<Self> {
        Ok(Counter { count: 0 })
    }

    #[call]
    fn add(&mut self) -> u64 {
        self.count += 1;
        self.count
    }

    /// Comes to its end when somebody has the name.
    #[call]
    async fn until(&mut self, name: String) -> u64 {
        while Pid::registered(&name).is_none() {
            time::sleep(Duration::from_millis(20)).await;
        }
        self.count
    }

    #[call]
    fn version(&mut self) -> u32 {
        1
    }
}

/// Asks the counter, so that it may have to wait for one that is suspended.
#[derive(Data)]
pub struct Asker {
    asked: u64,
}

#[gen_server(module = "asker")]
impl Asker {
    fn init() -> Init<Self> {
        Ok(Asker { asked: 0 })
    }

    #[call]
    async fn ask(&mut self) -> u64 {
        self.asked += 1;
        Server::<Counter>::named("counter").add().await.expect("an answer")
    }
}

/// Begins work that goes on for as long as nobody has the name `done`.
#[derive(Data)]
pub struct Worker {
    begun: u32,
    waiting: Vec<Caller<String>>,
}

#[gen_server(module = "worker")]
impl Worker {
    fn init() -> Init<Self> {
        Ok(Worker { begun: 0, waiting: Vec::new() })
    }

    #[call]
    fn work(&mut self) {
        self.begun += 1;
        drop(Task::spawn_unlinked(async {
            while Pid::registered("done").is_none() {
                time::sleep(Duration::from_millis(20)).await;
            }
        }));
    }

    /// Is answered when it is over.
    #[call]
    fn when_over(&mut self, caller: Caller<String>) {
        self.waiting.push(caller);
    }

    #[cast]
    fn over(&mut self) {
        self.waiting.drain(..).for_each(|caller| caller.reply("over".into()));
    }

    /// Begins a task of the name `idle`, once nothing comes for this long.
    #[call]
    fn rest(&mut self, ms: u64) -> Reply<()> {
        Reply::new((), Next::WaitAtMost(Duration::from_millis(ms)))
    }

    #[timeout]
    fn nothing_came(&mut self) {
        drop(Task::spawn_unlinked(async {
            register("idle");
            time::sleep(Duration::from_secs(600)).await;
        }));
    }
}

#[derive(Data)]
pub struct Thing {
    number: u64,
}

#[gen_server(module = "thing")]
impl Thing {
    fn init(number: u64) -> Init<Self> {
        Ok(Thing { number })
    }

    #[call]
    fn number(&mut self) -> u64 {
        self.number
    }
}

#[derive(Data, Clone, Copy, PartialEq)]
pub enum Lock {
    Open,
    Closed,
}

#[derive(Data)]
pub struct Door {
    opened: u32,
}

#[gen_statem(state = Lock, module = "door")]
impl Door {
    fn init() -> Init<(Lock, Self)> {
        Ok((Lock::Closed, Door { opened: 0 }))
    }

    #[call]
    fn open(&mut self, _state: Lock) -> Step<Self, u32> {
        self.opened += 1;
        Step::to(Lock::Open).reply(self.opened)
    }

    #[call]
    fn is_open(&mut self, state: Lock) -> bool {
        state == Lock::Open
    }
}

#[derive(Data)]
pub enum News {
    Sold(String),
}

#[derive(Data)]
pub struct Log {
    sold: Vec<String>,
}

#[gen_event(module = "log")]
impl Log {
    fn init() -> Init<Self> {
        Ok(Log { sold: Vec::new() })
    }

    #[event]
    fn news(&mut self, news: News) {
        let News::Sold(what) = news;
        self.sold.push(what);
    }

    #[call]
    fn sold(&mut self) -> Vec<String> {
        self.sold.clone()
    }
}

/// Has the log listen.
#[derive(Data)]
pub struct Listener {
    since: u32,
}

#[gen_server(module = "listener")]
impl Listener {
    async fn init() -> Init<Self> {
        EventManager::<News>::named("news").add_sup_handler::<Log>(()).await?;
        println!("the shop is open");
        Ok(Listener { since: 1 })
    }
}

#[supervisor(module = "root")]
pub fn root(_args: Args) -> Tree {
    one_for_one()
        .child(worker::<Counter>(()).name("counter"))
        .child(worker::<Asker>(()).name("asker"))
        .child(worker::<Worker>(()).name("worker"))
        .child(pool::<Thing>().name("things"))
        .child(worker::<Door>(()).name("door"))
        .child(events::<News>("news"))
        .child(worker::<Listener>(()).name("listener"))
}
