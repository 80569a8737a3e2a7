//! Two processors without a machine: their masks, whose turn it is on each, and who can go on.
//!
//! A thread of shuttle stands for a stack. What it waits for is kept here, by the thread's number, and the scheduler gives
//! the turn only to threads for which that has come. So nothing spins, and shuttle's own ways to block are not used.
//!
//! All of this is the operating system's thread's own: a test runs its threads one at a time, on its own.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::time::Duration;

use rtos::port::Saved;
use shuttle::thread::JoinHandle;

use crate::journal;
use crate::port::Flag;
use crate::step::{Able, Step, Touches, Wait};

/// How many processors there are.
pub const PROCESSORS: usize = 2;

/// The mask of a processor that takes every interrupt.
pub(crate) const OPEN: u8 = 0;
/// The mask of a processor whose handler runs, or that holds interrupts back.
pub(crate) const BUSY: u8 = 1;
/// The mask of a processor that is locked.
pub(crate) const LOCKED: u8 = 2;

pub(crate) const TIMER: u8 = 1;
pub(crate) const MAILBOX: u8 = 2;

/// Alarms that are further away than this many microseconds are not waited for: the kernel only looks at its clock then.
const HORIZON: u32 = 1_000_000;

/// The time at first, so that it wraps soon.
const BEGINNING: u32 = u32::MAX - 50;

/// How far a run is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Phase {
    /// Both processors get to where they meet, in one order.
    Before,
    /// In every order.
    Open,
    /// Nothing goes on any more: what is left is looked at.
    After,
    /// All threads end, because an order like this one was tried already.
    Again,
    /// All threads end.
    Over,
}

/// Who goes on at the next switch between threads.
#[derive(Clone, Copy)]
pub(crate) enum Next {
    /// The one that did, if it can.
    Stay,
    /// Whoever the scheduler chooses.
    Any,
    /// This one.
    Thread(usize),
}

/// A processor.
pub(crate) struct Processor {
    pub(crate) mask: u8,
    /// How many handlers run on it, each interrupted by the next.
    pub(crate) depth: u32,
    /// The interrupts that have come.
    pub(crate) pending: u8,
    /// Those that are on their way.
    pub(crate) sent: u8,
    /// When its timer rings.
    pub(crate) alarm: Option<u32>,
    /// The thread whose turn it is.
    pub(crate) thread: usize,
    /// The stack on which it is, unless it has left that and is on the idle task's.
    pub(crate) stack: Option<*const Saved>,
    /// Whether it has a lock that processors share.
    pub(crate) shares_lock: bool,
    /// The lock that it did not get.
    wants: Option<*const Flag>,
}

impl Processor {
    const NEW: Self = Processor {
        mask: LOCKED,
        depth: 0,
        pending: 0,
        sent: 0,
        alarm: None,
        thread: usize::MAX,
        stack: None,
        shares_lock: false,
        wants: None,
    };
}

pub(crate) struct Machine {
    pub(crate) processors: [Processor; PROCESSORS],
    /// What each thread waits for, by its number.
    waits: Vec<Wait>,
    /// What each thread is about to do, if it waits for nothing.
    steps: Vec<Step>,
    handles: Vec<JoinHandle<()>>,
    pub(crate) now: u32,
    pub(crate) phase: Phase,
    pub(crate) next: Next,
    /// Whether interrupts between processors take time.
    pub(crate) wires: bool,
    /// Whether processors look, without the giant lock, at what it guards.
    looks: bool,
}

thread_local! {
    static MACHINE: RefCell<Machine> = const { RefCell::new(Machine {
        processors: [const { Processor::NEW }; PROCESSORS],
        waits: Vec::new(),
        steps: Vec::new(),
        handles: Vec::new(),
        now: BEGINNING,
        phase: Phase::Before,
        next: Next::Stay,
        wires: false,
        looks: false,
    }) };
    /// The processor that the thread which runs stands for.
    static HERE: Cell<usize> = const { Cell::new(0) };
}

pub(crate) fn with<T>(what: impl FnOnce(&mut Machine) -> T) -> T {
    MACHINE.with_borrow_mut(what)
}

/// Something of this processor.
pub(crate) fn of_mine<T>(what: impl FnOnce(&mut Processor) -> T) -> T {
    with(|machine| what(&mut machine.processors[HERE.get()]))
}

/// The end of a thread, thrown.
pub(crate) struct Over;

