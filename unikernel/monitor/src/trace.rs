//! What guests asked of their devices, a line of JSON for each request: when, what, where, what became of it, and how long it took.

use std::fs::File;
use std::io::{self, BufWriter, Write as _};
use std::os::fd::AsRawFd as _;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use unikernel_abi::Status;
use unikernel_abi::call::Op;

/// A file of such lines.
#[derive(Debug)]
pub struct Trace {
    out: Mutex<BufWriter<File>>,
    start: Instant,
    descriptor: i32,
}

/// A request that has ended.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Line<'a> {
    pub device: &'a str,
    /// As the guest wrote it.
    pub op: u32,
    pub block: u64,
    pub bytes: u64,
    pub status: Status,
    /// `None` of one that was refused.
    pub took: Option<Duration>,
}

impl Trace {
    /// A new file.
    ///
    /// # Errors
    /// If it cannot be made.
    pub fn new(path: &Path) -> io::Result<Self> {
        let file = File::create(path)?;
        let descriptor = file.as_raw_fd();
        Ok(Self { out: Mutex::new(BufWriter::new(file)), start: Instant::now(), descriptor })
    }

    pub(crate) fn descriptor(&self) -> i32 {
        self.descriptor
    }

    pub(crate) fn tell(&self, Line { device, op, block, bytes, status, took }: Line<'_>) {
        let at = self.start.elapsed().as_nanos();
        let op = match Op::of(op) {
            Some(Op::Read) => "read",
            Some(Op::Write) => "write",
            Some(Op::WriteDurable) => "write-durable",
            Some(Op::Flush) => "flush",
            None => "unknown",
        };
        let took = took.map_or("null".to_owned(), |took| took.as_nanos().to_string());
        let mut out = self.out.lock().unwrap_or_else(PoisonError::into_inner);
        // A device is called by letters, digits, - and _. What cannot be told is no reason to end a guest.
        let _ = writeln!(
            out,
            "{{\"at_ns\":{at},\"device\":\"{device}\",\"op\":\"{op}\",\"block\":{block},\"bytes\":{bytes},\"status\":\"{status:?}\",\"took_ns\":{took}}}"
        );
    }

    /// Writes out what was told.
    ///
    /// # Errors
    /// If the file cannot be written: then lines of it are missing.
    pub fn finish(&self) -> io::Result<()> {
        self.out.lock().unwrap_or_else(PoisonError::into_inner).flush()
    }
}
