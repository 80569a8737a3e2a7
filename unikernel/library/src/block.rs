//! Block devices.

use core::fmt;
use core::time::Duration;

use alloc::string::String;
use alloc::vec::Vec;
use unikernel_abi::call::Op;
use unikernel_abi::{Counts, Device, Durability, Status};
use unikernel_files::{Disk, DiskError, Geometry};

use crate::aligned::PageAligned;
use crate::system;

/// Data that is not aligned as the device wants it goes through memory that is, so many bytes at a time.
const BOUNCE: usize = 64 << 10;

/// A block device that the program was given. There is one owner of each.
#[derive(Debug)]
pub struct BlockDevice {
    device: Device,
    number: usize,
    /// A block has two to the power of this bytes.
    shift: u32,
    counts: Counts,
    bounce: Option<PageAligned>,
}

/// How requests reach whoever does them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interface {
    /// A call for each block.
    Blocks,
    /// A call for each request.
    Calls,
    /// Rings of requests in memory.
    Rings {
        /// How long each side looks for what the other does before it sleeps.
        poll: Duration,
    },
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
        let device = system::devices()[number];
        let shift = device.block_size.trailing_zeros();
        Ok(Self { device, number, shift, counts: Counts::default(), bounce: None })
    }

    /// Bytes of a block: what is written whole or not at all.
    pub fn block_size(&self) -> usize {
        1 << self.shift
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

    /// How requests reach whoever does them.
    pub fn interface(&self) -> Interface {
        let Device { rings, poll_ns, most_bytes, block_size, .. } = self.device;
        match rings {
            0 if most_bytes == u64::from(block_size) => Interface::Blocks,
            0 => Interface::Calls,
            _ => Interface::Rings { poll: Duration::from_nanos(poll_ns) },
        }
    }

    /// What was asked of it since it was opened.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    fn count(&mut self, more: Counts) {
        self.counts.add(more);
        system::count(self.number, more);
    }

    /// Reads whole blocks, from block `block` on.
    ///
    /// # Errors
    /// What became of it instead.
    pub fn read(&mut self, block: u64, into: &mut [u8]) -> Result<(), Status> {
        self.check(block, into.len())?;
        self.count(Counts { reads: 1, bytes_read: into.len() as u64, ..Counts::default() });
        let (device, shift) = (&self.device, self.shift);
        let at = |byte: usize| block + (byte >> shift) as u64;
        let most = device.most_bytes as usize;
        if self.takes(into.as_ptr()) {
            if (1..=most).contains(&into.len()) {
                return system::read(device, block, into);
            }
            return into
                .chunks_mut(most)
                .enumerate()
                .try_for_each(|(n, piece)| system::read(device, at(n * most), piece));
        }
        let bounce = self.bounce.get_or_insert_with(|| PageAligned::new(BOUNCE));
        into.chunks_mut(BOUNCE).enumerate().try_for_each(|(n, piece)| {
            let bounce = &mut bounce[..piece.len()];
            system::read(device, at(n * BOUNCE), bounce)?;
            piece.copy_from_slice(bounce);
            Ok(())
        })
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
        self.alive()?;
        self.count(Counts { writes: 1, bytes_written: from.len() as u64, ..Counts::default() });
        let done = self.write_pieces(op, block, from);
        if op == Op::WriteDurable && matches!(done, Err(Status::Io | Status::Failed)) {
            return self.fail();
        }
        done
    }

    fn write_pieces(&mut self, op: Op, block: u64, from: &[u8]) -> Result<(), Status> {
        let (device, shift) = (&self.device, self.shift);
        let at = |byte: usize| block + (byte >> shift) as u64;
        let most = device.most_bytes as usize;
        if self.takes(from.as_ptr()) {
            if (1..=most).contains(&from.len()) {
                return system::write(device, op, block, from);
            }
            return from
                .chunks(most)
                .enumerate()
                .try_for_each(|(n, piece)| system::write(device, op, at(n * most), piece));
        }
        let bounce = self.bounce.get_or_insert_with(|| PageAligned::new(BOUNCE));
        from.chunks(BOUNCE).enumerate().try_for_each(|(n, piece)| {
            let bounce = &mut bounce[..piece.len()];
            bounce.copy_from_slice(piece);
            system::write(device, op, at(n * BOUNCE), bounce)
        })
    }

    /// Whether it takes data that lies there as it is.
    fn takes(&self, data: *const u8) -> bool {
        (data as usize) & (self.alignment() - 1) == 0
    }

    /// What data is aligned to that it takes without copying it.
    pub fn alignment(&self) -> usize {
        self.device.alignment.max(1) as usize
    }

    /// Makes durable every write that has returned.
    ///
    /// # Errors
    /// What became of it instead. Then nobody knows what the device holds, and every later write and flush fails.
    pub fn flush(&mut self) -> Result<(), Status> {
        self.alive()?;
        self.count(Counts { flushes: 1, ..Counts::default() });
        system::flush(&self.device).or_else(|_| self.fail())
    }

    /// Linux tells of what it could not make durable once, and forgets it then: what is asked later would seem to be in order.
    fn fail(&self) -> Result<(), Status> {
        system::fail(self.number);
        Err(Status::Failed)
    }

    fn alive(&self) -> Result<(), Status> {
        if system::has_failed(self.number) { Err(Status::Failed) } else { Ok(()) }
    }

    fn check(&self, block: u64, len: usize) -> Result<(), Status> {
        if len & (self.block_size() - 1) != 0 {
            return Err(Status::Invalid);
        }
        let end = block.checked_add((len >> self.shift) as u64);
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
