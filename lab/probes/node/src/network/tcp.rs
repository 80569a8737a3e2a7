//! `tcp`: the throughput of a stream, as the workload for Linux measures it.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use linux_raw_sys::net::{SO_RCVBUF, SO_SNDBUF, SOL_SOCKET};
use node::output::Output;
use node::sys::{Errno, Fd, files, sockets, time};
use plain::report;

use super::path;
use crate::job::{Job, doing};
use crate::partner::Partner;

/// A stream that stands still so long is given up. TCP waits for up to 26 s before it sends the same for the seventh time.
const STALL: u64 = 60_000_000_000;
/// A fast stream makes no more rows than there is room for: the rest is left out, and the trial's throughput has it.
const ROWS: u64 = 4096;

/// The last bytes of what the partner sends are how many it sent or received.
const COUNT: usize = 8;

struct Plan {
    total: u64,
    duration: u64,
    report: u64,
    chunk: usize,
}

/// What went through this end.
struct Stream {
    begin: u64,
    bytes: u64,
    /// When the last of them was known to have arrived.
    last: u64,
    /// What the other end has counted.
    counted: u64,
}

struct Rows {
    cells: Vec<u64>,
    report: u64,
    since: u64,
    bytes: u64,
}

impl Rows {
    fn moved(&mut self, bytes: u64, now: u64) {
        self.bytes += bytes;
        if self.bytes >= self.report {
            self.row(now);
        }
    }

    fn row(&mut self, now: u64) {
        if self.cells.len() + 2 <= self.cells.capacity() {
            self.cells.extend([now - self.since, self.bytes]);
        }
        (self.since, self.bytes) = (now, 0);
    }

    /// What is no whole row is left out, unless it is all there was.
    fn end(&mut self, stream: &Stream) {
        if stream.bytes > 0 && stream.bytes == self.bytes {
            self.row(stream.last);
        }
    }
}

impl Plan {
    fn new(job: &Job<'_>) -> Result<Self, String> {
        let [total, duration, report, chunk] = ["total", "duration", "report", "chunk"].map(|name| job.number(name));
        Ok(Self { total: total?, duration: duration?, report: report?, chunk: chunk? as usize })
    }
}

pub fn stream(job: &Job<'_>) -> Result<(), String> {
    let plan = Plan::new(job)?;
    let (buffer, sends) = (job.number("buffer")?, job.arguments.text("direction")? == "send");
    let ends = path::prepared(job)?;
    let mut theirs = room(plan.chunk)?;
    if path::is_partner(job) {
        let socket = path::accepted(ends.here, path::DATA).map_err(doing("wait for the other board"))?;
        buffers(&socket, buffer)?;
        return job
            .paced(|| partner(socket.number(), sends, &mut theirs, plan.total))
            .map_err(doing("do the other half"));
    }
    let (own, other) = match ends.there {
        None => {
            path::streams(ends.here).map(|(own, other)| (own, Some(other))).map_err(doing("connect two sockets"))?
        }
        Some(there) => (path::connected(there, path::DATA).map_err(doing("connect to the other board"))?, None),
    };
    buffers(&own, buffer)?;
    other.as_ref().map_or(Ok(()), |other| buffers(other, buffer))?;
    let cells = job.room((plan.total / plan.report).clamp(1, ROWS) * 2)?;
    let mut rows = Rows { cells, report: plan.report, since: 0, bytes: 0 };
    let mut bytes = room(plan.chunk)?;
    let most = plan.total;
    let helper = other.as_ref().map(|other| {
        let at = other.number();
        Partner::start(move || partner(at, sends, &mut theirs, most).map_or_else(|why| why.0 as i32, |()| 0))
    });
    let helper = helper.transpose()?;
    let stream = job.window(0, || {
        if sends { send(&own, &bytes, &plan, &mut rows) } else { receive(&own, &mut bytes, &plan, &mut rows) }
    });
    let stream = stream.map_err(|why| format!("the stream broke: {why}"))?;
    if let Some(how) = helper.and_then(Partner::ends) {
        return Err(format!("the partner {how}"));
    }
    if stream.counted != stream.bytes {
        let (sent, arrived) = if sends { (stream.bytes, stream.counted) } else { (stream.counted, stream.bytes) };
        return Err(format!("{sent} bytes were sent and {arrived} arrived"));
    }
    if stream.bytes == 0 {
        return Err("not one byte went through in that time: let it run for longer".into());
    }
    if job.is_profiled() {
        job.fact("profiled_operations", stream.bytes.div_ceil(1024));
    }
    say(job, &own, other.as_ref(), &stream);
    let mut out = Output::to(job.line());
    report::rows(&mut out, 0, rows.cells.chunks(2));
    job.end(&mut out);
    Ok(())
}

fn buffers(socket: &Fd, bytes: u64) -> Result<(), String> {
    for option in [SO_SNDBUF, SO_RCVBUF].into_iter().filter(|_| bytes > 0) {
        sockets::set(socket, SOL_SOCKET, option, bytes as u32).map_err(doing("set the buffer of a socket"))?;
    }
    Ok(())
}

fn room(bytes: usize) -> Result<Vec<u8>, String> {
    let mut room = Vec::new();
    let reserved = room.try_reserve_exact(bytes);
    reserved.map_err(|_| {
        format!("no piece of memory is large enough for calls of {bytes} bytes: ask for a smaller chunk")
    })?;
    room.resize(bytes, 0x5a);
    Ok(room)
}

