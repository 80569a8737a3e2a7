//! Programs: what tasks do, in which orders that is tried, and what is looked at after every run.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::rc::Rc;

use rtos::{Anywhere, InHandler, InTask, Pinned, Placed, Shared, System, Task, TaskState, entry};
use shuttle::scheduler::{DfsScheduler, PctScheduler, RandomScheduler, Scheduler};
use shuttle::{Config, MaxSteps, Runner};

use crate::journal;
use crate::machine::{self, BUSY, LOCKED, PROCESSORS, Phase, Processor};
use crate::port;
use crate::schedule::{Choices, Every};
use crate::step::Wait;
use crate::world::{App, EVERYBODY, Who, pinned_number, renew};

/// The environment variable that asks for every order, however long that takes.
pub const EVERY_ORDER: &str = "KIZAMI_EVERY_ORDER";

const SEED: u64 = 0x6b69_7a61_6d69;

/// What a task's code is given.
pub type Cx = InTask<Shared>;

type Body = Rc<dyn Fn()>;
type AlarmBody = Rc<dyn Fn(InHandler<Shared>)>;

/// What tasks do, and the alarm. A task without a body ends at once when it is activated.
#[derive(Clone, Default)]
pub struct Program {
    /// Of tasks, by their numbers, and whether they are active when the kernel starts.
    bodies: Vec<(usize, bool, Body)>,
    alarm: Option<AlarmBody>,
    after: Option<Rc<dyn Fn()>>,
    wires: bool,
    looks: bool,
    steps: bool,
}

thread_local! {
    static PROGRAM: RefCell<Program> = RefCell::default();
    /// What was told in this run.
    static TOLD: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
    static OUTCOMES: RefCell<BTreeMap<String, usize>> = const { RefCell::new(BTreeMap::new()) };
}

/// What came of all runs.
#[derive(Debug)]
pub struct Found {
    /// How many runs there were.
    pub runs: usize,
    /// The different outcomes, and how often there was each.
    pub outcomes: BTreeMap<String, usize>,
}

impl Found {
    /// Says that these are the outcomes there are, no more and no fewer.
    pub fn are(self, outcomes: &[&str]) -> Self {
        let found: Vec<&str> = self.outcomes.keys().map(String::as_str).collect();
        let mut expected = outcomes.to_vec();
        expected.sort_unstable();
        assert_eq!(found, expected, "the outcomes of {} runs", self.runs);
        self
    }

    /// Says that there were at least so many runs: that something was tried at all.
    pub fn at_least(self, runs: usize) -> Self {
        assert!(self.runs >= runs, "there were only {} runs", self.runs);
        self
    }
}

/// Where the tasks of the two processors meet. What comes before happens in one order, until nothing more happens; what
/// comes after, in every one. To be called once by a task of each processor, in a run.
pub fn meet() {
    while !machine::is_open() {
        machine::wait(Wait::Meeting);
        port::take_interrupts();
    }
}

/// What a task does that has nothing more to do and does not end: it takes interrupts.
pub fn stay() -> ! {
    loop {
        machine::wait(Wait::Interrupt);
        port::take_interrupts();
    }
}

/// Adds to the outcome of the run. In which order things are told does not matter.
pub fn tell(what: &str, answer: impl Debug) {
    TOLD.with_borrow_mut(|told| told.push(format!("{what}: {answer:?}")));
}

impl Program {
    /// Nobody does anything.
    pub fn new() -> Self {
        Self::default()
    }

    /// A task that is active when the kernel starts.
    pub fn active(self, who: Who, body: impl Fn(Cx) + 'static) -> Self {
        self.with(who, true, body)
    }

    /// A task that is dormant then.
    pub fn dormant(self, who: Who, body: impl Fn(Cx) + 'static) -> Self {
        self.with(who, false, body)
    }

