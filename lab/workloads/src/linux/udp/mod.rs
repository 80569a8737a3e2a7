//! UDP throughput and loss at one offered rate, over loopback or a link out of the environment.
//!
//! Every datagram carries its sequence number, the interval in which it was sent and the time. Send times are planned
//! ahead, one every `size * 8 / rate` seconds from a common start: a sender that was held up catches up in a burst, so
//! the average rate is kept (as nuttcp does with -R, and not the single gaps, as it does with -Ri). The sender sleeps
//! until shortly before a planned time that is far ahead, and spins for the rest. If the machine cannot reach the rate,
//! the sender never waits and falls behind the plan; both the offered rate and the number of sent datagrams are
//! recorded.
//!
//! The receiver, a forked partner or one outside, counts by sequence number, for the interval that each datagram names as its own: a
//! number seen before is a duplicate, one below the highest is reordered. A row is judged 200 ms after its interval has
//! ended: a datagram that is missing then is lost, and one that arrives still later is counted as late. So `sent =
//! received + lost` in every row, and the totals are the sums of the rows.

mod receiver;

use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::os::fd::AsRawFd;
use std::sync::atomic::Ordering;

use kizami_recording::Recorder;
use kizami_recording::folder::Unit;

use crate::os::memory::{Shared, SharedSlice, touch_stack};
use crate::os::net::{self, PATIENCE, SocketBuffer};
use crate::os::outside::{Outside, Task};
use crate::os::child::Child;
use crate::os::sys::{self};
use crate::portable::datagrams::planned_at;
use crate::bench::{Bench, Failure, clock_ns};
use crate::spec::{Kind, Param, Params, Part, Workload};
use super::path;
pub(super) use receiver::{Counts, Talk, receive, seen, written};

pub static WORKLOAD: Workload = Workload {
    name: "udp",
    title: "UDP throughput and loss",
    about: "Sends datagrams of `size` bytes to another process over UDP on 127.0.0.1, or out of the environment where it has \
            a link (network=link), at planned times that make `rate`, for `duration`. The receiver counts by sequence number. A row is an interval of `report`: its length, the \
            rate that was offered, and how many datagrams were sent, received, lost, reordered and duplicated. Data \
            only is counted, as the tools do: headers come on top. A sender that falls behind sends without pause \
            until it has caught up.",
    reference: "nuttcp -u, iperf3 -u",
    params: &[
        Param {
            name: "rate",
            about: "offered, in bits of data a second",
            kind: Kind::rate(1_000, 400_000_000_000),
            default: "10Mbit",
        },
        Param {
            name: "size",
            about: "bytes of data a datagram",
            kind: Kind::size(HEADER as u64, 65_507),
            default: "1KiB",
        },
        Param {
            name: "duration",
            about: "how long datagrams are sent",
            kind: Kind::time(1_000_000, 3_600_000_000_000),
            default: "2s",
        },
        Param {
            name: "report",
            about: "the length of a row",
            kind: Kind::time(1_000_000, 60_000_000_000),
            default: "100ms",
        },
        path::IP,
        path::IPSEC,
    ],
    parts: |params, _| {
        let part = Part::times(rows(params)).cold(0).and("offered", Unit::BitsPerSecond);
        let counts = ["sent", "received", "lost", "reordered", "duplicates"];
        vec![counts.into_iter().fold(part, |part, column| part.and(column, Unit::Count))]
    },
    seconds: |params| (params.number("duration") + GRACE) as f64 / 1e9,
    linux: Some(run),
    beam: None,
};

/// Sequence number, interval, time of sending.
const HEADER: usize = 24;
/// How long a datagram may be under way before it counts as lost.
const GRACE: u64 = 200_000_000;
/// A next datagram that is further away than this is slept for; a sleep ends this much early, as wake-ups come late.
const SPIN: u64 = 200_000;
/// Sleeps are cut into pieces, so that a stop is seen.
const NAP: u64 = 50_000_000;
/// One bit for each datagram; more than fit into memory of this size are refused.
const MOST_DATAGRAMS: u64 = 8 * (256 << 20);

fn rows(params: &Params) -> u64 {
    params.number("duration").div_ceil(params.number("report"))
}

