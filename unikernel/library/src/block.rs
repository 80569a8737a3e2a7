//! Block devices.

use core::fmt;

use alloc::string::String;
use alloc::vec::Vec;
use unikernel_abi::call::Op;
use unikernel_abi::{Device, Durability, Status};
use unikernel_files::{Disk, DiskError, Geometry};

use crate::system;

/// A block device that the program was given. There is one owner of each.
#[derive(Debug)]
pub struct BlockDevice {
    device: Device,
    number: usize,
    statistics: Statistics,
}

/// What was asked of a device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Requests that read.
    pub reads: u64,
    /// Requests that wrote.
    pub writes: u64,
    /// Flushes, without those that are part of a durable write.
    pub flushes: u64,
    /// Bytes that were read.
    pub bytes_read: u64,
    /// Bytes that were written.
    pub bytes_written: u64,
}

/// Why a device cannot be opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BlockError {
    /// The program was not given a device of that name; it has these.
    NotGiven(String, Vec<String>),
    /// It was opened before, and its owner is still there.
    InUse(String),
}

impl fmt::Display for BlockError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotGiven(name, given) if given.is_empty() => {
                write!(f, "no block device {name:?} was given, and no other (--block {name}=FILE)")
            }
            Self::NotGiven(name, given) => {
                write!(f, "no block device {name:?} was given, but {} (--block {name}=FILE)", given.join(", "))
            }
            Self::InUse(name) => write!(f, "the block device {name:?} is in use"),
        }
    }
}

impl core::error::Error for BlockError {}

/// The names of the devices that the program was given.
pub fn devices() -> Vec<String> {
    system::devices().iter().map(|device| device.name().into()).collect()
}

impl BlockDevice {
    /// The device of that name.
    ///
    /// # Errors
    /// If the program was not given it, or it is in use.
    pub fn open(name: &str) -> Result<Self, BlockError> {
        let found = system::devices().iter().position(|device| device.name() == name);
        let number = found.ok_or_else(|| BlockError::NotGiven(name.into(), devices()))?;
        if !system::take(number) {
            return Err(BlockError::InUse(name.into()));
        }
        Ok(Self { device: system::devices()[number], number, statistics: Statistics::default() })
    }

    /// Bytes of a block: what is written whole or not at all.
    pub fn block_size(&self) -> usize {
        self.device.block_size as usize
    }

    /// How many blocks it has.
    pub fn blocks(&self) -> u64 {
        self.device.blocks
    }

    /// Whether it may only be read.
    pub fn is_read_only(&self) -> bool {
        self.device.read_only != 0
    }

    /// What a flush does.
    pub fn durability(&self) -> Durability {
        Durability::of(self.device.durability).unwrap_or(Durability::Unsafe)
    }

    /// What was asked of it since it was opened.
    pub fn statistics(&self) -> Statistics {
        self.statistics
    }

    /// Reads whole blocks, from block `block` on.
    ///
    /// # Errors
    /// What became of it instead.
    pub fn read(&mut self, block: u64, into: &mut [u8]) -> Result<(), Status> {
        self.check(block, into.len())?;
        self.statistics.reads += 1;
        self.statistics.bytes_read += into.len() as u64;
        let most = self.device.most_bytes as usize;
        for (n, piece) in into.chunks_mut(most).enumerate() {
            let at = block + (n * most / self.block_size()) as u64;
            system::read(&self.device, at, piece)?;
        }
        Ok(())
    }

    /// Writes whole blocks, from block `block` on. They are durable after a [flush](Self::flush) that begins later.
    ///
    /// # Errors
    /// What became of it instead. Any of the blocks may have been written.
    pub fn write(&mut self, block: u64, from: &[u8]) -> Result<(), Status> {
        self.write_as(Op::Write, block, from)
    }

    /// Writes whole blocks that are durable when it returns, whatever became of other writes.
    ///
    /// # Errors
    /// What became of it instead. Any of the blocks may have been written.
    pub fn write_durable(&mut self, block: u64, from: &[u8]) -> Result<(), Status> {
        self.write_as(Op::WriteDurable, block, from)
    }

    fn write_as(&mut self, op: Op, block: u64, from: &[u8]) -> Result<(), Status> {
        self.check(block, from.len())?;
        if self.is_read_only() {
            return Err(Status::ReadOnly);
        }
        self.statistics.writes += 1;
        self.statistics.bytes_written += from.len() as u64;
        let most = self.device.most_bytes as usize;
        for (n, piece) in from.chunks(most).enumerate() {
            let at = block + (n * most / self.block_size()) as u64;
            system::write(&self.device, op, at, piece)?;
        }
        Ok(())
    }

    /// Makes durable every write that has returned.
    ///
    /// # Errors
    /// What became of it instead. Then nobody knows what the device holds, and every later write and flush fails.
    pub fn flush(&mut self) -> Result<(), Status> {
        self.statistics.flushes += 1;
        system::flush(&self.device)
    }

    fn check(&self, block: u64, len: usize) -> Result<(), Status> {
        if !len.is_multiple_of(self.block_size()) {
            return Err(Status::Invalid);
        }
        let end = block.checked_add((len / self.block_size()) as u64);
        if end.is_some_and(|end| end <= self.blocks()) { Ok(()) } else { Err(Status::Range) }
    }
}

impl Drop for BlockDevice {
    fn drop(&mut self) {
        system::give_back(self.number);
    }
}

impl Disk for BlockDevice {
    fn geometry(&self) -> Geometry {
        Geometry { block_size: self.device.block_size, blocks: self.device.blocks }
    }

    fn read(&mut self, block: u64, into: &mut [u8]) -> Result<(), DiskError> {
        BlockDevice::read(self, block, into).map_err(disk_error)
    }

    fn write(&mut self, block: u64, from: &[u8]) -> Result<(), DiskError> {
        BlockDevice::write(self, block, from).map_err(disk_error)
    }

    fn flush(&mut self) -> Result<(), DiskError> {
        BlockDevice::flush(self).map_err(disk_error)
    }
}

fn disk_error(status: Status) -> DiskError {
    match status {
        Status::NoSpace => DiskError::NoSpace,
        Status::ReadOnly => DiskError::ReadOnly,
        Status::Failed => DiskError::Failed,
        Status::Range | Status::Invalid | Status::Unsupported | Status::TooLarge => DiskError::Invalid,
        Status::Ok | Status::Io => DiskError::Io,
    }
}
