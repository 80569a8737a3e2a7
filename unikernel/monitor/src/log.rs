//! A log of what guests wrote to a disk and when they flushed it, as [`unikernel_abi::writes`] has it.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

use unikernel_abi::writes::{Entry, FLUSH, FUA, SECTOR, first};

use crate::memory::Buffer;

/// A log that is written. It is whole after each entry, whatever becomes of the monitor.
#[derive(Debug)]
pub(crate) struct Log {
    file: File,
    entries: u64,
    /// Where the next entry goes.
    at: u64,
}

impl Log {
    /// A new one. What is there is kept as it is.
    pub fn new(path: &Path) -> io::Result<Self> {
        let file = File::create_new(path).map_err(|why| {
            let what = format!("{}: {why}; a log takes a new file", path.display());
            io::Error::new(why.kind(), what)
        })?;
        file.write_all_at(&first(0), 0)?;
        Ok(Self { file, entries: 0, at: SECTOR as u64 })
    }

    pub fn descriptor(&self) -> i32 {
        self.file.as_raw_fd()
    }

    /// Data that was written, in so many parts, from that byte of the disk on.
    pub fn written(&mut self, offset: u64, data: &[Buffer], durable: bool) -> io::Result<()> {
        let len: usize = data.iter().map(|part| part.len()).sum();
        let mut at = self.at + SECTOR as u64;
        for part in data {
            part.write_to(&self.file, at)?;
            at += part.len() as u64;
        }
        let sector = SECTOR as u64;
        self.entry(Entry {
            sector: offset / sector,
            sectors: len as u64 / sector,
            flags: if durable { FUA } else { 0 },
        })
    }

    /// Everything before was made durable.
    pub fn flushed(&mut self) -> io::Result<()> {
        self.entry(Entry { sector: 0, sectors: 0, flags: FLUSH })
    }

    fn entry(&mut self, entry: Entry) -> io::Result<()> {
        self.file.write_all_at(&entry.encode(), self.at)?;
        self.at += SECTOR as u64 * (1 + entry.sectors);
        self.entries += 1;
        self.file.write_all_at(&first(self.entries), 0)
    }
}
