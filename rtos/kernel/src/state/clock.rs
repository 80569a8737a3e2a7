//! The clock: event time and system time.
//!
//! Deadlines are moments of the *event time*, which is the port's microseconds plus what adj_tim has added so far. The
//! *system time* is what get_tim shows: it never goes back when adj_tim does, but waits until event time has passed it again.

use core::marker::PhantomData;
use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

use crate::base::cell::{Cell, Held};
use crate::base::port::Port;

/// The clock. Its cells belong to the shared domain.
pub(crate) struct Clock<P> {
    /// What adj_tim has added so far, modulo 2³². Every processor reads it without a lock.
    pub(crate) adjusted: AtomicU32,
    /// The latest event time that was looked at. Written under the lock.
    pub(crate) latest: AtomicU32,
    /// The system time then.
    pub(crate) system: Cell<u64>,
    port: PhantomData<fn() -> P>,
}

/// The clock is looked at at least this often, so that it notices when the port's microseconds wrap.
pub(crate) const LOOK: u32 = 1 << 30;

impl<P: Port> Clock<P> {
    pub(crate) const fn new() -> Self {
        Clock { adjusted: AtomicU32::new(0), latest: AtomicU32::new(0), system: Cell::new(0), port: PhantomData }
    }

    /// The event time.
    #[inline(always)]
    pub(crate) fn now(&self) -> u32 {
        P::now().wrapping_add(self.adjusted.load(Relaxed))
    }

    pub(crate) fn start(&self) {
        self.latest.store(self.now(), Relaxed);
    }

    /// Brings the system time up to date. Gives it and the event time.
    pub(crate) fn look(&self, held: Held<'_>) -> (u64, u32) {
        let now = self.now();
        let passed = now.wrapping_sub(self.latest.load(Relaxed));
        // More than half the range means that adj_tim has set it back, and it has not caught up yet.
        if passed < 1 << 31 {
            self.latest.store(now, Relaxed);
            self.system.set(self.system.get(held) + u64::from(passed), held);
        }
        (self.system.get(held), now)
    }
}
