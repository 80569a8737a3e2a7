//! How much memory there is.

use crate::system;

/// The memory of the program, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memory {
    /// For what is allocated.
    pub heap: u64,
    /// Of which so many are in use.
    pub used: u64,
}

/// The memory of the program; `None` as a program of Linux, which has what the system gives it.
pub fn memory() -> Option<Memory> {
    system::memory().map(|(heap, used)| Memory { heap, used })
}
