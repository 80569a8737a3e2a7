//! A device that keeps a trace of itself.

use unikernel_files::{Disk, DiskError, Geometry, Memory};

use crate::trace::{Event, Trace};

/// A device in memory whose writes and flushes are recorded.
#[derive(Debug)]
pub struct Recorder {
    memory: Memory,
    trace: Trace,
}

impl Recorder {
    /// Of a device that holds these bytes.
    pub fn of(block_size: usize, bytes: Vec<u8>) -> Self {
        let trace = Trace { block_size, before: bytes.clone(), events: Vec::new() };
        Self { memory: Memory::from_bytes(block_size as u32, bytes), trace }
    }

    pub fn trace(&self) -> &Trace {
        &self.trace
    }
}

impl Disk for Recorder {
    fn geometry(&self) -> Geometry {
        self.memory.geometry()
    }

    fn read(&mut self, block: u64, into: &mut [u8]) -> Result<(), DiskError> {
        self.memory.read(block, into)
    }

    fn write(&mut self, block: u64, from: &[u8]) -> Result<(), DiskError> {
        self.memory.write(block, from)?;
        self.trace.events.push(Event::Write { block, data: from.to_vec() });
        Ok(())
    }

    fn flush(&mut self) -> Result<(), DiskError> {
        self.trace.events.push(Event::Flush);
        Ok(())
    }
}