impl Machine {
    fn can_go_on(&self, thread: usize) -> bool {
        let turn = self.processors.iter().find(|processor| processor.thread == thread);
        let interrupt = |processor: &Processor| processor.mask == OPEN && processor.pending != 0;
        match (self.waits[thread], turn) {
            (Wait::Gone, _) => false,
            (Wait::Nothing, _) => true,
            (Wait::Quiet, _) => false,
            (Wait::Deadline, _) => self.phase == Phase::Open && self.next_alarm().is_some(),
            (Wait::Wire(processor), _) => self.processors[processor].sent != 0,
            (_, None) => false,
            (Wait::Turn, Some(_)) => true,
            (Wait::Interrupt, Some(processor)) => interrupt(processor),
            (Wait::Meeting, Some(processor)) => self.phase == Phase::Open || interrupt(processor),
            (Wait::Lock, Some(processor)) => {
                // SAFETY: the lock is one of the kernel's, which lives as long as the run.
                interrupt(processor) || processor.wants.is_none_or(|flag| unsafe { (*flag).is_free() })
            }
        }
    }

    /// What a processor touches that takes interrupts and goes on unlocked. Handlers look, without the giant lock, at whether
    /// there are deadlines that it guards.
    fn goes_on(&self, number: usize) -> Touches {
        let (interrupts, processor) = (Touches::interrupts(number), &self.processors[number]);
        let looks = self.looks || processor.depth > 0 || processor.pending != 0;
        if looks { interrupts.and(Touches::SHARED) } else { interrupts }
    }

    /// What a thread is, and does when it goes on.
    fn able(&self, thread: usize) -> Able {
        let turn = self.processors.iter().position(|processor| processor.thread == thread);
        let (actor, touches) = match (self.waits[thread], turn) {
            (Wait::Wire(processor), _) => (PROCESSORS + 1 + processor, Touches::interrupts(processor)),
            (Wait::Nothing, Some(number)) => (number, self.steps[thread].touches(self.goes_on(number))),
            (Wait::Lock, Some(number)) => (number, Touches::LOCKS.and(self.goes_on(number))),
            (_, Some(number)) => (number, self.goes_on(number)),
            (_, None) => {
                let rings = self.next_alarm().map_or(Touches::NOTHING, |(number, _)| Touches::interrupts(number));
                (PROCESSORS, Touches::SHARED.and(rings))
            }
        };
        Able { thread, actor, touches }
    }

    /// Whether the thread waits until the other processor has begun too.
    fn lets_others_begin(&self, thread: usize) -> bool {
        self.phase == Phase::Before && self.waits[thread] == Wait::Lock
    }

    /// The processor whose timer rings first, and when.
    fn next_alarm(&self) -> Option<(usize, u32)> {
        let alarms =
            self.processors.iter().enumerate().filter_map(|(number, processor)| Some((number, processor.alarm?)));
        let near = alarms.filter(|&(_, at)| at.wrapping_sub(self.now) < HORIZON);
        near.min_by_key(|&(_, at)| at.wrapping_sub(self.now))
    }
}

/// Who goes on: a certain thread, or one of these, of which the first is the one that did, if it can go on.
pub(crate) enum Decision {
    Only(usize),
    Choose(Vec<Able>),
}

/// Decides who goes on, of the threads that have not ended, as far as that is not to be chosen.
pub(crate) fn decide(threads: &[usize], current: Option<usize>) -> Decision {
    with(|machine| {
        if matches!(machine.phase, Phase::Over | Phase::Again) || machine.waits.is_empty() {
            return Decision::Only(threads[0]);
        }
        let next = std::mem::replace(&mut machine.next, Next::Stay);
        let known = |thread: &usize| *thread < machine.waits.len();
        let mut able: Vec<usize> =
            threads.iter().copied().filter(known).filter(|&thread| machine.can_go_on(thread)).collect();
        let going = current.filter(|current| able.contains(current));
        match (next, going) {
            (Next::Thread(thread), _) => return Decision::Only(thread),
            (Next::Stay, Some(current)) if !machine.lets_others_begin(current) => return Decision::Only(current),
            _ if able.is_empty() => {
                let main = machine.waits.iter().position(|&wait| wait == Wait::Quiet);
                return Decision::Only(main.expect("somebody waits for the end"));
            }
            _ if machine.phase != Phase::Open => {
                let other = able.iter().find(|&&thread| going != Some(thread));
                return Decision::Only(*other.unwrap_or(&able[0]));
            }
            _ => {}
        }
        if let Some(current) = going {
            able.retain(|&thread| thread != current);
            able.insert(0, current);
        }
        Decision::Choose(able.into_iter().map(|thread| machine.able(thread)).collect())
    })
}

/// Gives the run up, because an order like this one was tried already.
pub(crate) fn give_up() {
    with(|machine| machine.phase = Phase::Again);
}

/// Whether the run was given up.
pub(crate) fn was_given_up() -> bool {
    with(|machine| machine.phase == Phase::Again)
}

/// Lets another thread go on, if the scheduler wants that. This one goes on when what it waits for has come.
fn switch_threads() {
    let (me, here) = (usize::from(shuttle::current::me()), HERE.get());
    shuttle::thread::sleep(Duration::ZERO);
    if with(|machine| matches!(machine.phase, Phase::Over | Phase::Again)) && me != 0 {
        resume_unwind(Box::new(Over));
    }
    let turn = with(|machine| {
        machine.waits[me] = Wait::Nothing;
        machine.processors.iter().position(|processor| processor.thread == me)
    });
    HERE.set(turn.unwrap_or(here));
}

