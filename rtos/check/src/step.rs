//! Steps: what a thread waits for, and what its next step touches.
//!
//! A thread goes on in steps, from one place where the other processor could come in between to the next. The order of
//! two steps matters only if both touch something in common. The search relies on that, so this file errs on the side
//! of too much in common.

use crate::lock::Flag;
use crate::processor::PROCESSORS;

/// What a thread waits for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wait {
    /// It can go on.
    Nothing,
    /// That a processor has switched to it.
    Turn,
    /// An interrupt of its processor.
    Interrupt,
    /// That the lock which its processor wants is free, or an interrupt.
    Lock,
    /// That the tasks of both processors have come to where they meet, or an interrupt.
    Meeting,
    /// That a deadline is near.
    Deadline,
    /// An interrupt that is on its way to that processor.
    Wire(usize),
    /// That nobody else can go on.
    Quiet,
    /// Nothing that will come: it has ended.
    Gone,
}

/// The next step of a processor: one that the other processor can see, or by which it sees a step of the other.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    Try(*const Flag),
    GiveBack,
    Interrupt(usize),
    Unlock,
    /// To what should run, after handlers.
    GiveWay,
    /// Without a lock that processors share: to look at the clock, or to set its timer.
    Clock,
    /// To the stack of the task of that number, or to an idle one if it is 0.
    Switch(usize),
}

impl Step {
    pub(crate) fn text(self) -> &'static str {
        match self {
            Step::Try(_) => "tries for a lock",
            Step::GiveBack => "gives a lock back",
            Step::Interrupt(_) => "interrupts the other",
            Step::Unlock => "unlocks",
            Step::GiveWay => "looks what should run",
            Step::Clock => "looks at the clock",
            Step::Switch(_) => "switches",
        }
    }

    /// The things that this step touches. `goes_on` are the things that its processor touches when it takes interrupts
    /// and goes on unlocked.
    pub(crate) fn touches(self, goes_on: Touches) -> Touches {
        match self {
            // Up to the next step it is in the section that the lock guards, if it has the lock.
            // SAFETY: the lock is one of the kernel's, which lives as long as the run.
            Step::Try(flag) if unsafe { (*flag).is_free() } => Touches::LOCKS.and(Touches::SHARED),
            Step::Try(_) => Touches::LOCKS,
            // What follows is without the lock.
            Step::GiveBack => Touches::LOCKS.and(goes_on),
            Step::Interrupt(to) => Touches::SHARED.and(Touches::interrupts(to)),
            // Afterwards, whether it switched or not, the interrupts that have come are taken.
            Step::GiveWay => Touches::SHARED.and(goes_on),
            // Besides the clock it looks whether there are deadlines that the giant lock guards.
            Step::Clock => Touches::SHARED.and(goes_on),
            Step::Switch(task) => Touches::stack(task).and(goes_on),
            Step::Unlock => goes_on,
        }
    }
}

/// The things that a step touches, up to the next step of the processor: a bit for each. Two steps that touch nothing
/// in common have the same effect in either order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Touches(u32);

impl Touches {
    pub(crate) const NOTHING: Self = Touches(0);
    /// Whether locks are taken.
    pub(crate) const LOCKS: Self = Touches(1);
    /// All that the giant lock guards, the time and the alarms.
    pub(crate) const SHARED: Self = Touches(2);

    /// The interrupts of a processor.
    pub(crate) fn interrupts(processor: usize) -> Self {
        Touches(4 << processor)
    }

    /// The stack of the task of that number, from 1. Those of the idle tasks are their processors' own.
    fn stack(task: usize) -> Self {
        if task == 0 { Self::NOTHING } else { Touches((4 << PROCESSORS) << (task - 1)) }
    }

    pub(crate) fn and(self, other: Self) -> Self {
        Touches(self.0 | other.0)
    }

    pub(crate) fn nothing_of(self, other: Self) -> bool {
        self.0 & other.0 == 0
    }
}

/// A choice of what goes on: a processor, by its number, and after those the time and the interrupts on their way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Able {
    pub(crate) thread: usize,
    pub(crate) actor: usize,
    pub(crate) touches: Touches,
}
