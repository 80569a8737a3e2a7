//! The interrupt controller (NVIC) and the priorities.
//!
//! Two bits of priority: 0 to 2 are ITRON's -3 to -1, and 3 is PendSV. The lines that the kernel lets through, and
//! those that chg_ipm holds back, are kept for each processor, because each processor has its own controller.

use core::marker::PhantomData;
use core::sync::atomic::{AtomicU8, AtomicU32, Ordering::Relaxed};

use rtos::Interrupt;
use rtos::port::Lines;

use crate::cores::Cores;

const ENABLE: *mut u32 = 0xE000_E100 as *mut u32;
const DISABLE: *mut u32 = 0xE000_E180 as *mut u32;
const PEND: *mut u32 = 0xE000_E200 as *mut u32;
const UNPEND: *mut u32 = 0xE000_E280 as *mut u32;
const PRIORITY: *mut u32 = 0xE000_E400 as *mut u32;
const SHPR3: *mut u32 = 0xE000_ED20 as *mut u32;

const COUNT: u32 = 26;

/// The highest priority.
pub(crate) const HIGHEST: i32 = -3;
/// The priority of a line of which nothing was said: the alarms and the FIFO.
const USUAL: u8 = 2;

struct Processor {
    enabled: AtomicU32,
    held_back: AtomicU32,
    /// The priority of each line, from 1 upwards.
    levels: [AtomicU8; COUNT as usize],
}

static PROCESSORS: [Processor; 2] = [const {
    Processor {
        enabled: AtomicU32::new(0),
        held_back: AtomicU32::new(0),
        levels: [const { AtomicU8::new(USUAL) }; COUNT as usize],
    }
}; 2];

fn this<C: Cores>() -> &'static Processor {
    &PROCESSORS[C::processor() & 1]
}

/// Sets PendSV below everything, and the lines that the kernel was told of.
pub(crate) fn configure<C: Cores>(processor: usize, interrupts: &[Interrupt]) {
    // SAFETY: the priority of PendSV, before it is used.
    unsafe { SHPR3.write_volatile(0xC0 << 16) };
    for line in 0..COUNT {
        set_priority::<C>(line, USUAL);
    }
    for interrupt in interrupts.iter().filter(|interrupt| interrupt.processor() == processor) {
        if interrupt.line() < COUNT {
            set_priority::<C>(interrupt.line(), interrupt.level().clamp(HIGHEST, -1).unsigned_abs() as u8);
            if interrupt.starts_enabled() {
                Nvic::<C>::enable(interrupt.line());
            }
        }
    }
    for line in own(processor) {
        Nvic::<C>::enable(line);
    }
}

/// The line of a processor's alarm.
pub(crate) const fn timer(processor: usize) -> u32 {
    processor as u32
}

/// The line of the FIFO to a processor.
pub(crate) const fn mailbox(processor: usize) -> u32 {
    15 + processor as u32
}

/// The lines that the kernel uses itself, on a processor.
fn own(processor: usize) -> impl Iterator<Item = u32> {
    [timer(processor), mailbox(processor)].into_iter()
}

fn set_priority<C: Cores>(line: u32, level: u8) {
    this::<C>().levels[line as usize].store(level, Relaxed);
    let shift = line % 4 * 8;
    // SAFETY: a register of the controller, of which this processor alone changes this byte. It has no bytes of its own.
    unsafe {
        let register = PRIORITY.add(line as usize / 4);
        let others = register.read_volatile() & !(0xff << shift);
        register.write_volatile(others | (3 - u32::from(level)) << 6 << shift);
    }
}

/// Lets only interrupts above that priority through; all, if it is 0.
pub(crate) fn mask<C: Cores>(priority: i32) {
    let mask = priority.clamp(HIGHEST, 0).unsigned_abs() as u8;
    let this = this::<C>();
    let held_back = (0..COUNT).filter(|&line| this.levels[line as usize].load(Relaxed) <= mask);
    let held_back = if mask == 0 { 0 } else { held_back.fold(0, |bits, line| bits | 1 << line) };
    this.held_back.store(held_back, Relaxed);
    // SAFETY: registers of the controller; a zero bit changes nothing.
    unsafe {
        DISABLE.write_volatile(held_back);
        ENABLE.write_volatile(this.enabled.load(Relaxed) & !held_back);
    }
}

/// Makes a line pending on this processor.
pub(crate) fn raise(line: u32) {
    // SAFETY: a register of the controller; a zero bit changes nothing.
    unsafe { PEND.write_volatile(1 << (line % 32)) };
}

/// Makes a line not pending on this processor.
pub(crate) fn clear(line: u32) {
    // SAFETY: a register of the controller; a zero bit changes nothing.
    unsafe { UNPEND.write_volatile(1 << (line % 32)) };
}

/// The interrupt controller of a processor.
pub struct Nvic<C>(PhantomData<C>);

impl<C: Cores> Lines for Nvic<C> {
    const EACH: bool = true;

    /// The kernel's own are not the user's.
    fn exists(line: u32) -> bool {
        line < COUNT && (0..C::NUMBER).all(|processor| !own(processor).any(|own| own == line))
    }

    fn enable(line: u32) {
        let (this, bit) = (this::<C>(), 1 << (line % 32));
        this.enabled.store(this.enabled.load(Relaxed) | bit, Relaxed);
        // SAFETY: a register of the controller; a zero bit changes nothing.
        unsafe { ENABLE.write_volatile(bit & !this.held_back.load(Relaxed)) };
    }

    fn disable(line: u32) {
        let (this, bit) = (this::<C>(), 1 << (line % 32));
        this.enabled.store(this.enabled.load(Relaxed) & !bit, Relaxed);
        // SAFETY: a register of the controller; a zero bit changes nothing.
        unsafe { DISABLE.write_volatile(bit) };
    }

    fn raise(line: u32) -> bool {
        raise(line);
        true
    }

    fn clear(line: u32) -> bool {
        clear(line);
        true
    }

    fn pending(line: u32) -> bool {
        // SAFETY: reads a register of the controller.
        unsafe { PEND.read_volatile() & 1 << (line % 32) != 0 }
    }
}