/// Another processor may come in between, or time may pass.
pub(crate) fn point(step: Step) {
    let me = usize::from(shuttle::current::me());
    let open = with(|machine| {
        let open = machine.phase == Phase::Open;
        if open {
            (machine.next, machine.steps[me]) = (Next::Any, step);
        }
        open
    });
    if open {
        switch_threads();
        journal::note(step.text());
    }
}

/// Lets the thread wait.
pub(crate) fn wait(what: Wait) {
    let me = usize::from(shuttle::current::me());
    with(|machine| machine.waits[me] = what);
    switch_threads();
}

/// Makes a thread, which waits for its turn. Gives its number.
pub(crate) fn spawn(work: impl FnOnce() + Send + 'static) -> usize {
    let number = with(|machine| {
        machine.waits.push(Wait::Turn);
        machine.steps.push(Step::Switch(0));
        machine.waits.len() - 1
    });
    let handle = shuttle::thread::spawn(move || {
        let me = usize::from(shuttle::current::me());
        let over = with(|machine| {
            let turn = machine.processors.iter().position(|processor| processor.thread == me);
            HERE.set(turn.unwrap_or(0));
            machine.waits[me] = Wait::Nothing;
            matches!(machine.phase, Phase::Over | Phase::Again)
        });
        if !over && let Err(why) = catch_unwind(AssertUnwindSafe(work)) {
            end_of_thread(why);
        }
        with(|machine| machine.waits[me] = Wait::Gone);
    });
    with(|machine| machine.handles.push(handle));
    number
}

/// Passes on why a thread ended, unless it was to.
fn end_of_thread(why: Box<dyn Any + Send>) {
    if !why.is::<Over>() {
        eprintln!("what was done:\n{}", journal::steps());
        resume_unwind(why);
    }
}

/// Begins a run: this thread is the one that watches.
pub(crate) fn begin(wires: bool, looks: bool) {
    with(|machine| {
        machine.processors = [const { Processor::NEW }; PROCESSORS];
        machine.waits.clear();
        machine.waits.push(Wait::Nothing);
        machine.steps.clear();
        machine.steps.push(Step::Switch(0));
        machine.handles.clear();
        (machine.now, machine.phase, machine.next) = (BEGINNING, Phase::Before, Next::Stay);
        machine.wires = wires;
        machine.looks = looks;
    });
    journal::clear();
    HERE.set(0);
    let clock = spawn(|| {
        loop {
            wait(Wait::Deadline);
            with(|machine| {
                if let Some((number, at)) = machine.next_alarm() {
                    machine.now = at;
                    let processor = &mut machine.processors[number];
                    (processor.alarm, processor.pending) = (None, processor.pending | TIMER);
                    journal::write(number, "its timer rings");
                }
            });
        }
    });
    with(|machine| machine.waits[clock] = Wait::Deadline);
    for number in (0..PROCESSORS).filter(|_| wires) {
        let wire = spawn(move || {
            loop {
                wait(Wait::Wire(number));
                with(|machine| {
                    let processor = &mut machine.processors[number];
                    processor.pending |= std::mem::take(&mut processor.sent);
                    journal::write(number, "the interrupt arrives");
                });
            }
        });
        with(|machine| machine.waits[wire] = Wait::Wire(number));
    }
}

/// Goes on to that part of the run.
pub(crate) fn enter(phase: Phase) {
    with(|machine| machine.phase = phase);
}

/// Lets all threads end.
pub(crate) fn end() {
    if !was_given_up() {
        enter(Phase::Over);
    }
    for handle in with(|machine| std::mem::take(&mut machine.handles)) {
        handle.join().expect("the thread was to end");
    }
}

/// Makes the thread that calls stand for that processor, to look at what is left.
pub(crate) fn stand_for(processor: usize) {
    HERE.set(processor);
}

/// Starts a processor, which calls `begin`, locked.
pub(crate) fn start(processor: usize, begin: impl FnOnce() + Send + 'static) {
    let thread = spawn(begin);
    with(|machine| machine.processors[processor].thread = thread);
}

pub(crate) fn here() -> usize {
    HERE.get()
}

pub(crate) fn now() -> u32 {
    with(|machine| machine.now)
}

pub(crate) fn in_task() -> bool {
    of_mine(|processor| processor.depth == 0)
}

pub(crate) fn is_open() -> bool {
    with(|machine| machine.phase == Phase::Open)
}

/// Sets the mask and gives what it was.
pub(crate) fn replace_mask(mask: u8) -> u8 {
    of_mine(|processor| std::mem::replace(&mut processor.mask, mask))
}

pub(crate) fn want(flag: Option<*const Flag>) {
    of_mine(|processor| processor.wants = flag);
}
