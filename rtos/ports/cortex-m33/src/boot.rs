//! The vectors, the way from reset to the kernel, and faults.

use core::arch::naked_asm;

use m_profile::boot::{HARD_FAULT, SV_CALL, USAGE_FAULT, Vector, initialise_memory};
use m_profile::{Frame, exception};
use rtos::{Kernel, Port};

use crate::switch::{pend_sv, sv_call};

/// The vector table.
pub type Vectors = m_profile::Vectors<124>;

unsafe extern "C" {
    fn __stack0();
    fn __stack1();
}

/// The table of processor 0.
pub const FIRST: Vectors = table(__stack0, reset);

/// The table of processor 1.
pub(crate) static SECOND: Vectors = table(__stack1, reset_second);

const fn table(stack: Vector, reset: Vector) -> Vectors {
    let table = Vectors::new(stack, reset, pend_sv, line).with(SV_CALL, sv_call);
    table.with(USAGE_FAULT, fault).with(HARD_FAULT, fault)
}

/// Processor 0 starts here.
#[unsafe(naked)]
unsafe extern "C" fn reset() {
    naked_asm!("bl {memory}", "movs r0, #0", "b {set_up}", memory = sym initialise_memory, set_up = sym set_up)
}

/// Processor 1 starts here.
#[unsafe(naked)]
unsafe extern "C" fn reset_second() {
    naked_asm!("movs r0, #1", "b {set_up}", set_up = sym set_up)
}

/// Locks the processor of that number, gives it another stack than that of handlers, and enables the faults, so that a
/// stack that overflows is told from others.
#[unsafe(naked)]
unsafe extern "C" fn set_up() {
    naked_asm!(
        "movs r1, #0x20",
        "msr basepri, r1",
        "mov r1, sp",
        "ldr r2, =__stack_size",
        "subs r2, r1, r2",
        "msr msplim, r2",
        "sub r1, r1, #2048",
        "msr psp, r1",
        "movs r1, #2",
        "msr control, r1",
        "isb",
        "ldr r1, =0xE000ED24",
        "mov r2, #0x70000",
        "str r2, [r1]",
        "bl rtos_start",
    )
}

/// An interrupt: tells the kernel which.
#[unsafe(naked)]
unsafe extern "C" fn line() {
    naked_asm!("mrs r0, ipsr", "subs r0, #16", "b rtos_interrupt")
}

/// A usage fault, or a hard fault because that was not possible. If the stack of handlers has overflowed nothing can be
/// saved there: that is told, from the top of that stack (the first word of the vector table), since nothing goes on.
#[unsafe(naked)]
unsafe extern "C" fn fault() {
    naked_asm!(
        "ldr r0, =0xE000ED28", // what the faults were
        "ldr r0, [r0]",
        "tst r0, #0x100000",
        "beq 1f",
        "tst lr, #4",
        "bne 1f",
        "mrs r0, msp",
        "mov r1, #0",
        "msr msplim, r1",
        "ldr r1, =0xE000ED08", // where the vector table is
        "ldr r1, [r1]",
        "ldr r1, [r1]",
        "mov sp, r1",
        "bl rtos_overflow",
        "1: b {other}",
        ".ltorg",
        other = sym exception::entry,
    )
}

/// An exception, with its frame: a stack that overflowed has none.
///
/// # Safety
/// To be called by the vectors.
#[doc(hidden)]
pub unsafe fn exception<K: Kernel>(frame: *mut Frame, exc_return: usize) {
    /// What the faults were; a bit that is written is cleared.
    const CFSR: *mut u32 = 0xE000_ED28 as *mut u32;
    const STACK_OVERFLOW: u32 = 1 << 20;
    // SAFETY: a register of the processor.
    let status = unsafe { CFSR.read_volatile() };
    if status & STACK_OVERFLOW != 0 {
        rtos::entry::overflowed::<K>(frame as usize);
    }
    let mask = K::Port::lock();
    // SAFETY: restores what was; nothing relied on the lock.
    unsafe { K::Port::unlock(mask) };
    // SAFETY: the processor has saved the frame there, and the vectors have given both.
    unsafe {
        CFSR.write_volatile(status);
        exception::handle::<K>(&mut *frame, exc_return, !K::Port::was_locked(mask));
    }
}

/// A call of the emulator.
#[unsafe(naked)]
#[unsafe(no_mangle)]
unsafe extern "C" fn semihosting_call(_: u32, _: *const u8) -> u32 {
    naked_asm!("bkpt 0xAB", "bx lr")
}
