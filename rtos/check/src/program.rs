//! Programs: the bodies of tasks, the orders in which their steps are tried, and the checks after every run.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::rc::Rc;

use rtos::{Anywhere, InHandler, InTask, Pinned, Placed, Shared, System, Task, TaskState, entry};
use shuttle::scheduler::{DfsScheduler, PctScheduler, RandomScheduler, Scheduler};
use shuttle::{Config, MaxSteps, Runner};

use crate::bodies::{self, Bodies};
use crate::journal;
use crate::machine::{self, Phase};
use crate::outcome;
use crate::port::take_interrupts;
use crate::processor::{BUSY, LOCKED, PROCESSORS, Processor};
use crate::schedule::{Choices, Every};
use crate::step::Wait;
use crate::threads::{self, wait};
use crate::world::{App, EVERYBODY, Who, pinned_number, renew};

pub use crate::outcome::{Found, tell};

/// The environment variable that asks for every order, however long the search takes.
pub const EVERY_ORDER: &str = "KIZAMI_EVERY_ORDER";

const SEED: u64 = 0x6b69_7a61_6d69;

/// The context that a task's code is given.
pub type Cx = InTask<Shared>;

/// The bodies of tasks and of the alarm. A task without a body ends at once when it is activated.
#[derive(Clone, Default)]
pub struct Program {
    bodies: Bodies,
    after: Option<Rc<dyn Fn()>>,
    wires: bool,
    looks: bool,
    steps: bool,
}

thread_local! {
    static PROGRAM: RefCell<Program> = RefCell::default();
}

/// The point where the tasks of the two processors meet. Steps before it happen in one order, until nothing more
/// happens; steps after it happen in every order. To be called once by a task of each processor, in a run.
pub fn meet() {
    while !machine::is_open() {
        wait(Wait::Meeting);
        take_interrupts::<App>();
    }
}

/// The rest of a task that has nothing more to do and does not end: it takes interrupts.
pub fn stay() -> ! {
    loop {
        wait(Wait::Interrupt);
        take_interrupts::<App>();
    }
}

impl Program {
    /// A program in which no task does anything.
    pub fn new() -> Self {
        Self::default()
    }

    /// A task that is active when the kernel starts.
    pub fn active(self, who: Who, body: impl Fn(Cx) + 'static) -> Self {
        self.with(who, true, body)
    }

    /// A task that is dormant when the kernel starts.
    pub fn dormant(self, who: Who, body: impl Fn(Cx) + 'static) -> Self {
        self.with(who, false, body)
    }

    fn with(mut self, who: Who, active: bool, body: impl Fn(Cx) + 'static) -> Self {
        // SAFETY: this is the code of a shared task.
        let body = move || body(unsafe { InTask::assume() });
        self.bodies.add(who.number(), active, body);
        self
    }

    /// The task pinned to processor `P`, active when the kernel starts. Its processor looks at what it should run without
    /// the giant lock.
    pub fn active_pinned<const P: usize>(self, body: impl Fn(InTask<Pinned<P>>) + 'static) -> Self {
        self.with_pinned(true, body)
    }

    /// The task pinned to processor `P`, dormant when the kernel starts.
    pub fn dormant_pinned<const P: usize>(self, body: impl Fn(InTask<Pinned<P>>) + 'static) -> Self {
        self.with_pinned(false, body)
    }

    fn with_pinned<const P: usize>(mut self, active: bool, body: impl Fn(InTask<Pinned<P>>) + 'static) -> Self {
        // SAFETY: this is the code of a task pinned to that processor.
        let body = move || body(unsafe { InTask::assume() });
        self.bodies.add(pinned_number(P), active, body);
        self.with_unlocked_looks()
    }

    /// The body of the alarm's handler.
    pub fn alarm(mut self, body: impl Fn(InHandler<Shared>) + 'static) -> Self {
        self.bodies.set_alarm(body);
        self
    }

    /// The checks and reports after every run, when nothing goes on any more.
    pub fn after(mut self, look: impl Fn() + 'static) -> Self {
        self.after = Some(Rc::new(look));
        self
    }

    /// Interrupts between processors take time: they come at any moment after they were sent.
    pub fn with_slow_interrupts(mut self) -> Self {
        self.wires = true;
        self
    }

    /// Processors look without the giant lock at data that it guards, as ena_dsp and chg_ipm do.
    pub fn with_unlocked_looks(mut self) -> Self {
        self.looks = true;
        self
    }

    /// The steps of a run are part of its outcome, as far as they are the same in all orders of which one is tried.
    pub fn telling_steps(mut self) -> Self {
        self.steps = true;
        self
    }

    /// Tries every order; of orders that differ only in steps that touch nothing in common, one.
    pub fn in_every_order(self) -> Found {
        self.explore(Every::new())
    }

    /// Tries every order, step for step.
    pub fn in_every_order_step_for_step(self) -> Found {
        self.explore(Choices::new(DfsScheduler::new(None, false), usize::MAX))
    }

    /// Tries every order in which a processor that could go on stops at most so many times; with [`EVERY_ORDER`] set,
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
        bodies::set(self.bodies.clone());
        PROGRAM.set(self);
        outcome::clear();
        let mut config = Config::new();
        config.max_steps = MaxSteps::FailAfter(100_000);
        config.stack_size = 64 * 1024;
        config.silence_warnings = true;
        let tried = Runner::new(scheduler, config).run(run);
        let found = outcome::found();
        println!("{} runs, and {tried} begun, with {} outcomes", found.runs, found.outcomes.len());
        found.outcomes.iter().take(20).for_each(|(outcome, count)| println!("  {count}: {outcome}"));
        found
    }
}

/// One run.
fn run() {
    let program = PROGRAM.with_borrow(Program::clone);
    outcome::begin();
    threads::begin(program.wires, program.looks);
    renew(|number| program.bodies.is_active(number));
    // SAFETY: this is processor 0, locked, and there is no other yet.
    threads::start(0, || unsafe { entry::start::<App>() });
    wait(Wait::Quiet);
    machine::enter(Phase::Open);
    wait(Wait::Quiet);
    if machine::was_given_up() {
        return threads::end();
    }
    machine::enter(Phase::After);
    if let Err(why) = catch_unwind(AssertUnwindSafe(|| look(&program))) {
        eprintln!("what was done:\n{}", journal::steps());
        resume_unwind(why);
    }
    threads::end();
    outcome::end(program.steps.then(journal::signature));
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
