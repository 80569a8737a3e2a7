//! Environments: what terms belong to, and the process of a call.

use std::cell::Cell;
use std::marker::PhantomData;
use std::ptr::NonNull;

use crate::nif::abi::{RawEnv, RawPid, RawTerm};
use crate::nif::{heap, vm};

/// The environment that terms are read from and made in.
#[derive(Clone, Copy, Debug)]
pub struct Env<'a> {
    /// Not null, so that a term or none is two words, and returned in registers.
    raw: NonNull<RawEnv>,
    _call: PhantomData<Cell<&'a ()>>,
}

impl<'a> Env<'a> {
    /// # Safety
    /// `raw` must be an environment that stays valid for all of `'a`.
    #[inline]
    pub(crate) unsafe fn new(raw: *mut RawEnv) -> Self {
        // SAFETY: the caller's promise.
        Self { raw: unsafe { NonNull::new_unchecked(raw) }, _call: PhantomData }
    }

    #[inline]
    pub(crate) fn raw(self) -> *mut RawEnv {
        self.raw.as_ptr()
    }

    /// Where the process goes on with making terms in Erlang: has it collect its garbage there when little of its heap is free.
    #[inline(always)]
    pub(crate) fn collect_when_short(self) {
        // SAFETY: the environment is that of this call.
        unsafe { heap::end_when_short(self.raw()) }
    }

    /// Tells the scheduler that `percent` of a slice of about a millisecond went by; whether the process should yield.
    pub fn consume_timeslice(self, percent: i32) -> bool {
        // SAFETY: the environment is that of a process.
        unsafe { (vm().consume_timeslice)(self.raw(), percent.clamp(1, 100)) != 0 }
    }

    /// The word of the process that makes this call.
    #[inline(always)]
    pub(crate) fn own_process(self) -> Option<RawTerm> {
        // SAFETY: the environment is valid. Outside of a process the VM puts something there that has no word of one.
        unsafe { heap::own(self.raw()) }.or_else(|| Some(self.running()?.pid))
    }

    /// The process that runs this.
    ///
    /// # Panics
    /// When none does.
    #[inline]
    pub(crate) fn own_pid(self) -> RawPid {
        self.running().expect("no process runs this")
    }

    /// The process that runs this, if one does.
    #[inline]
    pub(crate) fn running(self) -> Option<RawPid> {
        let mut pid = RawPid { pid: 0 };
        // SAFETY: room for one.
        let found = unsafe { (vm().self_)(self.raw(), &raw mut pid) };
        (!found.is_null()).then_some(pid)
    }
}
