//! The vectors, the way from reset to the kernel, and faults.

use core::arch::naked_asm;

use m_profile::boot::initialise_memory;
use m_profile::{Frame, exception};
use rtos::{Kernel, Port};

use crate::chip;
use crate::switch::{UNTOUCHED, pend_sv};

/// The vector table.
pub type Vectors = m_profile::Vectors<32>;

unsafe extern "C" {
    fn __stack0();
    fn __stack1();
    fn __vectors();
}

/// The table of both processors.
pub const VECTORS: Vectors = Vectors::new(__stack0, reset, pend_sv, line);

/// Processor 0 starts here.
#[unsafe(naked)]
unsafe extern "C" fn reset() {
    naked_asm!("bl {memory}", "movs r0, #0", "bl {set_up}", memory = sym initialise_memory, set_up = sym set_up)
}

/// Processor 1 starts here.
#[unsafe(naked)]
unsafe extern "C" fn reset_second() {
    naked_asm!("movs r0, #1", "bl {set_up}", set_up = sym set_up)
}

/// Locks the processor of that number, gives it another stack than that of handlers, and marks the end of that.
#[unsafe(naked)]
unsafe extern "C" fn set_up() {
    naked_asm!(
        "cpsid i",
        "mov r1, sp",
        "ldr r2, =__stack_size",
        "subs r2, r1, r2",
        "ldr r3, ={untouched}",
        "str r3, [r2]",
        "ldr r2, =2048",
        "subs r1, r1, r2",
        "msr psp, r1",
        "movs r1, #2",
        "msr control, r1",
        "isb",
        "bl rtos_start",
        ".ltorg",
        untouched = const UNTOUCHED,
    )
}

/// Starts processor 1, as its boot ROM asks for: a sequence of words, each answered with itself. Source: RP2040
/// Datasheet, 2.8.2.
pub(crate) fn launch() {
    let words =
        [0, 0, 1, __vectors as *const () as u32, __stack1 as *const () as u32, reset_second as *const () as u32];
    while !words.iter().all(|&word| {
        if word == 0 {
            chip::quiet_mailbox(0);
        }
        chip::ask(word)
    }) {}
}

/// An interrupt: tells the kernel which. Looks whether the stack of handlers has overflowed meanwhile; which processor's
/// it is, the stack pointer says.
#[unsafe(naked)]
unsafe extern "C" fn line() {
    naked_asm!(
        "push {{r4, lr}}",
        "mrs r0, ipsr",
        "subs r0, #16",
        "bl rtos_interrupt",
        "ldr r0, =__limit0",
        "cmp sp, r0",
        "bhi 1f",
        "ldr r0, =__limit1",
        "1: ldr r1, [r0]",
        "ldr r2, ={untouched}",
        "cmp r1, r2",
        "bne 2f",
        "pop {{r4, pc}}",
        "2: bl rtos_overflow",
        ".ltorg",
        untouched = const UNTOUCHED,
    )
}

/// Whether the task that is to go on should give way instead.
#[doc(hidden)]
pub fn should_dispatch<K: Kernel>() -> bool {
    let mask = K::Port::lock();
    let should = rtos::entry::should_dispatch::<K>();
    // SAFETY: nothing follows; a handler that comes now sets PendSV pending again if it has to.
    unsafe { K::Port::unlock(mask) };
    should
}

/// An exception, with its frame.
///
/// # Safety
/// To be called by the vectors.
#[doc(hidden)]
pub unsafe fn exception<K: Kernel>(frame: *mut Frame, exc_return: usize) {
    let mask = K::Port::lock();
    // SAFETY: restores what was; nothing relied on the lock.
    unsafe { K::Port::unlock(mask) };
    // SAFETY: the processor has saved the frame there, and the vectors have given both.
    unsafe { exception::handle::<K>(&mut *frame, exc_return, !K::Port::was_locked(mask)) };
}
