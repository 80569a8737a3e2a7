//! The way from reset to the kernel.

use core::arch::{asm, naked_asm};
use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicU32, Ordering};

use crate::boards::Board;

/// Which processors may start: a bit for each.
static RELEASED: AtomicU32 = AtomicU32::new(1);

/// Lets another processor start.
pub(crate) fn release(processor: usize) {
    RELEASED.store(RELEASED.load(Ordering::Relaxed) | 1 << processor, Ordering::Release);
    // SAFETY: makes the store seen and wakes who waits.
    unsafe { asm!("dsb", "sev", options(nostack, preserves_flags)) };
}

unsafe extern "C" {
    static __stack0: u8;
    static __stack_size: u8;
}

/// The lowest addresses of the stacks of handlers.
pub(crate) fn stacks<B: Board>() -> impl Iterator<Item = usize> {
    let (top, size) = (&raw const __stack0 as usize, &raw const __stack_size as usize);
    (1..=B::PROCESSORS).map(move |number| top - number * size)
}

/// Where a data abort keeps two registers while it looks whether a stack of handlers has overflowed.
#[repr(C)]
struct Aside(UnsafeCell<[u64; 2]>);

// SAFETY: each processor uses its own part, and only in assembly.
unsafe impl Sync for Aside {}

static ASIDE: Aside = Aside(UnsafeCell::new([0; 2]));

/// Every processor starts here, with its interrupts off. Gives it a stack for handlers; processor 0 makes the memory what
/// Rust expects, the others wait until they are released.
#[unsafe(naked)]
pub(crate) unsafe extern "C" fn reset() {
    naked_asm!(
        "cpsid if, #0x13",
        "mrc p15, 0, r4, c0, c0, 5",
        "and r4, r4, #3",
        "ldr r0, =__stack0",
        "ldr r1, =__stack_size",
        "mls sp, r1, r4, r0",
        "cps #0x17",
        "ldr r0, ={aside}",
        "add r0, r0, #8",
        "add sp, r0, r4, lsl #3",
        "cps #0x13",
        "cmp r4, #0",
        "bne 3f",
        "ldr r0, =__bss_start",
        "ldr r1, =__bss_end",
        "mov r2, #0",
        "1: cmp r0, r1",
        "strlo r2, [r0], #4",
        "blo 1b",
        "2: mov r0, r4",
        "bl rtos_start",
        "3: ldr r1, ={released}",
        "mov r2, #1",
        "4: ldr r0, [r1]",
        "tst r0, r2, lsl r4",
        "wfeeq",
        "beq 4b",
        "dmb",
        "b 2b",
        released = sym RELEASED,
        aside = sym ASIDE,
    )
}

/// A call of the emulator.
#[unsafe(naked)]
#[unsafe(no_mangle)]
unsafe extern "C" fn semihosting_call(_: u32, _: *const u8) -> u32 {
    naked_asm!("push {{lr}}", "svc #0x123456", "pop {{lr}}", "bx lr")
}
