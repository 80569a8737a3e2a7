//! The terminal: output over the first UART. The program's end is a byte that text does not have, followed by the status;
//! the same byte in the output is sent twice.

use core::fmt::{self, Write};

use crate::locks::with_terminal;
use crate::primask;

const DATA: *mut u32 = 0x4003_4000 as *mut u32;
const FLAGS: *const u32 = 0x4003_4018 as *const u32;
const CONTROL: *mut u32 = 0x4003_4030 as *mut u32;
const LINE_CONTROL: *mut u32 = 0x4003_402C as *mut u32;
const BAUD: *mut u32 = 0x4003_4024 as *mut u32;
const FULL: u32 = 1 << 5;

/// After this byte comes the status that the program ends with, which is another one.
const END: u8 = 4;

/// Switches the UART on: the fastest rate, 8 bits, with its FIFO.
pub(crate) fn initialise() {
    // SAFETY: the UART is used for this only.
    unsafe {
        BAUD.write_volatile(1);
        LINE_CONTROL.write_volatile(3 << 5 | 1 << 4);
        CONTROL.write_volatile(1 << 8 | 1);
    }
}

fn put(byte: u8) {
    // SAFETY: as above.
    unsafe {
        while FLAGS.read_volatile() & FULL != 0 {}
        DATA.write_volatile(byte.into());
    }
}

struct Terminal;

impl Write for Terminal {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        write(text.as_bytes());
        Ok(())
    }
}

/// Prints bytes as they are.
pub fn write(bytes: &[u8]) {
    for &byte in bytes {
        put(byte);
        if byte == END {
            put(byte);
        }
    }
}

/// Prints bytes all of them at once, whichever processor prints too. For a program on both.
pub fn write_alone(bytes: &[u8]) {
    let mask = primask::lock();
    with_terminal(|| write(bytes));
    // SAFETY: nothing follows.
    unsafe { primask::unlock(mask) };
}

/// Prints text as it is.
pub fn print(what: fmt::Arguments<'_>) {
    // Nothing in it fails.
    let _ = Terminal.write_fmt(what);
}

/// Prints text all of it at once, whichever processor prints too. For a program on both.
pub fn print_alone(what: fmt::Arguments<'_>) {
    let mask = primask::lock();
    with_terminal(|| print(what));
    // SAFETY: nothing follows.
    unsafe { primask::unlock(mask) };
}

/// Ends the program with that status.
pub fn exit(status: u32) -> ! {
    put(END);
    put(if status == END.into() { u8::MAX } else { status as u8 });
    loop {
        core::hint::spin_loop();
    }
}
