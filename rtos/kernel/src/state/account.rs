//! Accounts: the processor time that is left to a task.

use core::sync::atomic::{AtomicU8, Ordering::Relaxed};

use crate::base::cell::{Cell, Held};
use crate::base::model::Initial;
use crate::base::port::Port;

/// Nothing is counted.
pub(crate) const STOPPED: u8 = 0;
/// Time is counted when the task runs.
pub(crate) const STARTED: u8 = 1;
/// Time is counted now.
pub(crate) const COUNTING: u8 = 2;

/// The processor time of a task.
pub struct Account {
    pub(crate) state: AtomicU8,
    pub(crate) left: Cell<u32>,
    pub(crate) since: Cell<u32>,
}

impl Initial for Account {
    const INITIAL: Self = Account { state: AtomicU8::new(STOPPED), left: Cell::new(0), since: Cell::new(0) };
}

impl Account {
    /// How much is left, now.
    pub(crate) fn left<P: Port>(&self, held: Held<'_>) -> u32 {
        let left = self.left.get(held);
        match self.state.load(Relaxed) {
            COUNTING => left.saturating_sub(P::now().wrapping_sub(self.since.get(held))),
            _ => left,
        }
    }

    /// Counts from now on. Gives how much is left.
    pub(crate) fn count<P: Port>(&self, held: Held<'_>) -> u32 {
        self.since.set(P::now(), held);
        self.state.store(COUNTING, Relaxed);
        self.left.get(held)
    }

    pub(crate) fn stop_counting<P: Port>(&self, held: Held<'_>) {
        self.left.set(self.left::<P>(held), held);
        self.state.store(STARTED, Relaxed);
    }
}
