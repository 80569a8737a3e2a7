//! A lock between processors, as it stands in memory. `port.rs` tries for it and gives it back.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// A lock between processors: who holds it, counted from 1, or 0.
pub struct Flag(AtomicUsize);

impl Flag {
    /// Nobody holds it.
    pub(crate) const fn new() -> Self {
        Flag(AtomicUsize::new(0))
    }

    pub(crate) fn is_free(&self) -> bool {
        self.holder() == 0
    }

    /// The number of the processor that holds it, counted from 1, or 0.
    pub(crate) fn holder(&self) -> usize {
        self.0.load(Relaxed)
    }

    pub(crate) fn set_holder(&self, holder: usize) {
        self.0.store(holder, Relaxed);
    }
}
