//! CPU exceptions: the frame that the processor has saved, and the call of the handler.

use core::arch::naked_asm;

use rtos::{Kernel, Port, Raised};

/// The frame that an exception saves. A handler is given its address.
#[repr(C)]
pub struct Frame {
    /// r0 to r3, r12, lr.
    pub registers: [usize; 6],
    /// The address of the instruction.
    pub pc: usize,
    /// The flags.
    pub xpsr: usize,
}

/// An exception: finds its frame, on the stack of the task or on that of handlers, and calls the port. Goes on with what
/// the frame says when the port returns.
///
/// # Safety
/// For the vector table only.
#[unsafe(naked)]
pub unsafe extern "C" fn entry() {
    naked_asm!(
        "mov r1, lr",
        "movs r0, #4",
        "tst r1, r0",
        "bne 1f",
        "mrs r0, msp",
        "b 2f",
        "1: mrs r0, psp",
        "2: push {{r4, lr}}",
        "bl rtos_exception",
        "pop {{r4, pc}}",
    )
}

/// Calls the handler of the exception that has happened, or ends with what is known of it.
///
/// # Safety
/// To be called in the exception, with its frame and what `lr` was; `unlocked` says whether the processor is.
pub unsafe fn handle<K: Kernel>(frame: &mut Frame, exc_return: usize, unlocked: bool) {
    const THREAD: usize = 1 << 3;
    let (number, at) = (crate::exception_number(), frame.pc);
    let in_unlocked_task = unlocked && exc_return & THREAD != 0;
    // SAFETY: the frame stays there until the handler has returned.
    let raised = unsafe { Raised::new(number, &raw mut frame.pc, (&raw mut *frame).cast(), in_unlocked_task) };
    if !rtos::entry::exception::<K>(raised) {
        K::Port::fatal(format_args!("exception {number} at {at:#010x}"));
    }
}
