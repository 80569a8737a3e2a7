//! What one callback sends: it arrives whole and in order, however much it is, and what was sent takes no room any more.

use otp::testing::evaluate;
use otp::{Caller, Data, Init, Pid, Server, gen_server};

/// One of each kind that lies in memory in a way of its own.
#[derive(Clone, Data, Debug, PartialEq)]
pub enum Parcel {
    Empty,
    Number(u64),
    Wide(i128),
    Fraction(f64),
    Text(String),
    Tree(Vec<Vec<(u64, String)>>),
    Process(Pid),
}

impl Parcel {
    fn of(number: u64) -> Self {
        match number % 7 {
            0 => Self::Empty,
            1 => Self::Number(number),
            2 => Self::Wide(i128::from(number) << 70),
            3 => Self::Fraction(number as f64 / 8.0),
            4 => Self::Text("x".repeat((number % 200) as usize)),
            5 => Self::Tree(vec![vec![(number, number.to_string()); 3]; (number % 5) as usize]),
            _ => Self::Process(Pid::own()),
        }
    }
}

/// Keeps what it gets.
pub struct Recipient {
    parcels: Vec<(u64, Parcel)>,
    ticks: u64,
}

#[gen_server]
impl Recipient {
    fn init() -> Init<Self> {
        Ok(Recipient { parcels: Vec::new(), ticks: 0 })
    }

    #[cast]
    fn parcel(&mut self, number: u64, parcel: Parcel) {
        self.parcels.push((number, parcel));
    }

    #[cast]
    fn tick(&mut self) {
        self.ticks += 1;
    }

    #[info]
    fn message(&mut self, message: (u64, Parcel)) {
        self.parcels.push(message);
    }

    #[call]
    fn process(&mut self) -> Pid {
        Pid::own()
    }

    #[call]
    fn all(&mut self) -> (Vec<(u64, Parcel)>, u64) {
        (std::mem::take(&mut self.parcels), self.ticks)
    }
}

/// Sends from a callback that does not wait, where the last message is left to the Erlang half.
pub struct Sender {
    heard: Vec<(u64, Parcel)>,
}

#[gen_server]
impl Sender {
    fn init() -> Init<Self> {
        Ok(Sender { heard: Vec::new() })
    }

    /// To another and to itself, by turns.
    #[cast]
    fn spread(&mut self, to: Server<Recipient>, process: Pid, count: u64) {
        send_to(&to, &process, count);
    }

    #[cast]
    fn ticks(&mut self, to: Server<Recipient>, count: u64) {
        (0..count).for_each(|_| to.tick());
    }

    /// May have no more than 50,000 words from now on.
    #[call]
    async fn bounded(&mut self) {
        evaluate("process_flag(max_heap_size, #{size => 50_000, kill => true, error_logger => false})")
            .await
            .expect("set");
    }

    #[info]
    fn own(&mut self, message: (u64, Parcel)) {
        self.heard.push(message);
    }

    /// What it sent to itself, and who it is.
    #[call]
    fn heard(&mut self, caller: Caller<(Vec<(u64, Parcel)>, Pid)>) {
        caller.reply((std::mem::take(&mut self.heard), Pid::own()));
    }
}

fn send_to(to: &Server<Recipient>, process: &Pid, count: u64) {
    for number in 0..count {
        match number % 3 {
            0 => to.parcel(number, Parcel::of(number)),
            1 => process.send(&(number, Parcel::of(number))),
            _ => Pid::own().send(&(number, Parcel::of(number))),
        }
        to.tick();
    }
}

/// The parcels of this sender that are not for itself, or are.
fn expected(count: u64, sender: Pid, own: bool) -> Vec<(u64, Parcel)> {
    let parcel = |number| match Parcel::of(number) {
        Parcel::Process(_) => Parcel::Process(sender.clone()),
        other => other,
    };
    (0..count).filter(|number| (number % 3 == 2) == own).map(|number| (number, parcel(number))).collect()
}

const COUNT: u64 = 3000;

#[otp::test]
async fn what_one_callback_sends_arrives_whole_and_in_order() {
    let recipient = Recipient::start_link().await.expect("it starts");
    let sender = Sender::start_link().await.expect("it starts");
    let process = recipient.process().await.expect("it is alive");
    sender.spread(recipient.clone(), process, COUNT);
    // The first one may be asked before it has begun; what it sent to itself comes before the second one.
    let (mut heard, pid) = sender.heard().await.expect("an answer");
    heard.extend(sender.heard().await.expect("an answer").0);
    assert!(heard == expected(COUNT, pid.clone(), true), "what it sends to itself");
    assert!(recipient.all().await == Ok((expected(COUNT, pid, false), COUNT)), "what it sends to another");
}

#[otp::test]
async fn what_a_callback_that_waits_sends_arrives_whole_and_in_order() {
    let recipient = Recipient::start_link().await.expect("it starts");
    let process = recipient.process().await.expect("it is alive");
    send_to(&recipient, &process, 300);
    otp::yield_now().await;
    assert!(recipient.all().await == Ok((expected(300, Pid::own(), false), 300)));
}

/// The VM kills a process whose heap is larger than it may be when its garbage is collected.
#[otp::test]
async fn what_was_sent_takes_no_room() {
    let recipient = Recipient::start_link().await.expect("it starts");
    let sender = Sender::start_link().await.expect("it starts");
    sender.bounded().await.expect("it is alive");
    sender.ticks(recipient.clone(), 100_000);
    assert!(sender.heard().await.is_ok(), "it is alive");
    assert_eq!(recipient.all().await, Ok((Vec::new(), 100_000)));
}
