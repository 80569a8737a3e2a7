//! Something that one thread waits for and another tells.

use std::io;
use std::os::fd::{AsRawFd as _, FromRawFd as _, OwnedFd};

/// Something that is waited for and told, in this process or another.
#[derive(Debug)]
pub(crate) struct Event(OwnedFd);

impl Event {
    pub fn new() -> io::Result<Self> {
        // SAFETY: the call takes two numbers.
        let descriptor = unsafe { libc::eventfd(0, libc::EFD_CLOEXEC) };
        if descriptor == -1 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: it was just opened, and is nobody else's.
        Ok(Self(unsafe { OwnedFd::from_raw_fd(descriptor) }))
    }

    pub fn descriptor(&self) -> i32 {
        self.0.as_raw_fd()
    }

    pub fn tell(&self) {
        let one = 1u64;
        // SAFETY: eight bytes are written of a number that is there. The counter would have to overflow for this to fail.
        unsafe { libc::write(self.descriptor(), (&raw const one).cast(), 8) };
    }

    /// Until it is told, if it was not already.
    pub fn wait(&self) {
        let mut count = 0u64;
        // SAFETY: eight bytes are read into a number that is there. Interrupted, whoever waits looks again.
        unsafe { libc::read(self.descriptor(), (&raw mut count).cast(), 8) };
    }
}
