//! The machine: two simulated processors, with their masks, the thread that has the turn on each, and the threads that
//! can go on.
//!
//! A thread of shuttle stands for a stack. For each thread, by its number, the machine keeps what the thread waits for,
//! and the scheduler gives the turn only to threads whose wait is over. So nothing spins, and shuttle's own ways to
//! block are not used.
//!
//! The machine is local to a thread of the operating system: a test runs its threads one at a time, on its own.

use std::cell::{Cell, RefCell};

use shuttle::thread::JoinHandle;

use crate::lock::Flag;
use crate::processor::{OPEN, PROCESSORS, Processor};
use crate::step::{Able, Step, Touches, Wait};

/// Alarms that are further away than this many microseconds are not waited for: the kernel only looks at its clock then.
const HORIZON: u32 = 1_000_000;

/// The time at first, so that it wraps soon.
const BEGINNING: u32 = u32::MAX - 50;

/// The phase of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Phase {
    /// Both processors go to where they meet, in one order.
    Before,
    /// Steps are tried in every order.
    Open,
    /// Nothing goes on any more: the final state is checked.
    After,
    /// All threads end, because an order like this one was tried already.
    Again,
    /// All threads end.
    Over,
}

/// The thread that goes on at the next switch between threads.
#[derive(Clone, Copy)]
pub(crate) enum Next {
    /// The thread that ran, if it can go on.
    Stay,
    /// The thread that the scheduler chooses.
    Any,
    /// The thread of this number.
    Thread(usize),
}

pub(crate) struct Machine {
    pub(crate) processors: [Processor; PROCESSORS],
    /// What each thread waits for, by its number.
    pub(crate) waits: Vec<Wait>,
    /// What each thread is about to do, if it waits for nothing.
    pub(crate) steps: Vec<Step>,
    pub(crate) handles: Vec<JoinHandle<()>>,
    pub(crate) now: u32,
    pub(crate) phase: Phase,
    pub(crate) next: Next,
    /// Whether interrupts between processors take time.
    pub(crate) wires: bool,
    /// Whether processors look, without the giant lock, at what it guards.
    pub(crate) looks: bool,
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

    /// The name of a thread, and its next step.
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
    pub(crate) fn next_alarm(&self) -> Option<(usize, u32)> {
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

/// Resets the machine to the state before a run.
pub(crate) fn renew(wires: bool, looks: bool) {
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
}

/// Goes on to that part of the run.
pub(crate) fn enter(phase: Phase) {
    with(|machine| machine.phase = phase);
}

/// Gives the run up, because an order like this one was tried already.
pub(crate) fn give_up() {
    with(|machine| machine.phase = Phase::Again);
}

/// Whether the run was given up.
pub(crate) fn was_given_up() -> bool {
    with(|machine| machine.phase == Phase::Again)
}

/// Makes the thread that calls stand for that processor.
pub(crate) fn stand_for(processor: usize) {
    HERE.set(processor);
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