fn run(params: &Params, bench: &mut Bench<'_>) -> Result<(), Failure> {
    let mut recorder = bench.recorder(0)?;
    let plan = Plan::new(params, path::prepared(params, bench)?)?;
    let talk = Shared::<Talk>::new()?;
    let counts = SharedSlice::<Counts>::new(plan.intervals)?;
    let (socket, partner) = match bench.peer() {
        None => Partner::forked(&plan, &talk, &counts, bench)?,
        Some(peer) => Partner::outside(&plan, peer)?,
    };
    SocketBuffer::Send.say_fixed(bench, &socket);
    let mut sender = Sender {
        socket,
        counts_come_late: matches!(partner, Partner::Outside(_)),
        datagram: vec![0u8; plan.size],
        sent: vec![0u64; plan.intervals],
        lengths: vec![0u64; plan.intervals],
        ended: vec![0u64; plan.intervals],
        intervals: 0,
        judged: 0,
        totals: Totals::default(),
    };
    touch_stack();
    let before = path::losses();
    while matches!(partner, Partner::Forked(_)) && !talk.ready.load(Ordering::Acquire) {
        if bench.stopped() {
            return Ok(());
        }
        std::thread::yield_now();
    }

    let result = bench.window(|bench| {
        sender.send(&plan, &counts, bench, &mut recorder)?;
        sender.settle(&plan, &counts, bench, &mut recorder)
    });
    match partner {
        Partner::Forked(receiver) => {
            talk.enough.store(true, Ordering::Relaxed);
            let ending = receiver.ended().unwrap_or_else(|| "does not end".into());
            result.map_err(|failure: Failure| Failure::Impossible(format!("{failure}; the receiver {ending}")))?;
            if !talk.counted.load(Ordering::Acquire) {
                return Err(Failure::Impossible(format!("the receiver did not count to the end: it {ending}")));
            }
        }
        Partner::Outside(outside) => {
            result?;
            receiver::taken(&outside.counted(receiver::numbers(plan.intervals))?, &talk, &counts);
            sender.judge(u64::MAX, &plan, &counts, &mut recorder)?;
        }
    }
    let foreign = talk.foreign.load(Ordering::Relaxed);
    if foreign > 0 {
        return Err(Failure::Impossible(format!("{foreign} datagrams arrived that were not sent so")));
    }
    let all: u64 = counts.iter().map(|c| c.received.load(Ordering::Relaxed)).sum();
    let Totals { sent, received, reordered, duplicates } = sender.totals;
    let lost = sent - received;
    if sent > 0 {
        let seconds = sender.lengths[..sender.judged].iter().sum::<u64>() as f64 / 1e9;
        let bits = |datagrams: u64| datagrams as f64 * plan.size as f64 * 8.0 / seconds;
        bench.fact("seconds", seconds);
        bench.fact("sent_bps", bits(sent));
        bench.fact("received_bps", bits(received));
        bench.fact("loss_percent", lost as f64 * 100.0 / sent as f64);
    }
    bench.fact("offered_bps", plan.rate as f64);
    path::say_losses(bench, &before, lost);
    let figures = [("sent", sent), ("received", received), ("lost", lost), ("reordered", reordered)];
    for (name, value) in figures.into_iter().chain([("duplicates", duplicates), ("late", all - received)]) {
        bench.fact(name, value as f64);
    }
    Ok(())
}

fn could_not_sleep(source: std::io::Error) -> Failure {
    Failure::Os { doing: "sleep until the next datagram".into(), source }
}

/// Whoever receives.
enum Partner {
    Forked(Child),
    Outside(Outside),
}

impl Partner {
    /// A process of this environment, over loopback; and the socket to send by.
    fn forked(plan: &Plan, talk: &Talk, counts: &[Counts], bench: &mut Bench<'_>) -> Result<(UdpSocket, Self), Failure> {
        let (own, other) = net::udp_pair(plan.on)?;
        SocketBuffer::Receive.say_fixed(bench, &other);
        let (mut seen, mut datagram) = (seen(plan.datagrams), vec![0u8; plan.size]);
        let body = || receive(&receiver::as_first(), &mut datagram, &mut seen, talk, counts);
        // SAFETY: the partner makes system calls on a socket and memory that exist already, and computes.
        let child = unsafe { Child::fork(&[other.as_raw_fd()], body) }?;
        Ok((own, Self::Forked(child)))
    }

    /// One outside of this environment, at `peer`. It says what it counted at the end.
    fn outside(plan: &Plan, peer: SocketAddr) -> Result<(UdpSocket, Self), Failure> {
        let &Plan { size, datagrams, intervals, .. } = plan;
        let outside = Outside::ask(peer, Task::Count { size, datagrams, intervals })?;
        Ok((outside.datagrams(PATIENCE)?, Self::Outside(outside)))
    }
}

/// When what is sent.
struct Plan {
    rate: u64,
    size: usize,
    duration: u64,
    report: u64,
    datagrams: u64,
    intervals: usize,
    /// Where a receiver of this machine is.
    on: IpAddr,
}

impl Plan {
    fn new(params: &Params, on: IpAddr) -> Result<Self, Failure> {
        let (rate, size) = (params.number("rate"), params.number("size"));
        let (duration, report) = (params.number("duration"), params.number("report"));
        let datagrams = u128::from(rate) * u128::from(duration) / (u128::from(size) * 8_000_000_000);
        // The first goes out at time zero.
        let datagrams = u64::try_from(datagrams).unwrap_or(u64::MAX).saturating_add(1);
        if datagrams > MOST_DATAGRAMS {
            return Err(Failure::Impossible(format!(
                "{datagrams} datagrams in one trial are more than the {MOST_DATAGRAMS} that are counted one by one: \
                 choose a shorter duration"
            )));
        }
        Ok(Self { rate, size: size as usize, duration, report, datagrams, intervals: rows(params) as usize, on })
    }

    /// When datagram `sequence` is to be sent, in nanoseconds from the start.
    fn at(&self, sequence: u64) -> u64 {
        planned_at(sequence, self.size as u64, self.rate)
    }
}