    fn with(mut self, who: Who, active: bool, body: impl Fn(Cx) + 'static) -> Self {
        // SAFETY: this is the code of a shared task.
        let body = move || body(unsafe { InTask::assume() });
        self.bodies.push((who.number(), active, Rc::new(body)));
        self
    }

    /// The task pinned to processor `P`, active when the kernel starts. Its processor looks at what it should run without
    /// the giant lock.
    pub fn active_pinned<const P: usize>(self, body: impl Fn(InTask<Pinned<P>>) + 'static) -> Self {
        self.with_pinned(true, body)
    }

    /// As above, dormant then.
    pub fn dormant_pinned<const P: usize>(self, body: impl Fn(InTask<Pinned<P>>) + 'static) -> Self {
        self.with_pinned(false, body)
    }

    fn with_pinned<const P: usize>(mut self, active: bool, body: impl Fn(InTask<Pinned<P>>) + 'static) -> Self {
        // SAFETY: this is the code of a task pinned to that processor.
        let body = move || body(unsafe { InTask::assume() });
        self.bodies.push((pinned_number(P), active, Rc::new(body)));
        self.with_unlocked_looks()
    }

    /// What the handler of the alarm does.
    pub fn alarm(mut self, body: impl Fn(InHandler<Shared>) + 'static) -> Self {
        self.alarm = Some(Rc::new(body));
        self
    }

    /// What is looked at, or told, after every run, when nothing goes on any more.
    pub fn after(mut self, look: impl Fn() + 'static) -> Self {
        self.after = Some(Rc::new(look));
        self
    }

    /// Interrupts between processors take time: they come at any moment after they were sent.
    pub fn with_slow_interrupts(mut self) -> Self {
        self.wires = true;
        self
    }

    /// Processors look, without the giant lock, at what it guards, as ena_dsp and chg_ipm do.
    pub fn with_unlocked_looks(mut self) -> Self {
        self.looks = true;
        self
    }

    /// What was done makes part of the outcome, as far as it is the same in all orders of which one is tried.
    pub fn telling_steps(mut self) -> Self {
        self.steps = true;
        self
    }

    /// Tries every order. Of those that differ only in steps that touch nothing in common, one.
    pub fn in_every_order(self) -> Found {
        self.explore(Every::new())
    }

    /// Tries every order, step for step.
    pub fn in_every_order_step_for_step(self) -> Found {
        self.explore(Choices::new(DfsScheduler::new(None, false), usize::MAX))
    }

    /// Tries every order in which at most so many times a processor stops that could go on; with [`EVERY_ORDER`] set,
    /// all the others too.
    pub fn with_preemptions(self, bound: usize) -> Found {
        if std::env::var_os(EVERY_ORDER).is_some() {
            return self.in_every_order();
        }
        self.explore(Choices::new(DfsScheduler::new(None, false), bound))
    }

    /// Tries so many orders, half of them at random and half by PCT with that depth.
    pub fn at_random(self, runs: usize, depth: usize) -> Found {
        let mut found = self.clone().explore(Choices::new(RandomScheduler::new_from_seed(SEED, runs / 2), usize::MAX));
        let more = self.explore(Choices::new(PctScheduler::new_from_seed(SEED, depth, runs / 2), usize::MAX));
        found.runs += more.runs;
        for (outcome, count) in more.outcomes {
            *found.outcomes.entry(outcome).or_default() += count;
        }
        found
    }

    fn explore(self, scheduler: impl Scheduler + 'static) -> Found {
        PROGRAM.set(self);
        OUTCOMES.take();
        let mut config = Config::new();
        config.max_steps = MaxSteps::FailAfter(100_000);
        config.stack_size = 64 * 1024;
        config.silence_warnings = true;
        let tried = Runner::new(scheduler, config).run(run);
        let outcomes = OUTCOMES.take();
        let found = Found { runs: outcomes.values().sum(), outcomes };
        println!("{} runs, and {tried} begun, with {} outcomes", found.runs, found.outcomes.len());
        found.outcomes.iter().take(20).for_each(|(outcome, count)| println!("  {count}: {outcome}"));
        found
    }
}

