//! Calls of a guest under hvt: a write of 32 bits, the address of a structure, to a place where there is no memory.
//!
//! Not to a port: code with the least privilege may not use ports under every kind of KVM.

/// The places, one for each kind of call, in a page that the guest may write to and that nothing is behind.
pub mod place {
    /// The page.
    pub const PAGE: u64 = 0xE000_0000;
    /// A [`super::Console`].
    pub const CONSOLE: u64 = PAGE;
    /// A [`super::Block`].
    pub const BLOCK: u64 = PAGE + 8;
    /// The value is the exit code itself.
    pub const EXIT: u64 = PAGE + 16;
    /// A [`super::Time`].
    pub const TIME: u64 = PAGE + 24;
    /// The monitor sleeps, and there is something in a ring. Nobody looks at the value.
    pub const DOORBELL: u64 = PAGE + 32;
    /// Until the monitor has put something into a ring.
    pub const WAIT: u64 = PAGE + 40;
}

/// Text for the console.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Console {
    pub text: u64,
    pub len: u64,
    /// 1 for what is a result, 2 for everything else, as descriptors are numbered.
    pub stream: u64,
}

/// One request to a block device, done when the call returns.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Block {
    /// The device's handle.
    pub device: u32,
    /// An [`Op`].
    pub op: u32,
    /// The first block.
    pub block: u64,
    pub data: u64,
    /// In bytes.
    pub len: u64,
    /// Set by the monitor: a [`crate::Status`].
    pub status: u32,
    pub reserved: u32,
}

/// The time of day, set by the monitor: nanoseconds since 1970.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Time {
    pub now: u64,
}

/// What is asked of a block device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Op {
    Read = 1,
    Write = 2,
    /// Durable before it is done (FUA).
    WriteDurable = 3,
    /// Makes durable what was written before it was asked for.
    Flush = 4,
}

impl Op {
    pub fn of(number: u32) -> Option<Self> {
        [Self::Read, Self::Write, Self::WriteDurable, Self::Flush].into_iter().find(|op| *op as u32 == number)
    }
}
