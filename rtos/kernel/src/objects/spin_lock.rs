//! Spin locks for the user: short sections that only one processor may be in.
//!
//! Who holds one has the processor locked, as with loc_cpu, and may hold only that one. On one processor nothing else is
//! needed.

use core::sync::atomic::{AtomicBool, Ordering::Relaxed};

use crate::cell::Held;
use crate::context::{Context, Domain};
use crate::error::Error;
use crate::kernel::Kernel;
use crate::model::{Initial, Model, Only};
use crate::object::handle;
use crate::port::{Lock, Port};
use crate::processor::Processor;
use crate::service::here;
use crate::task::Class;

handle! {
    /// A spin lock.
    SpinLock, SpinLockBlock, spin_locks
}

/// All that the kernel keeps of a spin lock.
pub struct SpinLockBlock<K: Kernel> {
    lock: <K::Model as Model>::Only<Between<K>>,
    /// Whether a processor holds it. Written only by that processor, while it does.
    taken: AtomicBool,
}

/// The lock between processors.
pub struct Between<K: Kernel>(<K::Port as Port>::Lock);

impl<K: Kernel> Initial for Between<K> {
    const INITIAL: Self = Between(<K::Port as Port>::Lock::FREE);
}

impl<K: Kernel, D: Domain> SpinLock<K, D> {
    /// Describes a spin lock.
    pub const fn create() -> SpinLockBlock<K> {
        const { Class::of::<K::Model, D>() };
        SpinLockBlock {
            lock: <<K::Model as Model>::Only<Between<K>> as Only<Between<K>>>::INITIAL,
            taken: AtomicBool::new(false),
        }
    }

    /// loc_spn: locks the processor and takes the lock, spinning until it is free. E_CTX if the processor is locked.
    pub fn loc<C: Context>(self, cx: C) -> Result<(), Error> {
        while !self.take(cx)? {
            K::Port::relax();
        }
        Ok(())
    }

    /// try_spn: as loc_spn, but E_OBJ if the lock is taken.
    pub fn try_loc<C: Context>(self, cx: C) -> Result<(), Error> {
        if self.take(cx)? { Ok(()) } else { Err(Error::OBJ) }
    }

    /// unl_spn: gives the lock back and unlocks the processor. E_ILUSE if this processor does not hold it.
    pub fn unl<C: Context>(self, _: C) -> Result<(), Error> {
        let mask = K::Port::lock();
        // SAFETY: the processor is locked, and what follows is its own.
        let held = unsafe { Held::assume() };
        let here = here::<K>(C::PLACE);
        if !here.spinning.get(held).is_some_and(|spinning| core::ptr::eq(spinning, self.block)) {
            if !K::Port::was_locked(mask) {
                // SAFETY: nothing follows.
                unsafe { K::Port::unlock(mask) };
            }
            return Err(Error::ILUSE);
        }
        let_go(here);
        // SAFETY: nothing follows.
        unsafe { here.unlock() };
        Ok(())
    }

    /// ref_spn: whether a processor holds the lock. E_CTX in a handler, and if the processor is locked.
    pub fn refer<C: Context>(self, cx: C) -> Result<bool, Error> {
        let service = self.enter_in_task(cx)?;
        service.leave(Ok(self.block.taken.load(Relaxed)))
    }

    /// Takes the lock, with the processor locked, if it is free.
    fn take<C: Context>(self, _: C) -> Result<bool, Error> {
        let mask = K::Port::lock();
        if K::Port::was_locked(mask) {
            return Err(Error::CTX);
        }
        // SAFETY: the processor is locked, and what follows is its own.
        let held = unsafe { Held::assume() };
        if self.block.lock.get().is_some_and(|lock| K::Model::LOCKS && !lock.0.try_acquire()) {
            // SAFETY: nothing follows.
            unsafe { K::Port::unlock(mask) };
            return Ok(false);
        }
        let here = here::<K>(C::PLACE);
        here.before.set(Some(mask), held);
        here.spinning.set(Some(self.block), held);
        self.block.taken.store(true, Relaxed);
        Ok(true)
    }
}

/// Gives back what a processor, which is locked, holds, if it holds any.
pub(crate) fn let_go<K: Kernel>(here: &'static Processor<K>) {
    // SAFETY: the processor is locked, and this is its own.
    let held = unsafe { Held::assume() };
    if let Some(spinning) = here.spinning.get(held) {
        here.spinning.set(None, held);
        spinning.give_back();
    }
}

impl<K: Kernel> SpinLockBlock<K> {
    fn give_back(&self) {
        self.taken.store(false, Relaxed);
        if let Some(lock) = self.lock.get().filter(|_| K::Model::LOCKS) {
            lock.0.release();
        }
    }
}
