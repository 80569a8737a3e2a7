//! The interrupt controller (NVIC) and the priorities.
//!
//! Three bits of priority: 0 is above the kernel, 1 locks it, 2 to 6 are ITRON's -5 to -1, and 7 is PendSV.

use core::marker::PhantomData;

use rtos::Interrupt;
use rtos::port::Lines;

use crate::board::Board;

const ENABLE: *mut u32 = 0xE000_E100 as *mut u32;
const DISABLE: *mut u32 = 0xE000_E180 as *mut u32;
const PEND: *mut u32 = 0xE000_E200 as *mut u32;
const UNPEND: *mut u32 = 0xE000_E280 as *mut u32;
const PRIORITY: *mut u8 = 0xE000_E400 as *mut u8;
const SHPR2: *mut u32 = 0xE000_ED1C as *mut u32;
const SHPR3: *mut u32 = 0xE000_ED20 as *mut u32;

/// How many lines the boards have.
const COUNT: u32 = 124;

/// The highest priority that the kernel manages.
pub(crate) const HIGHEST: i32 = -5;

/// A priority from -1 to [`HIGHEST`], as BASEPRI and the controller have it.
pub(crate) fn level(priority: i32) -> u32 {
    ((7 + priority.clamp(HIGHEST, -1)) as u32) << 5
}

/// Sets PendSV below everything, SVC above, and the lines that the kernel was told of.
pub(crate) fn configure(processor: usize, interrupts: &[Interrupt]) {
    // SAFETY: the priorities of SVC and PendSV, before either is used.
    unsafe {
        SHPR2.write_volatile(0);
        SHPR3.write_volatile(0xE0 << 16);
    }
    for interrupt in interrupts.iter().filter(|interrupt| interrupt.processor() == processor) {
        set_priority(interrupt.line(), interrupt.level());
        if interrupt.starts_enabled() {
            enable(interrupt.line());
        }
    }
}

/// Sets the priority of a line.
pub(crate) fn set_priority(line: u32, priority: i32) {
    if line < COUNT {
        // SAFETY: a register of the controller.
        unsafe { PRIORITY.add(line as usize).write_volatile(level(priority) as u8) };
    }
}

fn write(registers: *mut u32, line: u32) -> bool {
    let exists = line < COUNT;
    if exists {
        // SAFETY: a register of the controller; a zero bit changes nothing.
        unsafe { registers.add(line as usize / 32).write_volatile(1 << (line % 32)) };
    }
    exists
}

/// Lets a line of this processor through.
pub(crate) fn enable(line: u32) {
    write(ENABLE, line);
}

/// Makes a line pending on this processor.
pub(crate) fn raise(line: u32) -> bool {
    write(PEND, line)
}

/// Makes a line not pending on this processor.
pub(crate) fn clear(line: u32) -> bool {
    write(UNPEND, line)
}

/// The interrupt controller of a processor.
pub struct Nvic<B>(PhantomData<B>);

impl<B: Board> Lines for Nvic<B> {
    const EACH: bool = true;

    /// The kernel's own are not the user's.
    fn exists(line: u32) -> bool {
        line < COUNT && !B::OWN_LINES.contains(&line)
    }

    fn enable(line: u32) {
        enable(line);
    }

    fn disable(line: u32) {
        write(DISABLE, line);
    }

    fn raise(line: u32) -> bool {
        raise(line)
    }

    fn clear(line: u32) -> bool {
        clear(line)
    }

    fn pending(line: u32) -> bool {
        // SAFETY: reads a register of the controller.
        line < COUNT && unsafe { PEND.add(line as usize / 32).read_volatile() } & (1 << (line % 32)) != 0
    }
}
