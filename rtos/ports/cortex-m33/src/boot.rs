//! The vectors, the way from reset to the kernel, and faults.

use core::arch::naked_asm;

use rtos::{Kernel, Port};

use crate::switch::{pend_sv, sv_call};

/// The vector table.
#[repr(C, align(512))]
pub struct Vectors {
    stack: unsafe extern "C" fn(),
    handlers: [unsafe extern "C" fn(); 15],
    lines: [unsafe extern "C" fn(); 124],
}

unsafe extern "C" {
    fn __stack0();
    fn __stack1();
}

/// The table of processor 1.
pub(crate) static SECOND: Vectors = Vectors::of(__stack1, reset_second);

impl Vectors {
    /// The table of processor 0.
    pub const fn new() -> Self {
        Vectors::of(__stack0, reset)
    }

    const fn of(stack: unsafe extern "C" fn(), reset: unsafe extern "C" fn()) -> Self {
        let mut handlers: [unsafe extern "C" fn(); 15] = [fault_entry; 15];
        handlers[0] = reset;
        handlers[10] = sv_call;
        handlers[13] = pend_sv;
        Vectors { stack, handlers, lines: [line; 124] }
    }
}

impl Default for Vectors {
    fn default() -> Self {
        Self::new()
    }
}

/// Processor 0 starts here, and makes the memory what Rust expects.
#[unsafe(naked)]
unsafe extern "C" fn reset() {
    naked_asm!(
        "ldr r0, =__data_start",
        "ldr r1, =__data_end",
        "ldr r2, =__data_load",
        "b 2f",
        "1: ldr r3, [r2], #4",
        "str r3, [r0], #4",
        "2: cmp r0, r1",
        "bne 1b",
        "ldr r0, =__bss_start",
        "ldr r1, =__bss_end",
        "movs r3, #0",
        "b 4f",
        "3: str r3, [r0], #4",
        "4: cmp r0, r1",
        "bne 3b",
        "movs r0, #0",
        "b {set_up}",
        set_up = sym set_up,
    )
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

/// A fault: on the main stack, with the address where it happened if that lies on a stack that can be read.
#[unsafe(naked)]
unsafe extern "C" fn fault_entry() {
    naked_asm!(
        "ldr r0, =0xE000ED28",
        "ldr r0, [r0]",
        "mrs r1, psp",
        "movs r2, #0",
        "msr basepri, r2",
        // After an overflow there is no frame.
        "tst r0, #0x100000",
        "bne 1f",
        "tst lr, #4",
        "ite eq",
        "mrseq r2, msp",
        "movne r2, r1",
        "ldr r2, [r2, #24]",
        "1: b rtos_fault",
    )
}

/// Says what the fault was, and ends.
pub fn fault<K: Kernel>(status: u32, psp: usize, pc: usize) -> ! {
    const STACK_OVERFLOW: u32 = 1 << 20;
    if status & STACK_OVERFLOW != 0 {
        match rtos::entry::task_of::<K>(psp) {
            Some(task) => K::Port::fatal::<K>(format_args!("the stack of task {task} overflowed at {psp:#010x}")),
            None => K::Port::fatal::<K>(format_args!("a stack overflowed at {psp:#010x}")),
        }
    }
    K::Port::fatal::<K>(format_args!("fault {status:#010x} at {pc:#010x}"))
}

/// A call of the emulator.
#[unsafe(naked)]
#[unsafe(no_mangle)]
unsafe extern "C" fn semihosting_call(_: u32, _: *const u8) -> u32 {
    naked_asm!("bkpt 0xAB", "bx lr")
}
