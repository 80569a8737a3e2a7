//! PRIMASK, the interrupt mask by which a processor is locked: all interrupts wait. Locking and unlocking are an
//! instruction or two each, in line.

use core::arch::asm;

/// Locks this processor, and gives what the mask was.
#[inline(always)]
pub(crate) fn lock() -> u32 {
    let before: u32;
    // SAFETY: only makes interrupts wait.
    unsafe { asm!("mrs {}, primask", "cpsid i", out(reg) before, options(nostack, preserves_flags)) };
    before
}

/// Sets the mask.
///
/// # Safety
/// Nothing relies on the lock.
#[inline(always)]
pub(crate) unsafe fn unlock(mask: u32) {
    // SAFETY: the caller says that nothing relies on the lock.
    unsafe { asm!("msr primask, {}", in(reg) mask, options(nostack, preserves_flags)) };
}
