//! Spin locks for users: short sections that only one processor may be in.
//!
//! A processor that holds a spin lock is locked, as after loc_cpu, and may hold no second one. Built for one processor,
//! locking the processor is all that a spin lock does.

use core::sync::atomic::Ordering::Relaxed;

use crate::base::cell::Held;
use crate::base::class::Class;
use crate::base::context::{Context, Domain};
use crate::base::error::Error;
use crate::base::model::{Model, Only};
use crate::base::port::{Lock, Port};
use crate::objects::handle::handle;
use crate::service::dispatch::here;
use crate::state::spin::SpinLockBlock;
use crate::state::storage::Storage;

handle! {
    /// A spin lock.
    SpinLock, SpinLockBlock
}

impl<K: Storage, D: Domain> SpinLock<K, D> {
    /// Describes a spin lock.
    pub const fn create() -> SpinLockBlock<K> {
        const { Class::of::<K::Model, D>() };
        SpinLockBlock::new()
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
        here.let_go();
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
