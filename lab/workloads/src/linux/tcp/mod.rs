//! TCP throughput over loopback or a link out of the environment, measured at either end.
//!
//! The measuring process has one end of a connection, a partner the other: a forked process, or one outside. A row is the time between
//! two clock readings, with the bytes that went through the measuring process's end in between. A row ends at the first reading at which
//! at least `report` bytes have gone, so it holds up to a call's worth more. A stream that ends before has one row, of all its bytes. One
//! clock reading a call of `chunk` bytes costs far less than the call itself.
//!
//! Both buffers begin at a page, as those of iperf3 and nuttcp do: 16 bytes further the copy from the kernel costs a tenth of the
//! throughput on some processors, and where `malloc` puts one depends on what was allocated before.
//!
//! The buffers of the sockets matter more: TCP lets that of the receiver grow, to 0.7 or to 3 MB as a start happens to go, and what
//! waits in one that is larger than the processor's second cache is copied from the third. `buffer` holds them to a size.
//!
//! The bytes that arrived are checked against the bytes that were sent. The figure of the whole trial runs from the
//! first call to the moment at which the receiver has everything, so bytes that only filled a buffer do not count as
//! sent.

mod partner;
mod plan;

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};

use kizami_recording::Recorder;
use kizami_recording::folder::Unit;

use crate::bench::{Bench, Failure, clock_ns};
use crate::os::memory::{PageAligned, touch_stack};
use crate::os::net::{self, STALL};
use crate::spec::{Kind, Param, Params, Part, Workload};
use super::path;
use partner::Partner;
pub(super) use partner::{Talk, drain, pour};
use plan::Plan;

pub static WORKLOAD: Workload = Workload {
    name: "tcp",
    title: "TCP throughput",
    about: "A process sends to another over one TCP connection on 127.0.0.1, or out of the environment where it has a link \
            (network=link), in calls of `chunk` bytes, as fast as both can, for `duration` or until `total` bytes. A row is the time that `report` bytes took at the measuring \
            end. The throughput of the trial is the fact bits_per_second: all bytes, over the time from the first call \
            until the receiver had the last of them. Loopback involves no wire: it shows what the network code and the \
            copies cost.",
    reference: "nuttcp, iperf3",
    params: &[
        Param {
            name: "direction",
            about: "whether the measuring process sends or receives",
            kind: Kind::Choice(&["send", "receive"]),
            default: "send",
        },
        Param {
            name: "duration",
            about: "ends after this time",
            kind: Kind::time(1_000_000, 3_600_000_000_000),
            default: "2s",
        },
        Param {
            name: "total",
            about: "ends after this many bytes, if that is sooner",
            kind: Kind::size(1 << 10, 1 << 44),
            default: "64GiB",
        },
        Param { name: "chunk", about: "bytes a call", kind: Kind::size(1, 16 << 20), default: "128KiB" },
        Param {
            name: "wait",
            about: "where the receiver waits: in read() itself, or in poll() before it, as a program with many sockets does",
            kind: Kind::Choice(&["read", "poll"]),
            default: "read",
        },
        Param {
            name: "buffer",
            about: "bytes of the sockets' buffers, as SO_SNDBUF and SO_RCVBUF take them; 0 lets TCP make them grow",
            kind: Kind::size(0, 1 << 30),
            default: "0",
        },
        Param { name: "report", about: "bytes a row", kind: Kind::size(1 << 10, 1 << 34), default: "1MiB" },
        path::IP,
        path::IPSEC,
    ],
    parts: |params, _| {
        // Many short rows over a long time are better kept as far as there is room than refused.
        let rows = params.number("total").div_ceil(params.number("report")).min(4 << 20);
        vec![Part::times(rows).and("bytes", Unit::Bytes)]
    },
    seconds: |params| {
        let limit = params.number("total") as f64 * 8.0 / 20e9;
        limit.min(params.number("duration") as f64 / 1e9)
    },
    linux: Some(run),
    beam: None,
};

fn run(params: &Params, bench: &mut Bench<'_>) -> Result<(), Failure> {
    let mut recorder = bench.recorder(0)?;
    let plan = Plan::new(params, path::prepared(params, bench)?);
    let (mut own, partner) = match bench.peer() {
        None => Partner::forked(&plan)?,
        Some(peer) => Partner::outside(&plan, peer)?,
    };
    let own_is = plan.own_buffer();
    let own_before = own_is.of(&own);
    // Written after a fork, so that its pages are there and this process's alone.
    let mut buffer = PageAligned::new(plan.chunk, 0x5A)?;
    touch_stack();

    let result = bench.window(|bench| {
        if plan.sends {
            let stream = send(&mut own, &buffer, &plan, bench, &mut recorder)?;
            Ok(Stream { last: finish(&mut own)?, ..stream })
        } else {
            receive(&mut own, &mut buffer, &plan, &partner, bench, &mut recorder)
        }
    });
    let stream = result.map_err(|failure: Failure| match (failure, partner.died()) {
        (Failure::Os { doing, source }, Some(ending)) => {
            Failure::Impossible(format!("could not {doing}: {source}; {ending}"))
        }
        (failure, _) => failure,
    })?;
    net::say_tcp(bench, &own);
    own_is.say(bench, plan.buffer, own_before, own_is.of(&own));
    let [arrived, before, after] = partner.counted()?;
    let known = |bytes| match bytes {
        0 => Err(std::io::Error::other("the partner could not")),
        bytes => Ok(bytes),
    };
    plan.others_buffer().say(bench, plan.buffer, known(before), known(after));
    if arrived != stream.bytes {
        let (one, other) = if plan.sends { (stream.bytes, arrived) } else { (arrived, stream.bytes) };
        return Err(Failure::Impossible(format!("{one} bytes were sent and {other} arrived")));
    }
    if stream.bytes == 0 && !bench.stopped() {
        return Err(Failure::Impossible("not one byte went through in that time: let it run for longer".into()));
    }
    bench.fact("total_bytes", stream.bytes as f64);
    if stream.bytes > 0 {
        let seconds = (stream.last - stream.begin) as f64 / 1e9;
        bench.fact("seconds", seconds);
        bench.fact("bits_per_second", stream.bytes as f64 * 8.0 / seconds);
    }
    Ok(())
}

