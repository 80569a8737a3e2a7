//! BASEPRI, the interrupt mask by which a processor is locked: interrupts of the priorities that the kernel manages
//! wait, higher ones do not. Locking and unlocking are an instruction or two each, in line.

use core::arch::asm;

/// The interrupts of this priority and below wait while the processor is locked.
pub(crate) const LOCKED: u32 = 0x20;

/// Locks this processor, and gives what the mask was.
#[inline(always)]
pub(crate) fn lock() -> u32 {
    let before: u32;
    // SAFETY: raising BASEPRI only makes interrupts wait.
    unsafe {
        asm!(
            "mrs {before}, basepri",
            "msr basepri, {locked}",
            before = out(reg) before,
            locked = in(reg) LOCKED,
            options(nostack, preserves_flags),
        );
    }
    before
}

/// Sets the mask.
///
/// # Safety
/// Nothing relies on the lock.
#[inline(always)]
pub(crate) unsafe fn unlock(mask: u32) {
    // SAFETY: the caller says that nothing relies on the lock.
    unsafe { asm!("msr basepri, {}", in(reg) mask, options(nostack, preserves_flags)) };
}
