//! The vectors, the way from reset to the kernel, and faults.

use core::arch::naked_asm;

use rtos::{Interrupt, Kernel, Model, Port};

use crate::switch::pend_sv;
use crate::{Rp2040, chip, lines, terminal};

/// The vector table.
#[repr(C, align(256))]
pub struct Vectors {
    stack: unsafe extern "C" fn(),
    handlers: [unsafe extern "C" fn(); 15],
    lines: [unsafe extern "C" fn(); 32],
}

unsafe extern "C" {
    fn __stack0();
    fn __stack1();
    fn __vectors();
}

impl Vectors {
    /// The table of both processors.
    pub const fn new() -> Self {
        let mut handlers: [unsafe extern "C" fn(); 15] = [fault_entry; 15];
        handlers[0] = reset;
        handlers[13] = pend_sv;
        Vectors { stack: __stack0, handlers, lines: [line; 32] }
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
        "movs r0, #0",
        "bl {set_up}",
        ".ltorg",
        set_up = sym set_up,
    )
}

/// Processor 1 starts here.
#[unsafe(naked)]
unsafe extern "C" fn reset_second() {
    naked_asm!("movs r0, #1", "bl {set_up}", set_up = sym set_up)
}

/// Locks the processor of that number and gives it another stack than that of handlers.
#[unsafe(naked)]
unsafe extern "C" fn set_up() {
    naked_asm!(
        "cpsid i",
        "mov r1, sp",
        "ldr r2, =2048",
        "subs r1, r1, r2",
        "msr psp, r1",
        "movs r1, #2",
        "msr control, r1",
        "isb",
        "bl rtos_start",
        ".ltorg",
    )
}

/// Starts processor 1, as its boot ROM asks for: a sequence of words, each answered with itself. Source: RP2040
/// Datasheet, 2.8.2.
pub(crate) fn launch() {
    let words =
        [0, 0, 1, __vectors as *const () as u32, __stack1 as *const () as u32, reset_second as *const () as u32];
    while !words.iter().all(|&word| {
        if word == 0 {
            chip::quiet_mailbox();
        }
        chip::ask(word)
    }) {}
}

/// Sets up what the kernel uses, on each processor.
#[doc(hidden)]
pub fn initialise(processor: usize, interrupts: &[Interrupt]) {
    if processor == 0 {
        chip::wake_peripherals();
        terminal::initialise();
    }
    lines::configure(processor, interrupts);
    chip::initialise(processor);
}

/// An interrupt: tells the kernel which.
#[unsafe(naked)]
unsafe extern "C" fn line() {
    naked_asm!("push {{r4, lr}}", "mrs r0, ipsr", "subs r0, #16", "bl rtos_interrupt", "pop {{r4, pc}}",)
}

/// What a line is for.
#[doc(hidden)]
pub fn interrupt<K: Kernel>(line: u32) {
    if chip::is_timer(line) {
        chip::quiet_timer();
        rtos::entry::tick::<K>();
    } else if K::Model::PROCESSORS > 1 && chip::is_mailbox(line) {
        chip::quiet_mailbox();
        rtos::entry::interrupted::<K>();
    } else if !rtos::entry::interrupt::<K>(line) {
        Rp2040::fatal::<K>(format_args!("nobody serves interrupt {line}"));
    }
}

/// Whether the task that is to go on should give way instead.
#[doc(hidden)]
pub fn should_dispatch<K: Kernel>() -> bool {
    let mask = Rp2040::lock();
    let should = rtos::entry::should_dispatch::<K>();
    // SAFETY: nothing follows; a handler that comes now sets PendSV pending again if it has to.
    unsafe { Rp2040::unlock(mask) };
    should
}

#[unsafe(naked)]
unsafe extern "C" fn fault_entry() {
    naked_asm!("mrs r0, psp", "ldr r0, [r0, #24]", "bl rtos_fault")
}

/// Says where the fault was, and ends.
#[doc(hidden)]
pub fn fault<K: Kernel>(pc: usize) -> ! {
    Rp2040::fatal::<K>(format_args!("fault at {pc:#010x}"))
}

/// Says whose stack has overflowed, and ends.
#[doc(hidden)]
pub fn overflow<K: Kernel>(limit: usize) -> ! {
    match rtos::entry::task_of::<K>(limit) {
        Some(task) => Rp2040::fatal::<K>(format_args!("the stack of task {task} overflowed at {limit:#010x}")),
        None => Rp2040::fatal::<K>(format_args!("a stack overflowed at {limit:#010x}")),
    }
}