/// What went through the measuring end.
struct Stream {
    begin: u64,
    bytes: u64,
    /// When the last of them was known to have arrived.
    last: u64,
}

/// Cuts a stream into rows.
struct Rows<'r, 'a> {
    recorder: &'r mut Recorder<'a>,
    report: u64,
    since: u64,
    bytes: u64,
}

impl Rows<'_, '_> {
    fn moved(&mut self, bytes: u64, now: u64) {
        self.bytes += bytes;
        if self.bytes >= self.report {
            self.row(now);
        }
    }

    fn row(&mut self, now: u64) {
        self.recorder.push_row(&[now - self.since, self.bytes]);
        (self.since, self.bytes) = (now, 0);
    }

    /// The stream has ended: what is no whole row is left out, unless it is all there was.
    fn end(mut self, stream: &Stream) {
        if stream.bytes > 0 && stream.bytes == self.bytes {
            self.row(stream.last);
        }
    }
}

fn send(
    own: &mut TcpStream,
    buffer: &[u8],
    plan: &Plan,
    bench: &Bench<'_>,
    recorder: &mut Recorder<'_>,
) -> Result<Stream, Failure> {
    let begin = clock_ns();
    let mut stream = Stream { begin, bytes: 0, last: begin };
    let mut rows = Rows { recorder, report: plan.report, since: begin, bytes: 0 };
    while stream.bytes < plan.total && !bench.stopped() {
        let most = buffer.len().min((plan.total - stream.bytes) as usize);
        let sent = own.write(&buffer[..most]);
        let now = clock_ns();
        match sent {
            Ok(sent) => {
                stream.bytes += sent as u64;
                stream.last = now;
                rows.moved(sent as u64, now);
            }
            Err(e) if net::is_pause(&e) => stalled(now - stream.last)?,
            Err(source) => return Err(Failure::Os { doing: "send to the partner".into(), source }),
        }
        if now - begin >= plan.duration {
            break;
        }
    }
    rows.end(&stream);
    Ok(stream)
}

fn receive(
    own: &mut TcpStream,
    buffer: &mut [u8],
    plan: &Plan,
    partner: &Partner,
    bench: &Bench<'_>,
    recorder: &mut Recorder<'_>,
) -> Result<Stream, Failure> {
    let begin = clock_ns();
    let mut stream = Stream { begin, bytes: 0, last: begin };
    let mut rows = Rows { recorder, report: plan.report, since: begin, bytes: 0 };
    // The partner sends only now, and what is still under way when the time is over is received and counted.
    own.write_all(&[1]).map_err(|source| Failure::Os { doing: "tell the partner to begin".into(), source })?;
    loop {
        if plan.polls {
            net::wait_to_read(own);
        }
        let received = own.read(buffer);
        let now = clock_ns();
        match received {
            Ok(0) => break,
            Ok(received) => {
                stream.bytes += received as u64;
                stream.last = now;
                rows.moved(received as u64, now);
            }
            Err(e) if net::is_pause(&e) => stalled(now - stream.last)?,
            Err(source) => return Err(Failure::Os { doing: "receive from the partner".into(), source }),
        }
        if now - begin >= plan.duration || bench.stopped() {
            partner.enough();
        }
    }
    rows.end(&stream);
    Ok(stream)
}

/// Ends a stream that was sent, and waits until the partner has counted all of it; the time at which it had.
fn finish(own: &mut TcpStream) -> Result<u64, Failure> {
    own.shutdown(Shutdown::Write).map_err(|source| Failure::Os { doing: "end the stream".into(), source })?;
    let since = clock_ns();
    loop {
        // The partner closes its direction when it has counted.
        match own.read(&mut [0]) {
            Ok(_) => return Ok(clock_ns()),
            Err(e) if net::is_pause(&e) => stalled(clock_ns() - since)?,
            Err(source) => return Err(Failure::Os { doing: "wait for the partner's count".into(), source }),
        }
    }
}

fn stalled(ns: u64) -> Result<(), Failure> {
    if ns < STALL.as_nanos() as u64 {
        return Ok(());
    }
    Err(Failure::Impossible(format!("the stream stood still for {} s", STALL.as_secs())))
}
