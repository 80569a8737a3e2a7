//! The shared part of the ports to Arm's M profile: the vector table, the memory before the first function, exceptions,
//! and the processor's own registers.
//!
//! The assembly is Armv6-M's, which every processor of the M profile here understands.
#![no_std]

pub mod boot;
pub mod exception;

use core::arch::asm;

pub use boot::Vectors;
pub use exception::Frame;

/// Whether a task is what the processor runs: no exception is active.
#[inline(always)]
pub fn in_task() -> bool {
    exception_number() == 0
}

/// The exception that is handled; 0 if none is.
#[inline(always)]
pub fn exception_number() -> u32 {
    let exception: u32;
    // SAFETY: reads a register.
    unsafe { asm!("mrs {}, ipsr", out(reg) exception, options(nomem, nostack, preserves_flags)) };
    exception
}

/// Makes PendSV pending, which has the lowest priority of all exceptions.
#[inline(always)]
pub fn request_dispatch() {
    const ICSR: *mut u32 = 0xE000_ED04 as *mut u32;
    // SAFETY: sets PendSV pending.
    unsafe { ICSR.write_volatile(1 << 28) };
}

/// Waits for an interrupt.
#[inline(always)]
pub fn idle() {
    // SAFETY: waits for an interrupt.
    unsafe { asm!("wfi", options(nostack, preserves_flags)) };
}
