//! Environments that belong to no process, and terms that outlive the call that they came with, each in one of its own.

use std::ptr::NonNull;

use crate::nif::abi::{INTERNAL_HASH, RawEnv, RawTerm};
use crate::nif::{Env, Term, vm};

/// An environment that belongs to no process, and is freed with this.
pub(crate) struct OwnedEnv(NonNull<RawEnv>);

impl OwnedEnv {
    pub(crate) fn new() -> Self {
        // SAFETY: takes nothing. The VM ends itself when it has no memory, so it never returns null.
        let made = unsafe { (vm().alloc_env)() };
        Self(NonNull::new(made).expect("the VM gives an environment"))
    }

    pub(crate) fn env(&self) -> Env<'_> {
        // SAFETY: it is freed when `self` is dropped, and the borrow ends before that.
        unsafe { Env::new(self.0.as_ptr()) }
    }
}

impl Drop for OwnedEnv {
    fn drop(&mut self) {
        // SAFETY: allocated once, and freed once; nothing borrows it any more.
        unsafe { (vm().free_env)(self.0.as_ptr()) };
    }
}

/// A term and the environment that it lies in, which holds nothing else and never changes once it is made.
pub(crate) struct OwnedTerm {
    _owned: OwnedEnv,
    raw: RawTerm,
}

// SAFETY: an environment that belongs to no process is bound to no thread.
unsafe impl Send for OwnedTerm {}
// SAFETY: two threads must not use one environment at once, because even an accessor may put something into it (a binary
// that begins inside of a byte is copied there to be read). Nobody uses this one after the term was made: all that is done with
// the term reads its words, which never change, to copy it somewhere else, to compare it, or to hash it.
unsafe impl Sync for OwnedTerm {}

impl OwnedTerm {
    /// What `make` makes in the environment that it is given.
    pub(crate) fn new(make: impl for<'a> FnOnce(Env<'a>) -> Term<'a>) -> Self {
        let owned = OwnedEnv::new();
        let raw = make(owned.env()).raw();
        Self { _owned: owned, raw }
    }

    /// A copy of it for whoever needs it elsewhere.
    pub(crate) fn copy_to<'b>(&self, env: Env<'b>) -> Term<'b> {
        // SAFETY: a whole term, which is only read, and a valid environment that is the caller's.
        env.adopt(unsafe { (vm().make_copy)(env.raw(), self.raw) })
    }

    /// Lets `body` look at the term; at a copy, because others may look at it too, and a scheduler must not wait for them.
    pub(crate) fn look<R>(&self, body: impl FnOnce(Term<'_>) -> R) -> R {
        let owned = OwnedEnv::new();
        body(self.copy_to(owned.env()))
    }

    /// Whether both are the same value, as `=:=` has it.
    pub(crate) fn is_identical(&self, other: &Self) -> bool {
        // SAFETY: whole terms, which are only read.
        unsafe { (vm().is_identical)(self.raw, other.raw) != 0 }
    }

    /// The same for terms that are identical, in this run of the VM.
    pub(crate) fn hash(&self) -> u64 {
        // SAFETY: a whole term, which is only read.
        unsafe { (vm().hash)(INTERNAL_HASH, self.raw, 0) }
    }
}