fn say(job: &Job<'_>, own: &Fd, other: Option<&Fd>, stream: &Stream) {
    let nanoseconds = stream.last - stream.begin;
    job.fact("total_bytes", stream.bytes);
    job.fact("bits_per_second", (u128::from(stream.bytes) * 8_000_000_000 / u128::from(nanoseconds.max(1))) as u64);
    let mut out = Output::to(job.line());
    for (name, socket, option) in [("send_buffer", own, SO_SNDBUF), ("receive_buffer", other.unwrap_or(own), SO_RCVBUF)]
    {
        if let Ok(bytes) = sockets::get(socket, SOL_SOCKET, option) {
            report::effective(&mut out, name, &format!("{bytes} B"), true, "read back after the last byte");
        }
    }
}

/// What a call moved; nothing where it waited for too long.
fn moved(done: Result<usize, Errno>) -> Result<Option<usize>, Errno> {
    match done {
        Ok(bytes) => Ok(Some(bytes)),
        Err(Errno::EAGAIN | Errno::EINTR) => Ok(None),
        Err(why) => Err(why),
    }
}

fn stalled(since: u64, now: u64) -> Result<(), Errno> {
    if now - since < STALL { Ok(()) } else { Err(Errno::ETIMEDOUT) }
}

fn send(own: &Fd, bytes: &[u8], plan: &Plan, rows: &mut Rows) -> Result<Stream, Errno> {
    let begin = time::now();
    let mut stream = Stream { begin, bytes: 0, last: begin, counted: 0 };
    rows.since = begin;
    while stream.bytes < plan.total {
        let most = (bytes.len() as u64).min(plan.total - stream.bytes) as usize;
        let sent = moved(files::write(own.number(), &bytes[..most]))?;
        let now = time::now();
        match sent {
            Some(sent) => {
                stream.bytes += sent as u64;
                stream.last = now;
                rows.moved(sent as u64, now);
            }
            None => stalled(stream.last, now)?,
        }
        if now - begin >= plan.duration {
            break;
        }
    }
    rows.end(&stream);
    sockets::finish(own)?;
    // The partner says what it has when it has everything.
    let mut count = [0; COUNT];
    let (mut known, since) = (0, time::now());
    while known < COUNT {
        match moved(files::read(own.number(), &mut count[known..]))? {
            Some(0) => return Err(Errno::EPIPE),
            Some(more) => known += more,
            None => stalled(since, time::now())?,
        }
    }
    stream.last = time::now();
    stream.counted = u64::from_le_bytes(count);
    Ok(stream)
}

fn receive(own: &Fd, bytes: &mut [u8], plan: &Plan, rows: &mut Rows) -> Result<Stream, Errno> {
    let begin = time::now();
    let mut stream = Stream { begin, bytes: 0, last: begin, counted: 0 };
    rows.since = begin;
    // The partner sends only now, and what is still under way when the time is over is received and counted.
    files::write_all(own.number(), &[1])?;
    let (mut tail, mut told) = ([0; COUNT], false);
    loop {
        let received = moved(files::read(own.number(), bytes))?;
        let now = time::now();
        match received {
            Some(0) => break,
            Some(received) => {
                stream.bytes += received as u64;
                stream.last = now;
                rows.moved(received as u64, now);
                let new = received.min(COUNT);
                tail.copy_within(new.., 0);
                tail[COUNT - new..].copy_from_slice(&bytes[received - new..received]);
            }
            None => stalled(stream.last, now)?,
        }
        if now - begin >= plan.duration && !told {
            told = true;
            files::write_all(own.number(), &[0])?;
        }
    }
    stream.bytes = stream.bytes.saturating_sub(COUNT as u64);
    rows.bytes = rows.bytes.saturating_sub(COUNT as u64);
    sockets::finish(own)?;
    rows.end(&stream);
    stream.counted = u64::from_le_bytes(tail);
    Ok(stream)
}

/// The other half: of a stream that is sent, everything is read, and otherwise it is sent until it is enough.
fn partner(fd: usize, drains: bool, bytes: &mut [u8], most: u64) -> Result<(), Errno> {
    let count = if drains { drain(fd, bytes)? } else { pour(fd, bytes, most)? };
    let (mut said, count, begun) = (0, count.to_le_bytes(), time::now());
    while said < COUNT {
        match moved(files::write(fd, &count[said..]))? {
            Some(more) => said += more,
            None => stalled(begun, time::now())?,
        }
    }
    // The descriptor is this process's own copy, which its end closes.
    sockets::finish(&core::mem::ManuallyDrop::new(Fd::of(fd)))?;
    // Whoever ends with something unread breaks the connection, and with it what is still under way. All that comes is that it is enough.
    while moved(files::read(fd, bytes))? != Some(0) {
        stalled(begun, time::now())?;
    }
    Ok(())
}

fn drain(fd: usize, bytes: &mut [u8]) -> Result<u64, Errno> {
    let (mut count, mut last) = (0, time::now());
    loop {
        match moved(files::read(fd, bytes))? {
            Some(0) => return Ok(count),
            Some(received) => (count, last) = (count + received as u64, time::now()),
            None => stalled(last, time::now())?,
        }
    }
}

fn pour(fd: usize, bytes: &[u8], most: u64) -> Result<u64, Errno> {
    let (mut count, mut last) = (0, time::now());
    while moved(files::read(fd, &mut [0]))?.is_none() {
        stalled(last, time::now())?;
    }
    // Another byte says that it is enough.
    while count < most && !time::readable(fd, Some(0))? {
        let length = (bytes.len() as u64).min(most - count) as usize;
        match moved(files::write(fd, &bytes[..length]))? {
            Some(sent) => (count, last) = (count + sent as u64, time::now()),
            None => stalled(last, time::now())?,
        }
    }
    Ok(count)
}
