//! `udp`: what arrives of the datagrams that are offered at a rate, as the workload for Linux measures it.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use kizami_workloads::portable::datagrams::{Arrival, Seen, planned_at, words_for};
use kizami_workloads::portable::losses::NAMES;
use linux_raw_sys::net::{SO_RCVBUF, SOL_SOCKET};
use node::output::Output;
use node::sys::{Errno, Fd, files, sockets, time};
use plain::report;

use super::path;
use crate::job::{Job, doing};
use crate::partner::Partner;

/// Sequence number, interval, time of sending.
const HEADER: usize = 24;
/// How long a datagram may be under way before it counts as lost.
const GRACE: u64 = 200_000_000;
/// A next datagram that is further away than this is slept for; a sleep ends half of it early, as wake-ups come late.
const SPIN: u64 = 200_000;
/// So long the receiver may take to say what it counted.
const PATIENCE: u64 = 10_000_000_000;
/// So many waits of 50 ms, one after the other, are a minute.
const MOST_IDLE: u32 = 1200;
/// More intervals, or datagrams, find no room on the board.
const INTERVALS: u64 = 1000;
const DATAGRAMS: u64 = 1 << 20;
/// length, offered, sent, received, lost, reordered, duplicates.
const COLUMNS: usize = 7;

/// What the receiver counted of an interval: received, reordered, duplicates.
type Counts = [u32; 3];

/// What the receiver says at the end: what was foreign, what its kernel dropped, and the counts of each interval, as numbers of 8 bytes.
fn said(intervals: usize) -> usize {
    1 + NAMES.len() + 3 * intervals
}

struct Plan {
    rate: u64,
    size: u64,
    duration: u64,
    report: u64,
    datagrams: u64,
}

impl Plan {
    fn new(job: &Job<'_>) -> Result<Self, String> {
        let [rate, size, duration, report] = ["rate", "size", "duration", "report"].map(|name| job.number(name));
        let (rate, size, duration, report) = (rate?, size?, duration?, report?);
        // The first goes out at time zero. No board sends as many as the highest rates ask for.
        let datagrams = (u128::from(rate) * u128::from(duration) / (u128::from(size) * 8_000_000_000)) as u64 + 1;
        let plan = Self { rate, size, duration, report, datagrams: datagrams.min(DATAGRAMS) };
        if (size as usize) < HEADER || plan.intervals() as u64 > INTERVALS {
            return Err(format!("a datagram has {HEADER} bytes at least, and there are {INTERVALS} intervals at most"));
        }
        Ok(plan)
    }

    fn intervals(&self) -> usize {
        self.duration.div_ceil(self.report) as usize
    }
}

/// What was sent in an interval, and how long that was.
#[derive(Default, Clone, Copy)]
struct Sent {
    datagrams: u64,
    length: u64,
}

