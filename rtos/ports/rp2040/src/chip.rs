//! The chip around the processors: the FIFO between them, and the timer. Source: RP2040 Datasheet, 2.3.1 (SIO) and 4.6
//! (timer).

use crate::lines;

const FIFO_ST: *mut u32 = 0xD000_0050 as *mut u32;
const FIFO_WR: *mut u32 = 0xD000_0054 as *mut u32;
const FIFO_RD: *const u32 = 0xD000_0058 as *const u32;
const VALID: u32 = 1 << 0;
const READY: u32 = 1 << 1;

const TIMER: usize = 0x4005_4000;
const ALARM: *mut u32 = (TIMER + 0x10) as *mut u32;
const ARMED: *mut u32 = (TIMER + 0x20) as *mut u32;
const RAW_LOW: *const u32 = (TIMER + 0x28) as *const u32;
const INTR: *mut u32 = (TIMER + 0x34) as *mut u32;
const INTE_SET: *mut u32 = (TIMER + 0x38 + 0x2000) as *mut u32;

const RESETS_CLEAR: *mut u32 = (0x4000_C000 + 0x3000) as *mut u32;
const RESET_DONE: *const u32 = 0x4000_C008 as *const u32;
const RESET_TIMER: u32 = 1 << 21;
const RESET_UART0: u32 = 1 << 22;

/// Takes timer and UART out of reset.
pub(crate) fn wake_peripherals() {
    let wanted = RESET_TIMER | RESET_UART0;
    // SAFETY: only clears these two bits, and waits for them.
    unsafe {
        RESETS_CLEAR.write_volatile(wanted);
        while RESET_DONE.read_volatile() & wanted != wanted {}
    }
}

/// Lets the interrupt of this processor's alarm through.
pub(crate) fn initialise(processor: usize) {
    // SAFETY: sets the bit of this processor's alarm.
    unsafe { INTE_SET.write_volatile(1 << processor) };
}

#[inline(always)]
pub(crate) fn now() -> u32 {
    // SAFETY: reads a register.
    unsafe { RAW_LOW.read_volatile() }
}

/// Sets this processor's alarm.
pub(crate) fn alarm(processor: usize, after: u32) {
    if after == 0 {
        lines::raise(lines::timer(processor));
        return;
    }
    let at = now().wrapping_add(after);
    // SAFETY: the alarm is this processor's alone.
    unsafe { ALARM.add(processor).write_volatile(at) };
    // The alarm rings when the time is equal. If it has just passed, it would ring an hour later.
    if at.wrapping_sub(now()).cast_signed() <= 0 {
        lines::raise(lines::timer(processor));
    }
}

/// The alarm has rung, or is not to ring any more.
pub(crate) fn quiet_timer(processor: usize) {
    // SAFETY: the bits of this processor's alarm.
    unsafe {
        ARMED.write_volatile(1 << processor);
        INTR.write_volatile(1 << processor);
    }
    lines::clear(lines::timer(processor));
}

/// Interrupts the other processor. If the FIFO is full, it has been interrupted and not looked yet.
pub(crate) fn interrupt_other() {
    // SAFETY: this processor's end of the FIFO.
    unsafe {
        if FIFO_ST.read_volatile() & READY != 0 {
            FIFO_WR.write_volatile(1);
        }
    }
}

/// Empties the FIFO to this processor.
pub(crate) fn quiet_mailbox(processor: usize) {
    // SAFETY: this processor's end of the FIFO.
    unsafe {
        while FIFO_ST.read_volatile() & VALID != 0 {
            FIFO_RD.read_volatile();
        }
        FIFO_ST.write_volatile(0);
    }
    lines::clear(lines::mailbox(processor));
}

/// Sends a word to the other processor. Whether it answers with the same.
pub(crate) fn ask(word: u32) -> bool {
    // SAFETY: this processor's end of the FIFO, before the kernel uses it.
    unsafe {
        while FIFO_ST.read_volatile() & READY == 0 {}
        FIFO_WR.write_volatile(word);
        core::arch::asm!("sev", options(nostack, preserves_flags));
        while FIFO_ST.read_volatile() & VALID == 0 {}
        FIFO_RD.read_volatile() == word
    }
}
