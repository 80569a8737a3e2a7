//! Words for whoever started the emulator: Arm's semihosting.
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

struct Terminal {
    line: [u8; 120],
    length: usize,
}

impl Terminal {
    fn flush(&mut self) {
        self.line[self.length] = 0;
        call(4, self.line.as_ptr());
        self.length = 0;
    }
}

impl Write for Terminal {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for &byte in text.as_bytes() {
            self.line[self.length] = byte;
            self.length += 1;
            if self.length == self.line.len() - 1 {
                self.flush();
            }
        }
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

/// Ends the emulator with that status.
pub fn exit(status: u32) -> ! {
    const APPLICATION_EXIT: u32 = 0x20026;
    let arguments = [APPLICATION_EXIT, status];
    loop {
        call(0x20, arguments.as_ptr().cast());
    }
}