pub fn datagrams(job: &Job<'_>) -> Result<(), String> {
    let plan = Plan::new(job)?;
    let ends = path::prepared(job)?;
    let mut receiver = Receiver::new(&plan);
    if path::is_partner(job) {
        let there = ends.there.unwrap_or(ends.here);
        let socket = path::joined(ends.here, there, path::DATA).map_err(doing("make a socket"))?;
        let control = path::accepted(ends.here, path::CONTROL).map_err(doing("wait for the other board"))?;
        let before = path::losses();
        let dropped = || path::losses().since(&before);
        let counted = job.paced(|| receiver.count(&socket, control.number(), dropped)).map_err(doing("receive"));
        // The last words are on their way when this board would end.
        let _ = time::sleep(GRACE);
        return counted;
    }
    let (own, control, helper) = match ends.there {
        Some(there) => {
            let own = path::joined(ends.here, there, path::DATA).map_err(doing("make a socket"))?;
            (own, path::connected(there, path::CONTROL).map_err(doing("connect to the other board"))?, None)
        }
        None => {
            let (own, other) = path::sockets(ends.here).map_err(doing("join two sockets"))?;
            let (control, its) = path::streams(ends.here).map_err(doing("connect two sockets"))?;
            let (socket, at) = (other.number(), its.number());
            let helper = Partner::start(move || {
                let socket = core::mem::ManuallyDrop::new(Fd::of(socket));
                // Of the same kernel: whoever sends reads it.
                receiver.count(&socket, at, || [0; NAMES.len()]).map_or_else(|why| why.0 as i32, |()| 0)
            })?;
            (own, control, Some((helper, other, its)))
        }
    };
    let mut sent = alloc::vec![Sent::default(); plan.intervals()];
    let mut datagram = alloc::vec![0u8; plan.size as usize];
    let before = path::losses();
    // How many they become is told when they were sent.
    let done = job.window(0, || send(&own, &mut datagram, &plan, &mut sent));
    let whole = done.map_err(doing("send a datagram"))?;
    let _ = time::sleep(GRACE);
    let told = ask(&control, said(plan.intervals())).map_err(doing("ask the receiver what it counted"))?;
    let here = path::losses().since(&before);
    let other = helper.as_ref().map_or(&own, |(_, other, _)| other);
    let foreign = told[0];
    if foreign > 0 {
        return Err(format!("{foreign} datagrams arrived that were not sent so"));
    }
    let (there, counts) = told[1..].split_at(NAMES.len());
    if let Ok(bytes) = sockets::get(other, SOL_SOCKET, SO_RCVBUF) {
        report::effective(
            &mut Output::to(job.line()),
            "receive_buffer",
            &format!("{bytes} B"),
            true,
            "read back; Linux counts its own overhead in it",
        );
    }
    let rows = rows(&plan, &sent[..whole], counts);
    let [all_sent, received, lost] = [2, 3, 4].map(|column| rows.chunks(COLUMNS).map(|row| row[column]).sum::<u64>());
    let nanoseconds: u64 = rows.chunks(COLUMNS).map(|row| row[0]).sum();
    let bits =
        |datagrams: u64| (u128::from(datagrams * plan.size) * 8_000_000_000 / u128::from(nanoseconds.max(1))) as u64;
    for (name, value) in [
        ("offered_bps", plan.rate),
        ("sent_bps", bits(all_sent)),
        ("received_bps", bits(received)),
        ("sent", all_sent),
        ("received", received),
        ("lost", lost),
    ] {
        job.fact(name, value);
    }
    if job.is_profiled() {
        job.fact("profiled_operations", received);
    }
    // On one board both are the same kernel.
    let dropped = core::array::from_fn(|place| here[place] + if ends.there.is_some() { there[place] } else { 0 });
    path::say_losses(job, dropped, lost);
    let mut out = Output::to(job.line());
    report::rows(&mut out, 0, rows.chunks(COLUMNS));
    job.end(&mut out);
    Ok(())
}

fn rows(plan: &Plan, sent: &[Sent], counts: &[u64]) -> Vec<u64> {
    let mut rows = Vec::with_capacity(sent.len() * COLUMNS);
    for (sent, counts) in sent.iter().zip(counts.chunks_exact(3)) {
        let lost = sent.datagrams.saturating_sub(counts[0]);
        rows.extend([sent.length, plan.rate, sent.datagrams, counts[0], lost, counts[1], counts[2]]);
    }
    rows
}

/// Tells the receiver that it is enough, and reads so many numbers of it.
fn ask(control: &Fd, numbers: usize) -> Result<Vec<u64>, Errno> {
    control.write_all(&[1])?;
    let mut bytes = alloc::vec![0u8; numbers * 8];
    let (mut known, begun) = (0, time::now());
    while known < bytes.len() {
        match control.read(&mut bytes[known..]) {
            Ok(0) => return Err(Errno::EPIPE),
            Ok(more) => known += more,
            Err(Errno::EAGAIN | Errno::EINTR) if time::now() - begun < PATIENCE => {}
            Err(why) => return Err(why),
        }
    }
    Ok(bytes.chunks_exact(8).map(|number| number.iter().rfold(0, |n, byte| n << 8 | u64::from(*byte))).collect())
}

