//! The global timer: 64 bits, one for all processors, with a comparator for each.

use crate::boards::Board;

/// The line of the comparator, of each processor its own.
pub(crate) const LINE: u32 = 27;

/// The timer's clock in the emulator, in MHz, which the prescaler makes one.
const MHZ: u32 = 100;
const RUN: u32 = (MHZ - 1) << 8 | 1;
const COMPARE: u32 = 1 << 1;
const INTERRUPT: u32 = 1 << 2;

fn register<B: Board>(offset: usize) -> *mut u32 {
    (B::PERIPHERALS + 0x200 + offset) as *mut u32
}

pub(crate) fn initialise<B: Board>(_: usize) {
    // SAFETY: starts the counter; the comparator of this processor is off.
    unsafe { register::<B>(8).write_volatile(RUN) };
}

#[inline(always)]
pub(crate) fn now<B: Board>() -> u32 {
    // SAFETY: reads a register.
    unsafe { register::<B>(0).read_volatile() }
}

/// Sets this processor's comparator.
pub(crate) fn alarm<B: Board>(after: u32) {
    // SAFETY: the comparator is this processor's alone.
    unsafe {
        register::<B>(8).write_volatile(RUN);
        let at = loop {
            let high = register::<B>(4).read_volatile();
            let low = register::<B>(0).read_volatile();
            if register::<B>(4).read_volatile() == high {
                break (u64::from(high) << 32 | u64::from(low)) + u64::from(after);
            }
        };
        register::<B>(0x10).write_volatile(at as u32);
        register::<B>(0x14).write_volatile((at >> 32) as u32);
        register::<B>(8).write_volatile(RUN | COMPARE | INTERRUPT);
    }
}

/// It has rung: it does not ring again.
pub(crate) fn quiet<B: Board>() {
    // SAFETY: the comparator is this processor's alone.
    unsafe {
        register::<B>(8).write_volatile(RUN);
        register::<B>(0xC).write_volatile(1);
    }
}
