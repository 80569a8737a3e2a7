//! Handlers: functions that run in handler context.

use core::ffi::c_void;

use crate::base::context::{Domain, InHandler, Placed};

/// A function that runs in handler context, and what it is given.
#[derive(Clone, Copy)]
pub struct Handler {
    /// Of Rust, so that the model checker can unwind through it at the end of a run.
    function: unsafe fn(&Handler),
    /// The C function that this one calls, and what that is given.
    foreign: Option<(unsafe extern "C" fn(*mut c_void), *mut c_void)>,
    /// What it was written for.
    domain: Placed,
}

// SAFETY: the argument is a value for the function; the kernel does not use it.
unsafe impl Send for Handler {}
// SAFETY: as above.
unsafe impl Sync for Handler {}

impl Handler {
    /// A function written in Rust, which must not capture anything.
    pub const fn new<D: Domain, F: Fn(InHandler<D>) + Copy + 'static>(body: F) -> Self {
        const { assert!(size_of::<F>() == 0, "a handler captures nothing") };
        let _ = body;
        Handler { function: call::<D, F>, foreign: None, domain: Placed::of::<D>() }
    }

    /// A C function.
    ///
    /// # Safety
    /// The function can be called with that argument, at any time, on any processor that the object's class allows.
    pub const unsafe fn foreign(function: unsafe extern "C" fn(*mut c_void), argument: *mut c_void) -> Self {
        Handler { function: call_foreign, foreign: Some((function, argument)), domain: Placed(None) }
    }

    /// Whether that processor may call it.
    pub(crate) const fn fits(&self, processor: usize) -> bool {
        match self.domain.0 {
            None => true,
            Some(place) => place as usize == processor,
        }
    }

    /// Panics, at compile time, if it was written for another domain than that of the object that calls it.
    pub(crate) const fn check<D: Domain>(&self) {
        let suits = match (self.domain.0, Placed::of::<D>().0) {
            (None, _) => true,
            (Some(written), Some(called)) => written == called,
            (Some(_), None) => false,
        };
        assert!(suits, "the handler was written for another domain than that of the object that calls it");
    }

    /// Calls the function. Whatever that has locked is still locked.
    #[inline(always)]
    pub(crate) fn run(&self) {
        // SAFETY: the function was put there for such a handler.
        unsafe { (self.function)(self) }
    }
}

unsafe fn call_foreign(handler: &Handler) {
    if let Some((function, argument)) = handler.foreign {
        // SAFETY: whoever made the handler says that the function can be called with the argument.
        unsafe { function(argument) }
    }
}

unsafe fn call<D: Domain, F: Fn(InHandler<D>) + Copy + 'static>(_: &Handler) {
    // SAFETY: `Handler::new` was given a value of this type, which has no size and is `Copy`, so this is one as good.
    let body: F = unsafe { core::mem::zeroed() };
    // SAFETY: handlers run only where their domain says.
    body(unsafe { InHandler::<D>::assume() })
}
