//! The handle of a task.

use core::marker::PhantomData;

use crate::base::context::{Context, Domain, Needs, Placed};
use crate::base::error::Error;
use crate::base::port::Port;
use crate::service::dispatch::running;
use crate::service::frame::Service;
use crate::service::refusal::refused;
use crate::state::storage::{Numbered, Storage};
use crate::state::tcb::Tcb;

/// A task.
pub struct Task<K: Storage, D> {
    pub(crate) tcb: &'static Tcb<K>,
    pub(crate) domain: D,
    kernel: PhantomData<K>,
}

impl<K: Storage, D: Copy> Clone for Task<K, D> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<K: Storage, D: Copy> Copy for Task<K, D> {}

impl<K: Storage> Task<K, Placed> {
    /// The task of that ITRON number, from 1. E_ID if there is none; E_CTX instead while the processor is locked, as the
    /// services say.
    #[inline(always)]
    pub fn by_number(number: i32) -> Result<Self, Error> {
        Self::by_number_for(Needs::Unlocked, number)
    }

    /// The same for a service that needs that of its context: E_CTX instead of E_ID where it may not be called.
    #[inline(always)]
    pub fn by_number_for(needs: Needs, number: i32) -> Result<Self, Error> {
        Self::at(number).ok_or_else(|| refused::<K>(needs, Error::ID))
    }

    /// The same, and the task that calls for TSK_SELF.
    #[inline(always)]
    pub fn by_number_or_self(needs: Needs, number: i32) -> Result<Self, Error> {
        match Self::at(number) {
            Some(task) => Ok(task),
            // TSK_SELF is no task's number, so that it costs nothing to look there first.
            None if number == 0 => Task::calling().map_err(|error| refused::<K>(needs, error)),
            None => Err(refused::<K>(needs, Error::ID)),
        }
    }

    #[inline(always)]
    fn at(number: i32) -> Option<Self> {
        K::tasks().get((number as usize).wrapping_sub(1)).map(|entry| Task::of(entry.block, entry.domain))
    }

    /// The task that calls. E_ID in a handler.
    pub fn calling() -> Result<Self, Error> {
        if !K::Port::in_task() {
            return Err(Error::ID);
        }
        let tcb = running::<K>();
        Ok(Task::of(tcb, Placed::place(tcb.class.pinned())))
    }
}

impl<K: Storage, D: Domain> Task<K, D> {
    /// The handle of a task; `kernel!` makes it.
    pub const fn new(tcb: &'static Tcb<K>) -> Self {
        Task { tcb, domain: D::SELF, kernel: PhantomData }
    }

    pub(crate) fn of(tcb: &'static Tcb<K>, domain: D) -> Self {
        Task { tcb, domain, kernel: PhantomData }
    }

    /// Its entry in the table of tasks.
    pub const fn numbered(&self) -> Numbered<Tcb<K>> {
        Numbered::new(self.tcb, Placed::of::<D>())
    }

    /// Whether the two are the same task.
    pub fn is<E>(self, other: Task<K, E>) -> bool {
        core::ptr::eq(self.tcb, other.tcb)
    }

    /// Enters a service that only tasks may call.
    pub(crate) fn enter_in_task<C: Context>(self, cx: C) -> Result<Service<K, D, C>, Error> {
        Service::<K, D, C>::enter_in_task(self.domain, cx)
    }
}
