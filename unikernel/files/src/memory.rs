//! A device in memory: for tests, and for files that need not last.

use alloc::vec;
use alloc::vec::Vec;

use crate::disk::{Disk, DiskError, Geometry};

/// A device whose blocks are a vector.
#[derive(Clone, Debug)]
pub struct Memory {
    block_size: u32,
    bytes: Vec<u8>,
}

impl Memory {
    /// Blocks of zeros.
    pub fn new(block_size: u32, blocks: usize) -> Self {
        Self { block_size, bytes: vec![0; block_size as usize * blocks] }
    }

    /// A device with these bytes. What does not fill a block at the end is left out of it.
    pub fn from_bytes(block_size: u32, bytes: Vec<u8>) -> Self {
        Self { block_size, bytes }
    }

    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    fn range(&self, block: u64, len: usize) -> Result<core::ops::Range<usize>, DiskError> {
        let size = self.block_size as usize;
        let start = usize::try_from(block).ok().and_then(|block| block.checked_mul(size)).ok_or(DiskError::Invalid)?;
        let end =
            start.checked_add(len).filter(|end| *end <= self.bytes.len() / size * size).ok_or(DiskError::Invalid)?;
        if len.is_multiple_of(size) { Ok(start..end) } else { Err(DiskError::Invalid) }
    }
}

impl Disk for Memory {
    fn geometry(&self) -> Geometry {
        Geometry { block_size: self.block_size, blocks: self.bytes.len() as u64 / u64::from(self.block_size.max(1)) }
    }

    fn read(&mut self, block: u64, into: &mut [u8]) -> Result<(), DiskError> {
        let range = self.range(block, into.len())?;
        into.copy_from_slice(&self.bytes[range]);
        Ok(())
    }

    fn write(&mut self, block: u64, from: &[u8]) -> Result<(), DiskError> {
        let range = self.range(block, from.len())?;
        self.bytes[range].copy_from_slice(from);
        Ok(())
    }

    fn flush(&mut self) -> Result<(), DiskError> {
        Ok(())
    }
}