/// What the task of that number does.
pub(crate) fn body(number: usize) -> impl Fn() {
    let body = PROGRAM.with_borrow(|program| {
        program.bodies.iter().find(|(other, ..)| *other == number).map(|(.., body)| Rc::clone(body))
    });
    move || body.iter().for_each(|body| body())
}

/// What the alarm does.
pub(crate) fn alarm() -> impl Fn(InHandler<Shared>) {
    let body = PROGRAM.with_borrow(|program| program.alarm.clone());
    move |cx| body.iter().for_each(|body| body(cx))
}

/// One run.
fn run() {
    let program = PROGRAM.with_borrow(Program::clone);
    TOLD.take();
    machine::begin(program.wires, program.looks);
    renew(|number| program.bodies.iter().any(|&(other, active, _)| other == number && active));
    // SAFETY: this is processor 0, locked, and there is no other yet.
    machine::start(0, || unsafe { entry::start::<App>() });
    machine::wait(Wait::Quiet);
    machine::enter(Phase::Open);
    machine::wait(Wait::Quiet);
    if machine::was_given_up() {
        return machine::end();
    }
    machine::enter(Phase::After);
    if let Err(why) = catch_unwind(AssertUnwindSafe(|| look(&program))) {
        eprintln!("what was done:\n{}", journal::steps());
        resume_unwind(why);
    }
    machine::end();
    let mut told = TOLD.take();
    if program.steps {
        told.push(journal::signature());
    }
    told.sort_unstable();
    OUTCOMES.with_borrow_mut(|outcomes| *outcomes.entry(told.join("; ")).or_default() += 1);
}

/// Looks at what is left when nothing goes on any more.
fn look(program: &Program) {
    for number in 0..PROCESSORS {
        if let Some(what) = unquiet(number) {
            panic!("processor {number}: {what}, when nothing goes on any more");
        }
    }
    for number in 0..PROCESSORS {
        machine::stand_for(number);
        match rtos::audit::<App>() {
            Ok(looked) => assert!(looked, "the oracle could not look"),
            Err(finding) => panic!("when nothing goes on any more: {finding:?}"),
        }
        assert_eq!(rtos::heard::<App>(), Ok(()), "processor {number}, when nothing goes on any more");
        let running = System::<App>::get_tid(Anywhere).expect("the processor is unlocked");
        assert_eq!(running, highest(number), "what processor {number} runs, and what it should");
    }
    machine::stand_for(0);
    if let Some(after) = &program.after {
        after();
    }
}

/// What does not fit in the state of a processor that has nothing to do.
fn unquiet(number: usize) -> Option<&'static str> {
    machine::with(|machine| {
        let processor = &machine.processors[number];
        match processor {
            Processor { mask: BUSY | LOCKED, .. } => Some("it is not unlocked"),
            Processor { depth: 1.., .. } => Some("a handler runs"),
            Processor { stack: None, .. } => Some("no task runs"),
            _ => None,
        }
    })
}

/// The number of the task that this processor should run: the first of the highest priority of which any can run.
fn highest(processor: usize) -> Option<usize> {
    let numbers = EVERYBODY.into_iter().map(Who::number).chain([pinned_number(processor)]);
    let able = numbers.filter_map(|number| {
        let task = Task::<App, Placed>::by_number(number as i32).expect("there is such a task");
        let told = task.refer(Anywhere).expect("the processor is unlocked");
        let can_run = matches!(told.state, TaskState::Ready | TaskState::Running) && told.processor == processor;
        told.priorities.filter(|_| can_run).map(|(priority, _)| priority)
    });
    System::<App>::get_nth(Some(able.min()?), 0, Anywhere).expect("there is such a priority")
}
