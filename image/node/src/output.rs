//! What a program says, a piece at a time: each call of the kernel has its price.

use core::fmt::{self, Write};

use crate::sys::files;

const PIECE: usize = 128;

/// Text on its way to an open descriptor. What cannot be written, because nobody reads any more, is lost.
#[derive(Debug)]
pub struct Output {
    fd: usize,
    piece: [u8; PIECE],
    filled: usize,
}

impl Output {
    pub fn to(fd: usize) -> Self {
        Self { fd, piece: [0; PIECE], filled: 0 }
    }

    /// Lets it go now.
    pub fn flush(&mut self) {
        let _ = files::write_all(self.fd, &self.piece[..self.filled]);
        self.filled = 0;
    }
}

impl Write for Output {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let mut bytes = text.as_bytes();
        while !bytes.is_empty() {
            let taken = bytes.len().min(PIECE - self.filled);
            self.piece[self.filled..self.filled + taken].copy_from_slice(&bytes[..taken]);
            self.filled += taken;
            bytes = &bytes[taken..];
            if self.filled == PIECE {
                self.flush();
            }
        }
        Ok(())
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        self.flush();
    }
}

/// Writes to the standard output.
#[macro_export]
macro_rules! print {
    ($($text:tt)*) => {{
        use core::fmt::Write as _;
        let _ = write!($crate::output::Output::to(1), $($text)*);
    }};
}

/// Writes a line to the standard output.
#[macro_export]
macro_rules! println {
    () => { $crate::print!("\n") };
    ($($text:tt)*) => { $crate::print!("{}\n", format_args!($($text)*)) };
}

/// Writes a line to the standard error.
#[macro_export]
macro_rules! eprintln {
    ($($text:tt)*) => {{
        use core::fmt::Write as _;
        let _ = writeln!($crate::output::Output::to(2), $($text)*);
    }};
}
