//! The exception vectors, at address 0.
//!
//! Every return from an exception clears the exclusive monitor: the interrupted code may have been between an exclusive
//! load and its store, and other code may have loaded exclusively meanwhile.

use core::arch::{global_asm, naked_asm};

// A table of branches; each entry is one instruction.
global_asm!(
    ".section .vectors, \"ax\"",
    ".arm",
    ".global __vectors",
    "__vectors:",
    "ldr pc, 1f",
    "ldr pc, 2f",
    "ldr pc, 3f",
    "ldr pc, 4f",
    "ldr pc, 5f",
    "b .",
    "ldr pc, 6f",
    "b .",
    "1: .word {reset}",
    "2: .word {undefined}",
    "3: .word {supervisor}",
    "4: .word {prefetch}",
    "5: .word {data}",
    "6: .word {interrupt}",
    reset = sym crate::boot::reset,
    undefined = sym undefined,
    supervisor = sym supervisor,
    prefetch = sym prefetch_abort,
    data = sym data_abort,
    interrupt = sym interrupt,
);

/// An interrupt. The frame goes to the stack of what was interrupted: r0 to r3, r12, lr, pc, cpsr.
///
/// The stack pointer of this mode is not used as one: it holds the mode that was interrupted.
#[unsafe(naked)]
unsafe extern "C" fn interrupt() {
    naked_asm!(
        "sub lr, lr, #4",
        "mrs sp, spsr",
        "and sp, sp, #0x1f",
        "cmp sp, #0x1f",
        "bne 1f",
        // A task: the handler runs on the processor's stack; then the task gives way, if it has to, and goes on.
        "srsdb sp!, #0x1f",
        "cps #0x1f",
        "push {{r0-r3, r12, lr}}",
        "cps #0x13",
        "bl rtos_interrupt",
        "cps #0x1f",
        "b {give_way}",
        // A handler.
        "1:",
        "srsdb sp!, #0x13",
        "cps #0x13",
        "push {{r0-r3, r12, lr}}",
        "and r1, sp, #4",
        "sub sp, sp, r1",
        "push {{r0, r1}}",
        "bl rtos_interrupt",
        "pop {{r0, r1}}",
        "add sp, sp, r1",
        "pop {{r0-r3, r12, lr}}",
        "clrex",
        "rfeia sp!",
        give_way = sym give_way,
    )
}

/// A task that was interrupted, and whose frame lies on its stack, gives way if it has to, and goes on.
#[unsafe(naked)]
unsafe extern "C" fn give_way() {
    naked_asm!(
        "and r1, sp, #4",
        "sub sp, sp, r1",
        "push {{r0, r1}}",
        "bl rtos_preempt",
        "pop {{r0, r1}}",
        "add sp, sp, r1",
        "pop {{r0-r3, r12, lr}}",
        "clrex",
        "rfeia sp!",
    )
}

/// What an exception saves: a handler is given the address of this.
#[repr(C)]
pub struct Frame {
    /// r0 to r3, r12, and lr if a handler was interrupted.
    pub registers: [usize; 6],
    /// The address of the instruction.
    pub pc: usize,
    /// The mode, the flags, and whether interrupts waited.
    pub cpsr: usize,
}

macro_rules! exception {
    ($name:ident, $number:literal, $offset:literal) => {
        /// An exception. The frame goes to the stack of handlers first: that of a task may have overflowed.
        #[unsafe(naked)]
        unsafe extern "C" fn $name() {
            naked_asm!(
                "sub lr, lr, #{offset}",
                "srsdb sp!, #0x13",
                "cps #0x13",
                "push {{r0-r3, r12, lr}}",
                "mov r0, #{number}",
                "b {exception}",
                number = const $number,
                offset = const $offset,
                exception = sym exception,
            )
        }
    };
}

exception!(undefined, 0, 4);
exception!(supervisor, 1, 4);
exception!(prefetch_abort, 2, 4);
exception!(other_data_abort, 3, 8);

/// A data abort. If it came because the lowest page of a stack of handlers cannot be touched, nothing can be saved on that:
/// the overflow is told, from the top of that stack, since nothing goes on. The two registers are kept on this mode's own.
#[unsafe(naked)]
unsafe extern "C" fn data_abort() {
    naked_asm!(
        "push {{r0, r1}}",
        "mrc p15, 0, r0, c6, c0, 0",
        "ldr r1, =__stacks",
        "subs r0, r0, r1",
        "ldr r1, =__stacks_size",
        "cmp r0, r1",
        // Is it that there is no such page?
        "mrclo p15, 0, r0, c5, c0, 0",
        "andlo r0, r0, #0xf",
        "eorlo r0, r0, #7",
        "movhs r0, #1",
        "cmp r0, #0",
        "pop {{r0, r1}}",
        "bne {other}",
        "mrc p15, 0, r0, c6, c0, 0",
        "lsr r1, r0, #12",
        "lsl r1, r1, #12",
        "ldr r2, =__stack_size",
        "cpsid i, #0x13",
        "add sp, r1, r2",
        "bl rtos_overflow",
        ".ltorg",
        other = sym other_data_abort,
    )
}

/// Calls the handler; if a task was interrupted that can give way, it does, as after an interrupt.
#[unsafe(naked)]
unsafe extern "C" fn exception() {
    naked_asm!(
        "mov r1, sp",
        "and r2, sp, #4",
        "sub sp, sp, r2",
        "push {{r2, r3}}",
        "bl rtos_exception",
        "pop {{r2, r3}}",
        "add sp, sp, r2",
        "ldr r0, [sp, #24]",
        "ldr r1, [sp, #28]",
        "and r2, r1, #0x9f",
        "cmp r2, #0x1f",
        "bne 1f",
        "cps #0x1f",
        "push {{r0, r1}}",
        "cps #0x13",
        "pop {{r0-r3, r12, lr}}",
        "add sp, sp, #8",
        "cps #0x1f",
        "push {{r0-r3, r12, lr}}",
        "b {give_way}",
        "1: pop {{r0-r3, r12, lr}}",
        "clrex",
        "rfeia sp!",
        give_way = sym give_way,
    )
}
