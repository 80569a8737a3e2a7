//! Standard output and input, for tasks and for code that ends the process. No buffer of the C library is in between,
//! since a task that is preempted would leave that buffer locked.

use std::fmt::Write;

use crate::interrupts::unlock;
use crate::machine::lock;

/// Prints text, all of it at once, also if other tasks print.
pub fn print(what: std::fmt::Arguments<'_>) {
    let mask = lock();
    let mut text = Text { bytes: [0; 512], length: 0 };
    // What does not fit is cut off.
    let _ = text.write_fmt(what);
    put(&text.bytes[..text.length]);
    unlock(mask);
}

/// Prints bytes as they are, all of them at once.
pub fn write(bytes: &[u8]) {
    let mask = lock();
    put(bytes);
    unlock(mask);
}

/// Writes to the standard output, until it takes no more.
fn put(mut bytes: &[u8]) {
    while !bytes.is_empty() {
        // SAFETY: these bytes are there.
        match usize::try_from(unsafe { libc::write(1, bytes.as_ptr().cast(), bytes.len()) }) {
            Ok(written @ 1..) => bytes = &bytes[written..],
            _ => return,
        }
    }
}

/// Reads what is there of the standard input, without waiting. Gives how many bytes.
pub fn read(to: &mut [u8]) -> usize {
    let mut input = libc::pollfd { fd: 0, events: libc::POLLIN, revents: 0 };
    // SAFETY: the description of the one file is complete.
    if unsafe { libc::poll(&mut input, 1, 0) } != 1 {
        return 0;
    }
    // SAFETY: writes no more than fits. What an interrupt keeps from being read is there the next time.
    let length = unsafe { libc::read(0, to.as_mut_ptr().cast(), to.len()) };
    usize::try_from(length).unwrap_or(0)
}

struct Text {
    bytes: [u8; 512],
    length: usize,
}

impl Write for Text {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        let room = &mut self.bytes[self.length..];
        let length = room.len().min(text.len());
        room[..length].copy_from_slice(&text.as_bytes()[..length]);
        self.length += length;
        Ok(())
    }
}

/// Ends the process, whatever its threads are in.
pub(crate) fn exit(status: u32) -> ! {
    // SAFETY: nothing of this process is used any more.
    unsafe { libc::_exit(status as i32) }
}
