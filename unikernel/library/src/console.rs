//! Text for whoever started the program.

use core::fmt::{self, Write as _};

use crate::stream::Stream;
use crate::system;

/// Collects the pieces of one text, so that it goes out with one call.
struct Line {
    stream: Stream,
    text: [u8; 512],
    len: usize,
}

impl Line {
    fn send(&mut self) {
        system::console_write(self.stream, &self.text[..self.len]);
        self.len = 0;
    }
}

impl fmt::Write for Line {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let mut rest = text.as_bytes();
        while !rest.is_empty() {
            if self.len == self.text.len() {
                self.send();
            }
            let now = rest.len().min(self.text.len() - self.len);
            self.text[self.len..self.len + now].copy_from_slice(&rest[..now]);
            self.len += now;
            rest = &rest[now..];
        }
        Ok(())
    }
}

#[doc(hidden)]
pub fn _write(stream: Stream, text: fmt::Arguments<'_>, newline: bool) {
    let mut line = Line { stream, text: [0; 512], len: 0 };
    // Only a `Display` of the program's own can fail here, and what it wrote before goes out.
    let _ = line.write_fmt(text);
    if newline {
        let _ = line.write_str("\n");
    }
    line.send();
}

/// Writes to the standard output.
#[macro_export]
macro_rules! print {
    ($($text:tt)*) => { $crate::_write($crate::Stream::Out, ::core::format_args!($($text)*), false) };
}

/// Writes a line to the standard output.
#[macro_export]
macro_rules! println {
    () => { $crate::_write($crate::Stream::Out, ::core::format_args!(""), true) };
    ($($text:tt)*) => { $crate::_write($crate::Stream::Out, ::core::format_args!($($text)*), true) };
}

/// Writes a line to the standard error output.
#[macro_export]
macro_rules! eprintln {
    () => { $crate::_write($crate::Stream::Error, ::core::format_args!(""), true) };
    ($($text:tt)*) => { $crate::_write($crate::Stream::Error, ::core::format_args!($($text)*), true) };
}
