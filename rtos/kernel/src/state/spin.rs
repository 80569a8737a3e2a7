//! The block of a spin lock.

use core::sync::atomic::{AtomicBool, Ordering::Relaxed};

use crate::base::model::{Initial, Model, Only};
use crate::base::port::{Lock, Port};
use crate::state::config::{Config, IfMulti};

/// All that the kernel keeps of a spin lock.
pub struct SpinLockBlock<K: Config> {
    pub(crate) lock: IfMulti<K, Between<K>>,
    /// Whether a processor holds it. Written only by that processor, while it does.
    pub(crate) taken: AtomicBool,
}

/// The lock between processors.
pub struct Between<K: Config>(pub(crate) <K::Port as Port>::Lock);

impl<K: Config> Initial for Between<K> {
    const INITIAL: Self = Between(<K::Port as Port>::Lock::FREE);
}

impl<K: Config> SpinLockBlock<K> {
    pub(crate) const fn new() -> Self {
        SpinLockBlock { lock: <IfMulti<K, Between<K>> as Only<Between<K>>>::INITIAL, taken: AtomicBool::new(false) }
    }

    pub(crate) fn give_back(&self) {
        self.taken.store(false, Relaxed);
        if let Some(lock) = self.lock.get().filter(|_| K::Model::LOCKS) {
            lock.0.release();
        }
    }
}
