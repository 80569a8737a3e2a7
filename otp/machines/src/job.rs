//! A state machine with every callback and every action.

use std::time::{Duration, Instant};

use otp::{Caller, Entered, Exit, First, Init, NoStart, Reason, Step, gen_statem, time};

use crate::Phase;

/// What a job has noted.
#[derive(Debug)]
pub struct Job {
    log: Vec<String>,
    waiting: Vec<Caller<String>>,
}

impl Job {
    fn note(&mut self, what: impl Into<String>) {
        self.log.push(what.into());
    }
}

#[gen_statem(state = Phase)]
impl Job {
    /// `none`, `refused` and `panic` do not start one; `async` waits before it does.
    async fn init(how: String) -> Init<First<Self>> {
        match how.as_str() {
            "none" => return Err(NoStart::Ignore),
            "refused" => return Err("not today".into()),
            "panic" => panic!("no such job"),
            "async" => time::sleep(Duration::from_millis(20)).await,
            _ => {}
        }
        let first = First::new(Phase::Idle, Self { log: vec![how], waiting: Vec::new() });
        Ok(first.next_event(JobEvent::Noted("of init".into())))
    }

    #[after_init]
    fn begin(&mut self, state: Phase) {
        self.note(format!("began {state:?}"));
    }

    #[enter]
    fn entered(&mut self, from: &Phase, to: Phase) -> Entered<Self> {
        self.note(format!("{from:?} > {to:?}"));
        match to {
            Phase::Idle => Entered::keep(),
            Phase::Busy(99) => Entered::stop("too many rounds"),
            Phase::Busy(round) => self.waiting.drain(..).fold(
                Entered::keep().state_timeout(Duration::from_millis(50), JobTimeout::Done(round)),
                |entered, caller| entered.reply_to(caller, format!("round {round}")),
            ),
        }
    }

    /// What was noted until now; then it is forgotten.
    #[call]
    fn log(&mut self, _state: &Phase) -> Vec<String> {
        std::mem::take(&mut self.log)
    }

    #[cast]
    fn go(&mut self, state: Phase, round: u32) -> Step<Self> {
        match state {
            Phase::Idle => Step::to(Phase::Busy(round)),
            Phase::Busy(_) => Step::keep().postpone(),
        }
    }

    /// A call that is put off where it cannot be answered.
    #[call]
    fn round(&mut self, state: &Phase) -> Step<Self, u32> {
        match state {
            Phase::Idle => Step::keep().postpone(),
            Phase::Busy(round) => Step::keep().reply(*round),
        }
    }

    /// Answered when the job is busy.
    #[call]
    fn when_busy(&mut self, _state: &Phase, caller: Caller<String>) {
        self.waiting.push(caller);
    }

    /// Answers all that wait, from another callback than theirs, and itself.
    #[call]
    fn answer_all(&mut self, _state: &Phase) -> Step<Self, usize> {
        let count = self.waiting.len();
        self.waiting
            .drain(..)
            .fold(Step::keep(), |step, caller| step.reply_to(caller, "at last".to_owned()))
            .reply(count)
    }

    #[timeout]
    fn done(&mut self, state: Phase, round: u32) -> Step<Self> {
        self.note(format!("done {round} in {state:?}"));
        Step::to(Phase::Idle)
    }

    #[timeout]
    fn tick(&mut self, _state: Phase, number: u32) {
        self.note(format!("tick {number}"));
    }

    #[timeout]
    fn quiet(&mut self, _state: Phase) {
        self.note("quiet");
    }

    #[event]
    fn noted(&mut self, _state: Phase, text: String) {
        self.note(format!("noted {text}"));
    }

    /// Two events of its own, which come before what is in the queue.
    #[cast]
    fn twice(&mut self, _state: Phase, text: String) -> Step<Self> {
        self.note("twice");
        Step::keep().next_event(JobEvent::Noted(format!("{text} 1"))).next_event(JobEvent::Noted(format!("{text} 2")))
    }

