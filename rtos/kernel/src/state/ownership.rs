//! Ownership of mutexes: who holds one, what holding it does to a priority, and who waits for it.
//!
//! The mutexes that a task holds form a stack, linked from the one that it locked last; they are unlocked in the
//! opposite order.

use crate::base::cell::{Cell, Held};
use crate::base::ready::PRIORITIES;
use crate::base::ring::Queued;
use crate::state::queue::Queue;

/// What holding a mutex does to a task's priority.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Protocol {
    /// Nothing.
    None,
    /// Raises it to that.
    Ceiling(u8),
    /// Raises it to that of the highest task that waits.
    Inheritance,
}

/// All that the kernel keeps of a mutex.
pub struct Ownership<T: Queued> {
    pub(crate) protocol: Protocol,
    pub(crate) owner: Cell<Option<&'static T>>,
    /// What the owner locked before.
    pub(crate) previous: Cell<Option<&'static Ownership<T>>>,
    /// Tasks wait only while there is an owner.
    pub(crate) waiting: Queue<T>,
}

impl<T: Queued> Ownership<T> {
    pub(crate) const fn new() -> Self {
        Ownership { protocol: Protocol::None, owner: Cell::new(None), previous: Cell::new(None), waiting: Queue::new() }
    }

    /// Tasks wait in the order of their priorities: TA_TPRI.
    pub const fn by_priority(mut self) -> Self {
        self.waiting.by_priority = true;
        self
    }

    /// Who holds it has at least that priority, from 1: TA_CEILING.
    pub const fn ceiling(mut self, priority: usize) -> Self {
        assert!(priority >= 1 && priority <= PRIORITIES, "a priority is from 1 to 16");
        self.protocol = Protocol::Ceiling(priority as u8 - 1);
        self.by_priority()
    }

    /// Who holds it has at least the priority of the tasks that wait for it: TA_INHERIT.
    pub const fn inheriting(mut self) -> Self {
        self.protocol = Protocol::Inheritance;
        self.by_priority()
    }

    /// The priority that holding it gives.
    pub(crate) fn gives(&self, held: Held<'_>) -> Option<u8> {
        match self.protocol {
            Protocol::None => None,
            Protocol::Ceiling(ceiling) => Some(ceiling),
            Protocol::Inheritance => self.waiting.tasks.first(held).map(|first| first.rank()),
        }
    }
}
