//! The interrupt controller of the Cortex-A9 MPCore (GIC architecture 1).
//!
//! Priorities have five bits, of which three are used: ITRON's -1 to -6 are 0xC0 to 0x20.

use core::marker::PhantomData;

use rtos::Interrupt;
use rtos::port::Lines;

use crate::boards::Board;

/// The software interrupt by which processors interrupt each other.
pub(crate) const MAILBOX: u32 = 0;
/// The first line that is not a processor's own.
const SHARED: u32 = 32;
const COUNT: u32 = 96;

/// The highest priority.
pub(crate) const HIGHEST: i32 = -6;
/// The priority of the timer and the mailbox.
const PRIORITY: i32 = -3;

fn interface<B: Board>(register: usize) -> *mut u32 {
    (B::PERIPHERALS + 0x100 + register) as *mut u32
}

fn distributor<B: Board>(register: usize) -> *mut u32 {
    (B::PERIPHERALS + 0x1000 + register) as *mut u32
}

fn level(priority: i32) -> u8 {
    ((7 + priority.clamp(HIGHEST, 0)) as u8) << 5
}

fn set_priority<B: Board>(line: u32, priority: i32) {
    // SAFETY: a byte of the distributor, for a line that exists.
    unsafe { distributor::<B>(0x400).cast::<u8>().add(line as usize).write_volatile(level(priority)) };
}

/// Tells the distributor whether an edge raises the line, or a level. Only before the line is enabled and other processors
/// start, which share the register.
fn set_edge<B: Board>(interrupt: &Interrupt) {
    let line = interrupt.line();
    if !Gic::<B>::exists(line) {
        return;
    }
    let register = distributor::<B>(0xC00).wrapping_add(line as usize / 16);
    let bit = 2 << (line % 16 * 2);
    // SAFETY: a register of the distributor, for a line that exists.
    unsafe {
        let others = register.read_volatile() & !bit;
        register.write_volatile(if interrupt.is_edge() { others | bit } else { others });
    }
}

/// Lets only interrupts above that priority through; all, if it is 0.
pub(crate) fn mask<B: Board>(priority: i32) {
    let level = if priority == 0 { 0xff } else { level(priority) };
    // SAFETY: the priority mask of this processor.
    unsafe { interface::<B>(4).write_volatile(level.into()) };
}

pub(crate) fn initialise<B: Board>(processor: usize, interrupts: &[Interrupt]) {
    mask::<B>(0);
    // SAFETY: this processor's interface, and the distributor, which processor 0 sets up before the others start.
    unsafe {
        interface::<B>(0).write_volatile(1);
        if processor == 0 {
            interrupts.iter().for_each(set_edge::<B>);
            distributor::<B>(0).write_volatile(1);
        }
    }
    for line in [MAILBOX, crate::timer::LINE] {
        set_priority::<B>(line, PRIORITY);
        Gic::<B>::enable(line);
    }
    for interrupt in interrupts.iter().filter(|interrupt| interrupt.processor() == processor) {
        let line = interrupt.line();
        if !Gic::<B>::exists(line) {
            continue;
        }
        set_priority::<B>(line, interrupt.level());
        // SAFETY: a byte of the distributor, for a line that exists.
        unsafe { distributor::<B>(0x800).cast::<u8>().add(line as usize).write_volatile(1 << processor) };
        if interrupt.starts_enabled() {
            Gic::<B>::enable(line);
        }
    }
}

/// Takes the interrupt that has come, lets higher ones come meanwhile, and says that it is over.
pub(crate) fn serve<B: Board>(handler: impl FnOnce(u32)) {
    const SPURIOUS: u32 = 1023;
    // SAFETY: this processor's interface. Interrupts are off, as the vector left them, and are so again at the end.
    unsafe {
        let acknowledged = interface::<B>(0xC).read_volatile();
        let line = acknowledged & 0x3ff;
        if line == SPURIOUS {
            return;
        }
        core::arch::asm!("cpsie i", options(nostack, preserves_flags));
        handler(line);
        core::arch::asm!("cpsid i", options(nostack, preserves_flags));
        interface::<B>(0x10).write_volatile(acknowledged);
    }
}

pub(crate) fn interrupt<B: Board>(processor: usize) {
    // SAFETY: raises the software interrupt on that processor, after what was written before.
    unsafe {
        core::arch::asm!("dsb", options(nostack, preserves_flags));
        distributor::<B>(0xF00).write_volatile(1 << (16 + processor) | MAILBOX);
    }
}

/// The interrupt lines.
pub struct Gic<B>(PhantomData<B>);

impl<B: Board> Gic<B> {
    fn write(registers: usize, line: u32) -> bool {
        let exists = line < COUNT;
        if exists {
            // SAFETY: a register of the distributor; a zero bit changes nothing.
            unsafe { distributor::<B>(registers).add(line as usize / 32).write_volatile(1 << (line % 32)) };
        }
        exists
    }
}

impl<B: Board> Lines for Gic<B> {
    const EACH: bool = false;

    fn exists(line: u32) -> bool {
        (SHARED..COUNT).contains(&line)
    }

    fn enable(line: u32) {
        Self::write(0x100, line);
    }

    fn disable(line: u32) {
        Self::write(0x180, line);
    }

    fn raise(line: u32) -> bool {
        Self::write(0x200, line)
    }

    fn clear(line: u32) -> bool {
        Self::write(0x280, line)
    }

    fn pending(line: u32) -> bool {
        // SAFETY: reads a register of the distributor.
        line < COUNT
            && unsafe { distributor::<B>(0x200).add(line as usize / 32).read_volatile() } & 1 << (line % 32) != 0
    }
}
