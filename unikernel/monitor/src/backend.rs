//! Requests of a guest, done with the files of the host.

use std::io;
use std::time::{Duration, Instant};

use unikernel_abi::call::Op;
use unikernel_abi::{Durability, IMAGE, Status};

use crate::disk::Disk;
use crate::log::Log;
use crate::memory::{Buffer, Memory};
use crate::trace::Line;

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
    /// What is written there is written there, too.
    log: Option<Log>,
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
    /// What they took, if that was to be known.
    pub read_times: Times,
    pub write_times: Times,
    pub flush_times: Times,
}

/// What requests took, from where the monitor took them to where they were done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Times {
    pub count: u64,
    pub all: Duration,
    pub longest: Duration,
}

impl Times {
    fn add(&mut self, time: Duration) {
        self.count += 1;
        self.all += time;
        self.longest = self.longest.max(time);
    }

    /// `None` where nothing was timed.
    pub fn mean(&self) -> Option<Duration> {
        let mean = self.all.as_nanos().checked_div(self.count.into())?;
        Some(Duration::from_nanos(mean as u64))
    }
}

impl<'a> Backend<'a> {
    /// With a log of what is written, if the disk is to have one.
    pub fn new(disk: &'a Disk) -> io::Result<Self> {
        let log = disk.log().map(Log::new).transpose()?;
        Ok(Self { disk, failed: false, log, statistics: Statistics::default() })
    }

    /// The descriptor of its log.
    pub fn log(&self) -> Option<i32> {
        self.log.as_ref().map(Log::descriptor)
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
        if let Some(status) = self.begin(request) {
            return status;
        }
        let Request { op, offset, .. } = request;
        let start = self.now();
        let done = match op {
            Op::Read => each(offset, data, |part, offset| part.fill_from(self.disk.file(), offset)),
            Op::Write => each(offset, data, |part, offset| part.write_to(self.disk.file(), offset)),
            Op::WriteDurable => each(offset, data, |part, offset| part.write_to(self.disk.durable(), offset)),
            Op::Flush => self.disk.file().sync_data(),
        };
        let took = start.map(|start| start.elapsed());
        let done = done.and_then(|()| self.record(request, data));
        self.end(request, done, took)
    }

    /// When a request begins, if what it takes is wanted.
    pub fn now(&self) -> Option<Instant> {
        self.disk.is_timed().then(Instant::now)
    }

    /// Tells what became of what a guest asked, if that is wanted.
    pub fn trace(&self, op: u32, block: u64, bytes: u64, status: Status, took: Option<Duration>) {
        if let Some(trace) = self.disk.trace() {
            trace.tell(Line { device: self.disk.name(), op, block, bytes, status, took });
        }
    }

    /// Keeps what was done, where that is wanted.
    fn record(&mut self, Request { op, offset, .. }: Request, data: &[Buffer]) -> io::Result<()> {
        match (&mut self.log, op) {
            (None, _) | (_, Op::Read) => Ok(()),
            (Some(log), Op::Flush) => log.flushed(),
            (Some(log), _) => {
                let is_durable = match self.disk.durability() {
                    Durability::Writeback => op == Op::WriteDurable,
                    Durability::Writethrough => true,
                    Durability::Unsafe => false,
                };
                log.written(offset, data, is_durable)
            }
        }
    }

    /// Counts a request that is about to be done, or says what became of it if there is nothing to be done.
    pub fn begin(&mut self, request: Request) -> Option<Status> {
        let of = &mut self.statistics;
        match request.op {
            Op::Read => {
                of.reads += 1;
                of.bytes_read += request.len;
            }
            Op::Write | Op::WriteDurable => {
                of.writes += 1;
                of.bytes_written += request.len;
            }
            Op::Flush => of.flushes += 1,
        }
        let over = if self.failed && request.op != Op::Read {
            of.refused += 1;
            Some(Status::Failed)
        } else {
            let is_done = request.op == Op::Flush && self.disk.durability() != Durability::Writeback;
            is_done.then_some(Status::Ok)
        };
        if let Some(status) = over {
            self.trace(request.op as u32, request.offset / Disk::BLOCK, request.len, status, None);
        }
        over
    }

    /// What became of a request that was done, for the guest, and what it took.
    pub fn end(&mut self, request: Request, done: io::Result<()>, took: Option<Duration>) -> Status {
        let status = self.status_of(request.op, done);
        if let Some(time) = took {
            let times = match request.op {
                Op::Read => &mut self.statistics.read_times,
                Op::Write | Op::WriteDurable => &mut self.statistics.write_times,
                Op::Flush => &mut self.statistics.flush_times,
            };
            times.add(time);
        }
        self.trace(request.op as u32, request.offset / Disk::BLOCK, request.len, status, took);
        status
    }

    fn status_of(&mut self, op: Op, done: io::Result<()>) -> Status {
        let Err(why) = done else { return Status::Ok };
        self.statistics.refused += 1;
        let status = Status::of_linux(why.raw_os_error().unwrap_or_default());
        // What could not be made durable is as unknown as after a flush that failed.
        self.failed |= op == Op::Flush || (op == Op::WriteDurable && status == Status::Io);
        if self.failed && op != Op::Read { Status::Failed } else { status }
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
