//! CPU exceptions, and the handlers for them.
//!
//! A handler runs in handler context on the processor on which the exception happened. It can call the services that
//! handlers may call, unless the processor was locked. When the handler returns, the processor tries the instruction
//! again. So a handler either activates a task of higher priority that ends the faulty one, or continues elsewhere with
//! [`Raised::go_on_at`].
//!
//! The overflow of a stack is not such an exception: nothing can continue after it.

use core::ffi::c_void;

use crate::base::context::{InHandler, Shared};

/// A handler for one kind of CPU exception: DEF_EXC.
#[derive(Clone, Copy)]
pub struct Exception {
    pub(crate) number: u32,
    pub(crate) processor: Option<usize>,
    pub(crate) function: unsafe extern "C" fn(*mut c_void),
}

impl Exception {
    /// Describes a handler for the exception of that number, as the port counts them, on every processor. It must not
    /// capture anything.
    pub const fn create<F: Fn(InHandler<Shared>, &Raised) + Copy + 'static>(number: u32, handler: F) -> Self {
        const { assert!(size_of::<F>() == 0, "a handler captures nothing") };
        let _ = handler;
        Exception { number, processor: None, function: call::<F> }
    }

    /// Describes a handler in C, which is given the address of a [`Raised`].
    ///
    /// # Safety
    /// The function can be called with that at any time.
    pub const unsafe fn foreign(number: u32, function: unsafe extern "C" fn(*mut c_void)) -> Self {
        Exception { number, processor: None, function }
    }

    /// Which exception it is for.
    pub const fn number(&self) -> u32 {
        self.number
    }

    /// These, if they are for processors that there are.
    #[doc(hidden)]
    pub const fn checked(all: &'static [Self], processors: usize) -> &'static [Self] {
        let mut number = 0;
        while number < all.len() {
            if let Some(processor) = all[number].processor {
                assert!(processor < processors, "an exception is handled on a processor that there is not");
            }
            number += 1;
        }
        all
    }

    /// It is for exceptions of that processor only, counted from 0.
    pub const fn on(mut self, processor: usize) -> Self {
        self.processor = Some(processor);
        self
    }
}

unsafe extern "C" fn call<F: Fn(InHandler<Shared>, &Raised) + Copy + 'static>(raised: *mut c_void) {
    // SAFETY: `Exception::create` was given a value of this type, which has no size and is `Copy`.
    let handler: F = unsafe { core::mem::zeroed() };
    // SAFETY: the kernel calls the function with the address of such a value, and in handler context.
    unsafe { handler(InHandler::<Shared>::assume(), &*raised.cast::<Raised>()) }
}

/// A CPU exception that has happened.
pub struct Raised {
    pub(crate) number: u32,
    /// Where the address is saved that is gone on at.
    pc: *mut usize,
    frame: *mut c_void,
    pub(crate) pending: bool,
}

impl Raised {
    /// What a port knows: the exception's number, where the address is saved that is gone on at, where the registers
    /// are saved, and whether a task that had not locked the processor was interrupted.
    ///
    /// # Safety
    /// `pc` can be read and written while this is there.
    pub unsafe fn new(number: u32, pc: *mut usize, frame: *mut c_void, in_unlocked_task: bool) -> Self {
        Raised { number, pc, frame, pending: !in_unlocked_task }
    }

    /// The exception's number, as the port counts them.
    pub fn number(&self) -> u32 {
        self.number
    }

    /// The address of the instruction.
    pub fn address(&self) -> usize {
        // SAFETY: `new` says so.
        unsafe { self.pc.read() }
    }

    /// Goes on at another address when the handler is left.
    ///
    /// # Safety
    /// The code there can go on with the registers as they are.
    pub unsafe fn go_on_at(&self, address: usize) {
        // SAFETY: `new` says so.
        unsafe { self.pc.write(address) }
    }

    /// The registers that the processor or the port has saved, in a layout that the port documents.
    pub fn frame(&self) -> *mut c_void {
        self.frame
    }

    /// xsns_dpn: whether the code that the exception interrupted could not give way to a task. If it could, a task that
    /// the handler activates runs when the handler is left.
    pub fn dispatch_pending(&self) -> bool {
        self.pending
    }
}
