//! Semihosting, Arm's interface between a program and its emulator: output, and the end of the program.
#![no_std]

use core::fmt::{self, Write};

unsafe extern "C" {
    /// The port's way to call the emulator, with the operation and its argument in r0 and r1.
    fn semihosting_call(operation: u32, argument: *const u8) -> u32;
}

fn call(operation: u32, argument: *const u8) {
    // SAFETY: the emulator reads the argument, and changes r0.
    unsafe { semihosting_call(operation, argument) };
}

/// Operations: a character, and a string with a byte of 0 at its end.
const WRITE_CHARACTER: u32 = 3;
const WRITE_STRING: u32 = 4;

struct Terminal {
    line: [u8; 120],
    length: usize,
}

impl Terminal {
    fn flush(&mut self) {
        self.line[self.length] = 0;
        call(WRITE_STRING, self.line.as_ptr());
        self.length = 0;
    }
}

impl Terminal {
    fn put(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            if byte == 0 {
                // Which would end the line for the emulator.
                self.flush();
                call(WRITE_CHARACTER, &raw const byte);
                continue;
            }
            self.line[self.length] = byte;
            self.length += 1;
            if self.length == self.line.len() - 1 {
                self.flush();
            }
        }
    }
}

impl Write for Terminal {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.put(text.as_bytes());
        Ok(())
    }
}

/// Prints text as it is.
pub fn print(what: fmt::Arguments<'_>) {
    let mut terminal = Terminal { line: [0; 120], length: 0 };
    // Nothing in it fails.
    let _ = terminal.write_fmt(what);
    terminal.flush();
}

/// Prints bytes as they are.
pub fn write(bytes: &[u8]) {
    let mut terminal = Terminal { line: [0; 120], length: 0 };
    terminal.put(bytes);
    terminal.flush();
}

/// Ends the emulator with that status.
pub fn exit(status: u32) -> ! {
    const APPLICATION_EXIT: u32 = 0x20026;
    let arguments = [APPLICATION_EXIT, status];
    loop {
        call(0x20, arguments.as_ptr().cast());
    }
}
