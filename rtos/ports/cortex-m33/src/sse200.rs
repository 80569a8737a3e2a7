//! The subsystem SSE-200 of Arm, which both boards have: the processor's number, timers, and the mailbox between
//! processors. All addresses are secure ones. Source: Arm, CoreLink SSE-200 Subsystem for Embedded, Technical Reference
//! Manual.

use core::cell::UnsafeCell;

use crate::{basepri, boot, lines};

const CPU_IDENTITY: *const u32 = 0x5001_F000 as *const u32;
const INITSVTOR1: *mut u32 = 0x5002_1114 as *mut u32;
const CPUWAIT: *mut u32 = 0x5002_1118 as *mut u32;

/// A timer for each processor, which counts down to its interrupt.
const TIMERS: [*mut u32; 2] = [0x5000_0000 as *mut u32, 0x5000_1000 as *mut u32];
/// One that runs freely, down, for the time.
const DUAL_TIMER: *mut u32 = 0x5000_2000 as *mut u32;
const MHU: *mut u32 = 0x5000_3000 as *mut u32;

/// The line of the timer of processor 0; that of processor 1 is the next.
const TIMER: u32 = 3;
/// The line of the mailbox.
pub(crate) const MAILBOX: u32 = 6;

/// The priority of the timer and the mailbox.
const PRIORITY: i32 = -3;

#[inline(always)]
pub(crate) fn processor() -> usize {
    // SAFETY: reads a register.
    unsafe { CPU_IDENTITY.read_volatile() as usize }
}

pub(crate) fn timer_line(processor: usize) -> u32 {
    TIMER + processor as u32
}

pub(crate) fn initialise(processor: usize, processors: usize) {
    if processor == 0 {
        // SAFETY: the timer is used for the time only. 32 bits, free-running, from the top.
        unsafe {
            DUAL_TIMER.add(2).write_volatile(0);
            DUAL_TIMER.write_volatile(u32::MAX);
            DUAL_TIMER.add(2).write_volatile(1 << 7 | 1 << 1);
        }
    }
    let timer = TIMER + processor as u32;
    lines::set_priority(timer, PRIORITY);
    lines::enable(timer);
    if processors > 1 {
        lines::set_priority(MAILBOX, PRIORITY);
        lines::enable(MAILBOX);
    }
}

/// The microseconds so far, kept by each processor for itself, because it alone looks and changes them while it is locked.
/// All of them count the same ticks from zero and round in the same way.
struct Elapsed(UnsafeCell<(u32, u32)>);

// SAFETY: each processor uses its own, locked.
unsafe impl Sync for Elapsed {}

static ELAPSED: [Elapsed; 2] = [const { Elapsed(UnsafeCell::new((0, 0))) }; 2];

pub(crate) fn now<const MHZ: u32>(processor: impl FnOnce() -> usize) -> u32 {
    let mask = basepri::lock();
    // SAFETY: the processor is locked, and this is its own. The register is read only.
    let micros = unsafe {
        let elapsed = ELAPSED[processor() & 1].0.get();
        let (ticks, micros) = *elapsed;
        let passed = (!DUAL_TIMER.add(1).read_volatile()).wrapping_sub(ticks) / MHZ;
        let now = (ticks.wrapping_add(passed * MHZ), micros.wrapping_add(passed));
        *elapsed = now;
        now.1
    };
    // SAFETY: nothing follows.
    unsafe { basepri::unlock(mask) };
    micros
}

/// Sets this processor's timer.
pub(crate) fn alarm<const MHZ: u32>(processor: usize, after: u32) {
    let timer = TIMERS[processor & 1];
    // SAFETY: the timer is this processor's alone.
    unsafe {
        timer.write_volatile(0);
        timer.add(3).write_volatile(1);
        if after == 0 {
            lines::raise(timer_line(processor));
            return;
        }
        // The kernel asks again if there is still time then.
        let ticks = after.min(u32::MAX / MHZ / 2) * MHZ;
        // It rings once: what it would count down from after that, its reload value, is 0. QEMU's goes on to the second ring before an idle
        // processor hears the first one, when time goes by instructions.
        timer.add(2).write_volatile(0);
        timer.add(1).write_volatile(ticks);
        timer.write_volatile(1 << 3 | 1);
    }
}

pub(crate) fn quiet_timer(processor: usize) {
    let timer = TIMERS[processor & 1];
    // SAFETY: the timer is this processor's alone.
    unsafe {
        timer.write_volatile(0);
        timer.add(3).write_volatile(1);
    }
    lines::clear(timer_line(processor));
}

pub(crate) fn interrupt(processor: usize) {
    // SAFETY: sets a bit of the other processor's mailbox.
    unsafe { MHU.add(1 + 4 * (processor & 1)).write_volatile(1) };
}

pub(crate) fn quiet_mailbox(processor: usize) {
    // SAFETY: clears this processor's own mailbox.
    unsafe { MHU.add(2 + 4 * (processor & 1)).write_volatile(1) };
}

pub(crate) fn start_processor(_: usize) {
    // SAFETY: the other processor starts at its vectors.
    unsafe {
        INITSVTOR1.write_volatile((&raw const boot::SECOND) as u32);
        CPUWAIT.write_volatile(0);
    }
}
