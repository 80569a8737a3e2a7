//! What the compiler calls to copy, fill and compare memory, which the C library has elsewhere.
//!
//! In assembler, since a compiler that sees a loop that copies makes a call of it.

use core::arch::global_asm;

global_asm!(include_str!("memory.s"));
