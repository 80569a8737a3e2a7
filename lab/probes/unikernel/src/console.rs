//! The console, to which the lab listens.

use core::fmt;

use unikernel::print;

pub struct Console;

impl fmt::Write for Console {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        print!("{text}");
        Ok(())
    }
}
