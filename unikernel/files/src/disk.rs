//! What the files lie on.

use core::fmt;

/// A device of blocks that may keep what is written in a cache of its own until it is flushed.
pub trait Disk {
    fn geometry(&self) -> Geometry;

    /// Reads whole blocks, `into.len()` bytes from block `block` on.
    ///
    /// # Errors
    /// What the device says. `into` may have been written to.
    fn read(&mut self, block: u64, into: &mut [u8]) -> Result<(), DiskError>;

    /// Writes whole blocks. When it returns the device has them, and keeps them over a power cut if a flush that begins later ends
    /// well.
    ///
    /// # Errors
    /// What the device says. Any of the blocks may have been written.
    fn write(&mut self, block: u64, from: &[u8]) -> Result<(), DiskError>;

    /// Makes every write that has returned durable.
    ///
    /// # Errors
    /// What the device says. What of the writes is durable is then unknown.
    fn flush(&mut self) -> Result<(), DiskError>;
}

/// The shape of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Geometry {
    /// Bytes of a block, which is written whole or not at all: a power of two from 512 to 4096.
    pub block_size: u32,
    pub blocks: u64,
}

impl Geometry {
    pub(crate) fn is_sound(self) -> bool {
        self.block_size.is_power_of_two() && (512..=4096).contains(&self.block_size)
    }
}

/// Why a device did not do what was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DiskError {
    /// It could not be read or written there.
    Io,
    /// What the device lies on is full.
    NoSpace,
    /// It may only be read.
    ReadOnly,
    /// A flush of it has failed before, and nothing is known of what it holds.
    Failed,
    /// The request was not one that it takes.
    Invalid,
}

impl fmt::Display for DiskError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Io => "the device reports an input or output error",
            Self::NoSpace => "what the device lies on is full",
            Self::ReadOnly => "the device may only be read",
            Self::Failed => "a flush of the device has failed, so that nobody knows what it holds",
            Self::Invalid => "the device does not take such a request",
        })
    }
}

impl core::error::Error for DiskError {}
