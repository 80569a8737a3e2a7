//! Requests of a guest, done with the files of the host.

use std::fs::File;
use std::io;

use unikernel_abi::call::Op;
use unikernel_abi::{Durability, IMAGE, Status};

use crate::disk::Disk;
use crate::memory::{Buffer, Memory};

/// A request that was checked: whole blocks that the device has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Request {
    pub op: Op,
    /// In bytes from the beginning of the disk.
    pub offset: u64,
    pub len: u64,
}

impl Request {
    /// The guest's memory of a part of its data: what is read goes where the guest may write.
    pub fn buffer(self, memory: &Memory, start: u64, len: u64) -> Option<Buffer> {
        match self.op {
            Op::Read => memory.writable_at(start, len),
            _ => memory.at(start, len).filter(|_| start >= IMAGE),
        }
    }
}

/// A disk at work.
#[derive(Debug)]
pub(crate) struct Backend<'a> {
    disk: &'a Disk,
    /// A flush has failed: what was written before may be gone, and what is written now would be worth nothing.
    failed: bool,
    pub statistics: Statistics,
}

/// What was asked of a device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    pub reads: u64,
    pub writes: u64,
    pub flushes: u64,
    pub bytes_read: u64,
    pub bytes_written: u64,
    /// Requests that did not end well.
    pub refused: u64,
}

impl<'a> Backend<'a> {
    pub fn new(disk: &'a Disk) -> Self {
        Self { disk, failed: false, statistics: Statistics::default() }
    }

    /// Checks what a guest asks.
    pub fn check(&self, op: u32, block: u64, len: u64) -> Result<Request, Status> {
        let op = Op::of(op).ok_or(Status::Unsupported)?;
        if op == Op::Flush {
            return Ok(Request { op, offset: 0, len: 0 });
        }
        if op != Op::Read && self.disk.is_read_only() {
            return Err(Status::ReadOnly);
        }
        if len == 0 || !len.is_multiple_of(Disk::BLOCK) {
            return Err(Status::Invalid);
        }
        if len > crate::guest::MOST_BYTES {
            return Err(Status::TooLarge);
        }
        let offset = block.checked_mul(Disk::BLOCK).ok_or(Status::Range)?;
        let end = offset.checked_add(len).ok_or(Status::Range)?;
        if end <= self.disk.bytes() { Ok(Request { op, offset, len }) } else { Err(Status::Range) }
    }

    /// Does a request, with the memory of the guest that it is about, which is as long. Whatever happens becomes a status.
    pub fn perform(&mut self, request: Request, data: &[Buffer]) -> Status {
        let done = match request.op {
            Op::Read => {
                self.statistics.reads += 1;
                self.statistics.bytes_read += request.len;
                each(request.offset, data, |part, offset| part.fill_from(self.disk.file(), offset))
            }
            Op::Write | Op::WriteDurable => {
                self.statistics.writes += 1;
                self.statistics.bytes_written += request.len;
                self.write(request, data)
            }
            Op::Flush => {
                self.statistics.flushes += 1;
                self.flush()
            }
        };
        let status = match done {
            Ok(()) => Status::Ok,
            Err(_) if self.failed && request.op != Op::Read => Status::Failed,
            Err(why) => status(&why),
        };
        self.statistics.refused += u64::from(status != Status::Ok);
        status
    }

    fn write(&mut self, request: Request, data: &[Buffer]) -> io::Result<()> {
        self.alive()?;
        let durable = request.op == Op::WriteDurable;
        let file: &File = if durable { self.disk.durable() } else { self.disk.file() };
        let written = each(request.offset, data, |part, offset| part.write_to(file, offset));
        // What could not be made durable is as unknown as after a flush that failed.
        self.failed |= durable && matches!(&written, Err(why) if status(why) == Status::Io);
        written
    }

    fn flush(&mut self) -> io::Result<()> {
        self.alive()?;
        if self.disk.durability() != Durability::Writeback {
            return Ok(());
        }
        let flushed = self.disk.file().sync_data();
        self.failed |= flushed.is_err();
        flushed
    }

    fn alive(&self) -> io::Result<()> {
        if self.failed { Err(io::Error::from_raw_os_error(libc::EIO)) } else { Ok(()) }
    }
}

/// One part after the other.
fn each(offset: u64, data: &[Buffer], what: impl Fn(Buffer, u64) -> io::Result<()>) -> io::Result<()> {
    let mut offset = offset;
    for part in data {
        what(*part, offset)?;
        offset += part.len() as u64;
    }
    Ok(())
}

pub(crate) fn status(why: &io::Error) -> Status {
    match why.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => Status::NoSpace,
        io::ErrorKind::ReadOnlyFilesystem | io::ErrorKind::PermissionDenied => Status::ReadOnly,
        _ => Status::Io,
    }
}