    /// Every kind of timer, and what can be done with it.
    #[cast]
    fn timers(&mut self, _state: Phase, how: String) -> Step<Self> {
        let ms = Duration::from_millis;
        let step = Step::keep();
        match how.as_str() {
            "event" => step.event_timeout(ms(30), JobTimeout::Quiet),
            "named" => step.timeout(ms(30), JobTimeout::Tick(1)).timeout(ms(40), JobTimeout::Tick(2)),
            "keys" => step
                .timeout_for(&"a".to_owned(), ms(40), JobTimeout::Tick(2))
                .timeout_for(&"b".to_owned(), ms(20), JobTimeout::Tick(1))
                .timeout_for(&"c".to_owned(), ms(20), JobTimeout::Tick(3))
                .cancel_timeout_for(&"c".to_owned(), JobTimeout::Tick(0)),
            "update key" => step.update_timeout_for(&"a".to_owned(), JobTimeout::Tick(22)),
            "update" => step.update_timeout(JobTimeout::Tick(7)),
            "cancel" => step.cancel_timeout(JobTimeout::Tick(0)),
            "at" => step.timeout(Instant::now() + ms(30), JobTimeout::Tick(5)),
            "state" => step.state_timeout(ms(30), JobTimeout::Tick(8)),
            "update state" => step.update_state_timeout(JobTimeout::Tick(9)),
            "cancel state" => step.cancel_state_timeout(),
            _ => step.hibernate(),
        }
    }

    /// Out of the state and in again.
    #[call]
    fn again(&mut self, _state: Phase) -> Step<Self, String> {
        Step::repeat().reply("again".into())
    }

    /// Waits in between, and goes on with the same state.
    #[call]
    async fn slow(&mut self, state: &Phase, milliseconds: u64) -> Step<Self, String> {
        time::sleep(Duration::from_millis(milliseconds)).await;
        self.note("slow");
        Step::to(Phase::Busy(5)).reply(format!("was {state:?}"))
    }

    /// The same of an event that nobody waits for; what is noted is an order of its own.
    #[cast]
    async fn slow_cast(&mut self, _state: Phase) -> Step<Self> {
        time::sleep(Duration::from_millis(10)).await;
        Step::keep().next_event(JobEvent::Noted("slowly".into()))
    }

    #[call(dirty_cpu)]
    fn hard(&mut self, _state: Phase, n: u64) -> Step<Self, u64> {
        Step::keep().reply((1..=n).sum())
    }

    #[info]
    fn told(&mut self, _state: Phase, text: String) {
        self.note(format!("told {text}"));
    }

    #[info]
    fn gone(&mut self, _state: Phase, exit: Exit) -> Step<Self> {
        self.note("gone");
        if exit.reason == Reason::Killed { Step::stop("a friend was killed") } else { Step::keep() }
    }

    /// The message comes to `told`.
    #[cast]
    fn remind(&mut self, _state: Phase, text: String) {
        let _timer = time::Timer::after(Duration::from_millis(10), &text);
    }

    #[call]
    fn finish(&mut self, _state: Phase, text: String) -> Step<Self, String> {
        let replies = self.waiting.drain(..);
        replies.fold(Step::stop(Reason::Normal), |step, caller| step.reply_to(caller, "over".into())).reply(text)
    }

    #[call]
    fn break_down(&mut self, _state: Phase) {
        self.note("before the panic");
        panic!("broken");
    }

    #[cast]
    async fn break_down_later(&mut self, _state: Phase) {
        time::sleep(Duration::from_millis(5)).await;
        panic!("broken later");
    }

    #[terminate]
    async fn ended(&mut self, state: &Phase, reason: Reason) {
        time::sleep(Duration::from_millis(5)).await;
        if let Some(observer) = otp::Pid::registered("observer") {
            observer.send(&(format!("ended {state:?}"), reason));
        }
    }

    /// From a build that noted but one thing, and called being idle something else.
    #[upgrade]
    fn upgrade(state: String, old: (String, u32)) -> (Phase, Self) {
        (Phase::Busy(old.1), Self { log: vec![format!("was {state}: {}", old.0)], waiting: Vec::new() })
    }
}
