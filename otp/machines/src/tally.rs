//! Event handlers with every callback, and a server that uses an event manager from Rust.

use std::time::Duration;

use otp::event::{HandlerExit, Leaving};
use otp::{
    Any, Data, EventManager, Handled, Init, NoStart, Pid, Tree, events, gen_event, gen_server, one_for_one, supervisor,
    time, worker,
};

use crate::{Switch, SwitchApi};

/// Adds numbers up.
#[derive(Debug)]
pub struct Tally {
    sum: i64,
    words: Vec<String>,
}

#[gen_event]
impl Tally {
    async fn init(sum: i64) -> Init<Self> {
        match sum {
            -1 => return Err(NoStart::Ignore),
            -2 => return Err("nothing below zero".into()),
            -3 => panic!("no such tally"),
            100 => time::sleep(Duration::from_millis(10)).await,
            _ => {}
        }
        Ok(Self { sum, words: Vec::new() })
    }

    /// 0 has it go, 13 panic, 14 wait, 15 hibernate, and 16 be another.
    #[event]
    async fn number(&mut self, n: i64) -> Handled<Self> {
        self.sum += n;
        match n {
            0 => return Handled::remove(),
            13 => panic!("thirteen"),
            14 => time::sleep(Duration::from_millis(20)).await,
            15 => return Handled::hibernate(),
            16 => return Handled::swap::<Doubled>("itself".to_owned()),
            _ => {}
        }
        Handled::keep()
    }

    #[event]
    fn word(&mut self, text: String) {
        self.words.push(text);
    }

    /// The sum until now.
    #[call]
    fn sum(&mut self) -> i64 {
        self.sum
    }

    #[call]
    fn words(&mut self) -> Vec<String> {
        self.words.clone()
    }

    #[call]
    async fn sum_later(&mut self, milliseconds: u64) -> Handled<Self, i64> {
        time::sleep(Duration::from_millis(milliseconds)).await;
        Handled::keep().reply(self.sum)
    }

    #[call(dirty_cpu)]
    fn last(&mut self) -> Handled<Self, i64> {
        Handled::remove().reply(self.sum)
    }

    #[call]
    fn divided_by(&mut self, n: i64) -> i64 {
        self.sum / n
    }

    #[info]
    fn told(&mut self, n: i64) {
        self.sum += n;
    }

    #[terminate]
    async fn end(&mut self, leaving: Leaving) -> i64 {
        time::sleep(Duration::from_millis(5)).await;
        if let Some(observer) = Pid::registered("observer") {
            observer.send(&format!("{leaving:?}"));
        }
        self.sum
    }

    #[upgrade]
    fn upgrade(old: i64) -> Self {
        Self { sum: old, words: vec!["upgraded".into()] }
    }
}

/// Begins with twice what another had, and leaves nothing.
#[derive(Data, Debug)]
pub struct Doubled {
    sum: i64,
    after: String,
}

#[gen_event]
impl Doubled {
    fn init() -> Init<Self> {
        Ok(Self { sum: 0, after: String::new() })
    }

    #[take_over]
    fn continued(old: Option<i64>, after: String) -> Init<Self> {
        Ok(Self { sum: old.unwrap_or(-1) * 2, after })
    }

    #[event]
    fn number(&mut self, n: i64) {
        self.sum += 2 * n;
    }

    #[call]
    fn doubled_sum(&mut self) -> (i64, String) {
        (self.sum, self.after.clone())
    }
}

/// Uses a manager as a process in Rust does.
#[derive(Debug, Default)]
pub struct Owner {
    exits: Vec<String>,
}

#[gen_server]
impl Owner {
    fn init() -> Init<Self> {
        Ok(Self::default())
    }

    /// Everything that can be done with a manager, in order; what came of it is given back.
    #[call]
    async fn everything(&mut self) -> Vec<String> {
        let mut log = Vec::new();
        let manager = EventManager::<i64>::start_link().named("own").await.expect("a manager");
        let again = EventManager::<i64>::start_link().named("own").await;
        log.push(format!("{}", matches!(again, Err(otp::StartError::AlreadyStarted(_)))));
        for refused in [-1, -2, -3] {
            log.push(manager.add_handler::<Tally>(refused).await.expect_err("refused").to_string());
        }
        let tally = manager.add_handler::<Tally>(1).await.expect("a handler");
        let second = manager.add_handler_as::<Tally>(&2_i64, 20).await.expect("another");
        manager.notify(5);
        manager.sync_notify(6).await.expect("notified");
        log.push(format!("{:?} {:?}", tally.sum().await, second.sum().await));
        log.push(format!("{:?}", tally.divided_by(0).await.map_err(|error| error.to_string().contains("by zero"))));
        log.push(format!("{:?}", tally.sum().await));
        log.push(format!("{:?}", manager.which_handlers().await.expect("handlers")));
        let doubled = second.swap::<Doubled>("the second".to_owned()).await.expect("a swap");
        log.push(format!("{:?}", doubled.doubled_sum().await));
        doubled.delete().await.expect("it was there");
        log.push(format!("{:?}", tally.clone().delete().await));
        let tally = manager.add_handler::<Tally>(7).await.expect("a handler");
        log.push(format!("{:?}", tally.delete().await));
        let missing = manager.handler::<Tally>().swap::<Doubled>("nobody".to_owned()).await.expect("a swap");
        log.push(format!("{:?}", missing.doubled_sum().await));
        manager.stop().await.expect("stopped");
        log
    }

    /// Uses a machine.
    #[call]
    async fn switches(&mut self) -> (bool, u32, bool) {
        let switch = Switch::start_link(true).named("switch").await.expect("a switch");
        let now = switch.switch().await.expect("an answer");
        switch.add(2, 3);
        let again = Switch::start_link(true).named("switch").await;
        (now, switch.count().await.expect("an answer"), again.is_err())
    }

    /// Adds a tally of its own to a manager, and is told of its end.
    #[call]
    async fn own(&mut self, manager: EventManager<i64>) -> String {
        format!("{:?}", manager.add_sup_handler::<Tally>(0).await.map(|handler| handler.name().module))
    }

    #[call]
    fn exits(&mut self) -> Vec<String> {
        std::mem::take(&mut self.exits)
    }

    #[info]
    fn gone(&mut self, exit: HandlerExit) {
        self.exits.push(format!("{} {:?}", exit.handler.module, exit.end));
    }

    #[info]
    fn other(&mut self, message: Any) {
        self.exits.push(format!("{message:?}"));
    }
}

/// A manager, and who adds to it.
#[supervisor]
pub fn with_events() -> Tree {
    one_for_one().child(events::<i64>("numbers")).child(worker::<Owner>(()).name("owner"))
}
