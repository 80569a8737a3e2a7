//! The vector table, and the memory as Rust expects it before the first function.

use core::arch::naked_asm;

/// The number of the reset, which counts as an exception.
const RESET: usize = 1;
/// The number of the hard fault.
pub const HARD_FAULT: usize = 3;
/// The number of the usage fault.
pub const USAGE_FAULT: usize = 6;
/// The number of the supervisor call.
pub const SV_CALL: usize = 11;
/// The number of PendSV.
const PEND_SV: usize = 14;

/// A function of the vector table.
pub type Vector = unsafe extern "C" fn();

/// The vector table: the stack of handlers, the functions of the processor's exceptions, and that of all lines.
/// Aligned to a power of two that is no smaller than the largest table, 140 words.
#[repr(C, align(1024))]
pub struct Vectors<const LINES: usize> {
    stack: Vector,
    exceptions: [Vector; 15],
    lines: [Vector; LINES],
}

impl<const LINES: usize> Vectors<LINES> {
    /// A table; an exception without a function of its own goes to the handlers that the kernel was told of.
    pub const fn new(stack: Vector, reset: Vector, pend_sv: Vector, line: Vector) -> Self {
        let exceptions: [Vector; 15] = [crate::exception::entry; 15];
        Vectors { stack, exceptions, lines: [line; LINES] }.with(RESET, reset).with(PEND_SV, pend_sv)
    }

    /// An exception with a function of its own, by its number.
    pub const fn with(mut self, exception: usize, function: Vector) -> Self {
        self.exceptions[exception - 1] = function;
        self
    }
}

/// Makes the memory what Rust expects: statics with their values, the others zero. Keeps no register.
///
/// # Safety
/// To be called before any function of Rust, by one processor.
#[unsafe(naked)]
pub unsafe extern "C" fn initialise_memory() {
    naked_asm!(
        "ldr r0, =__data_start",
        "ldr r1, =__data_end",
        "ldr r2, =__data_load",
        "b 2f",
        "1: ldm r2!, {{r3}}",
        "stm r0!, {{r3}}",
        "2: cmp r0, r1",
        "bne 1b",
        "ldr r0, =__bss_start",
        "ldr r1, =__bss_end",
        "movs r3, #0",
        "b 4f",
        "3: stm r0!, {{r3}}",
        "4: cmp r0, r1",
        "bne 3b",
        "bx lr",
        ".ltorg",
    )
}