#[derive(Default)]
struct Totals {
    sent: u64,
    received: u64,
    reordered: u64,
    duplicates: u64,
}

/// The measuring side. Everything is reserved before the window.
struct Sender {
    socket: UdpSocket,
    /// The counts of the receiver are known when all is over, and not before.
    counts_come_late: bool,
    datagram: Vec<u8>,
    /// By interval.
    sent: Vec<u64>,
    lengths: Vec<u64>,
    ended: Vec<u64>,
    /// How many intervals have ended.
    intervals: usize,
    /// How many of them became rows.
    judged: usize,
    totals: Totals,
}

impl Sender {
    /// Sends all of `plan`.
    fn send(
        &mut self,
        plan: &Plan,
        counts: &[Counts],
        bench: &Bench<'_>,
        recorder: &mut Recorder<'_>,
    ) -> Result<(), Failure> {
        let start = clock_ns();
        let end = start + plan.duration;
        let (mut since, mut boundary) = (start, (start + plan.report).min(end));
        let (mut sequence, mut next) = (0, start);
        while !bench.stopped() {
            let now = clock_ns();
            if now >= boundary {
                self.close(now, now - since);
                if now >= end {
                    break;
                }
                // An interval in which the sender was held up is longer, and stands for those it ran over.
                boundary = start + ((now - start) / plan.report + 1) * plan.report;
                (since, boundary) = (now, boundary.min(end));
                if !self.counts_come_late {
                    self.judge(now, plan, counts, recorder)?;
                }
            }
            if now < next || sequence == plan.datagrams {
                let until = if sequence == plan.datagrams { boundary } else { next.min(boundary) };
                if until > now + SPIN {
                    sys::sleep_until(sys::Via::Library, (until - SPIN / 2).min(now + NAP), bench.stop()).map_err(could_not_sleep)?;
                }
                continue;
            }
            if self.send_one(sequence, now)? {
                self.sent[self.intervals] += 1;
                sequence += 1;
                next = start + plan.at(sequence);
            }
        }
        Ok(())
    }

    fn send_one(&mut self, sequence: u64, now: u64) -> Result<bool, Failure> {
        for (place, number) in [sequence, self.intervals as u64, now].into_iter().enumerate() {
            self.datagram[place * 8..][..8].copy_from_slice(&number.to_le_bytes());
        }
        match self.socket.send(&self.datagram) {
            Ok(_) => Ok(true),
            // The way is full: the same datagram is tried again, and the rate falls behind, which shows.
            Err(e) if net::is_pause(&e) || e.raw_os_error() == Some(libc::ENOBUFS) => Ok(false),
            Err(source) => Err(Failure::Os { doing: "send a datagram to the receiver".into(), source }),
        }
    }

    fn close(&mut self, now: u64, length: u64) {
        (self.lengths[self.intervals], self.ended[self.intervals]) = (length, now);
        self.intervals += 1;
    }

    /// Waits until the last interval can be judged, and judges all whose counts are known. A stop leaves out what was not judged before.
    fn settle(
        &mut self,
        plan: &Plan,
        counts: &[Counts],
        bench: &Bench<'_>,
        recorder: &mut Recorder<'_>,
    ) -> Result<(), Failure> {
        let due = |ended: u64| ended + GRACE;
        if self.counts_come_late {
            let last = self.intervals.checked_sub(1).map_or(0, |last| due(self.ended[last]));
            while clock_ns() < last && !bench.stopped() {
                let until = last.min(clock_ns() + NAP);
                sys::sleep_until(sys::Via::Library, until, bench.stop()).map_err(could_not_sleep)?;
            }
            return Ok(());
        }
        while self.judged < self.intervals && !bench.stopped() {
            let until = due(self.ended[self.judged]).min(clock_ns() + NAP);
            sys::sleep_until(sys::Via::Library, until, bench.stop()).map_err(could_not_sleep)?;
            self.judge(clock_ns(), plan, counts, recorder)?;
        }
        Ok(())
    }

    /// Makes rows of the intervals that ended long enough before `now`.
    fn judge(&mut self, now: u64, plan: &Plan, counts: &[Counts], recorder: &mut Recorder<'_>) -> Result<(), Failure> {
        while self.judged < self.intervals && self.ended[self.judged] + GRACE <= now {
            let (i, sent) = (self.judged, self.sent[self.judged]);
            let [received, reordered, duplicates] =
                [&counts[i].received, &counts[i].reordered, &counts[i].duplicates].map(|c| c.load(Ordering::Relaxed));
            let Some(lost) = sent.checked_sub(received) else {
                let why = format!("{received} datagrams were received of {sent} that were sent");
                return Err(Failure::Impossible(why));
            };
            recorder.push_row(&[self.lengths[i], plan.rate, sent, received, lost, reordered, duplicates]);
            self.totals.sent += sent;
            self.totals.received += received;
            self.totals.reordered += reordered;
            self.totals.duplicates += duplicates;
            self.judged += 1;
        }
        Ok(())
    }
}