/// Sends by the plan; gives how many intervals there were. An interval in which this was held up is longer, and stands for those it ran over.
fn send(socket: &Fd, datagram: &mut [u8], plan: &Plan, sent: &mut [Sent]) -> Result<usize, Errno> {
    let start = time::now();
    let end = start + plan.duration;
    let (mut since, mut boundary) = (start, (start + plan.report).min(end));
    let (mut interval, mut sequence, mut next) = (0, 0u64, start);
    loop {
        let now = time::now();
        if now >= boundary {
            sent[interval].length = now - since;
            interval += 1;
            if now >= end || interval == sent.len() {
                return Ok(interval);
            }
            since = now;
            boundary = (start + ((now - start) / plan.report + 1) * plan.report).min(end);
        }
        if now < next || sequence == plan.datagrams {
            let until = if sequence == plan.datagrams { boundary } else { next.min(boundary) };
            if until > now + SPIN {
                let _ = time::sleep_until(until - SPIN / 2);
            }
            continue;
        }
        for (place, number) in [sequence, interval as u64, now].into_iter().enumerate() {
            datagram[place * 8..][..8].copy_from_slice(&number.to_le_bytes());
        }
        match sockets::send(socket, datagram, None) {
            Ok(_) => {
                sent[interval].datagrams += 1;
                sequence += 1;
                next = start + planned_at(sequence, plan.size, plan.rate);
            }
            // The way is full: the same datagram is tried again, and the rate falls behind, which shows.
            Err(Errno::EAGAIN | Errno::EINTR | Errno::ENOBUFS) => {}
            Err(why) => return Err(why),
        }
    }
}

/// Whoever receives. Everything is reserved before it begins.
struct Receiver {
    seen: Seen<Vec<u64>>,
    datagram: Vec<u8>,
    counts: Vec<Counts>,
    said: Vec<u8>,
}

impl Receiver {
    fn new(plan: &Plan) -> Self {
        Self {
            seen: Seen::new(alloc::vec![0u64; words_for(plan.datagrams)]),
            datagram: alloc::vec![0u8; plan.size as usize],
            counts: alloc::vec![[0; 3]; plan.intervals()],
            said: Vec::with_capacity(said(plan.intervals()) * 8),
        }
    }

    /// Counts what comes until it is told that it is enough, and says what it was, and what its kernel has `dropped`.
    fn count(
        &mut self,
        socket: &Fd,
        control: usize,
        dropped: impl FnOnce() -> [u64; NAMES.len()],
    ) -> Result<(), Errno> {
        let (mut foreign, mut idle) = (0u64, 0);
        loop {
            match sockets::receive(socket, &mut self.datagram) {
                Ok((length, _)) => {
                    foreign += u64::from(!self.takes(length));
                    idle = 0;
                }
                Err(Errno::EAGAIN | Errno::EINTR | Errno::ECONNREFUSED) => {
                    if time::readable(control, Some(0))? {
                        break;
                    }
                    idle += 1;
                    // The other side may be gone: this waits for it for as long as datagrams may be apart.
                    if idle > MOST_IDLE {
                        return Err(Errno::ETIMEDOUT);
                    }
                }
                Err(why) => return Err(why),
            }
        }
        let counts = self.counts.iter().flatten().map(|count| u64::from(*count));
        for number in core::iter::once(foreign).chain(dropped()).chain(counts) {
            self.said.extend_from_slice(&number.to_le_bytes());
        }
        files::write_all(control, &self.said)
    }

    /// Whether a datagram of that length is one of those that are sent.
    fn takes(&mut self, length: usize) -> bool {
        let datagram = &self.datagram;
        let number = |place: usize| datagram[place * 8..][..8].iter().rfold(0u64, |n, byte| n << 8 | u64::from(*byte));
        let interval = usize::try_from(number(1)).ok().and_then(|interval| self.counts.get_mut(interval));
        let (Some(counts), true) = (interval, length == datagram.len()) else { return false };
        match self.seen.add(number(0)) {
            Arrival::InOrder => counts[0] += 1,
            Arrival::Reordered => {
                counts[0] += 1;
                counts[1] += 1;
            }
            Arrival::Duplicate => counts[2] += 1,
            Arrival::Foreign => return false,
        }
        true
    }
}
