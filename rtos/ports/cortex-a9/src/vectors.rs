//! The exception vectors, at address 0.

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
        "and r1, sp, #4",
        "sub sp, sp, r1",
        "push {{r0, r1}}",
        "bl rtos_preempt",
        "pop {{r0, r1}}",
        "add sp, sp, r1",
        "pop {{r0-r3, r12, lr}}",
        "rfeia sp!",
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
        "rfeia sp!",
    )
}

macro_rules! fault {
    ($name:ident, $number:literal, $offset:literal) => {
        /// A fault: tells the kernel which, and where.
        #[unsafe(naked)]
        unsafe extern "C" fn $name() {
            naked_asm!(
                "mov r0, #{number}",
                "sub r1, lr, #{offset}",
                // The stack of this mode is that of handlers of the processor, which are not continued.
                "cps #0x13",
                "b rtos_fault",
                number = const $number,
                offset = const $offset,
            )
        }
    };
}

fault!(undefined, 1, 4);
fault!(supervisor, 2, 4);
fault!(prefetch_abort, 3, 4);
fault!(data_abort, 4, 8);
