//! Context switches: a token goes round a ring of processes.

use std::io;
use std::os::fd::{AsRawFd, RawFd};
use std::sync::atomic::{AtomicBool, Ordering};

use crate::os::memory::touch_stack;
use crate::os::child::{self, Child};
use crate::os::sys::{self, NEVER, Pipe};
use crate::os::watch::Watch;
use crate::bench::{Bench, Failure, clock_ns};
use crate::portable::read_words;
use crate::spec::{Kind, Param, Params, Part, Workload};

pub static WORKLOAD: Workload = Workload {
    name: "ctx-ring",
    title: "process switch in a ring of pipes",
    about: "n processes are joined by n pipes to a ring. Each reads a token of four bytes from the pipe before it, reads \
            its own working set once if it has one, and writes the token to the pipe after it. A sample is the time of \
            one or more laps, which is n switches each: divided by them it is the time of one switch with its read, \
            its write and its working set. lmbench's lat_ctx subtracts from that what one process needs for the same \
            reads and writes over the same pipes; here that is the fact overhead_ns, for one switch, and it is never \
            subtracted. On several processors the token may go from one to the other: confine the probe to one for the \
            time of a switch alone. Not in the figure: starting the processes, and a first lap that warms them.",
    reference: "lmbench lat_ctx",
    params: &[
        Param { name: "processes", about: "how many in the ring", kind: Kind::count(2, 400), default: "20" },
        Param {
            name: "working_set",
            about: "memory that each process reads at its turn",
            kind: Kind::size(0, 1 << 30),
            default: "0",
        },
        Param { name: "laps", about: "laps that one sample times", kind: Kind::count(1, 1_000_000), default: "1" },
        Param { name: "samples", about: "how many samples", kind: Kind::count(1, 100_000_000), default: "5000" },
    ],
    parts: |params, _| {
        let operations = params.number("laps") * params.number("processes");
        vec![Part::times(params.number("samples")).operations(operations)]
    },
    seconds: |params| {
        let switches = params.number("samples") * params.number("laps") * params.number("processes");
        switches as f64 * (2.5e-6 + params.number("working_set") as f64 * 0.1e-9)
    },
    linux: Some(run),
    beam: None,
};

const TOKEN: [u8; 4] = *b"turn";
/// How many laps the overhead is measured by.
const OVERHEAD_LAPS: u64 = 200;

fn run(params: &Params, bench: &mut Bench<'_>) -> Result<(), Failure> {
    let mut recorder = bench.recorder(0)?;
    let processes = params.number("processes");
    let (laps, samples) = (params.number("laps"), params.number("samples"));
    let pipes = (0..processes).map(|_| sys::pipe()).collect::<Result<Vec<_>, _>>()?;
    let words = params.number("working_set") as usize / size_of::<u64>();
    let mut memory = vec![1; words];
    let alone = Failure::os("send the token through the pipes of the ring");
    let overhead = overhead(&pipes, &memory, bench.stop()).map_err(alone)?;
    bench.fact("overhead_ns", overhead);

    let mut partners = Vec::with_capacity(pipes.len());
    for pair in pipes.windows(2) {
        let keep = [pair[0].read.as_raw_fd(), pair[1].write.as_raw_fd()];
        let memory = &mut memory;
        // SAFETY: the body makes system calls and reads and writes memory that was reserved before.
        partners.push(unsafe {
            Child::fork(&keep, || {
                // Until it writes to them, its pages are those of all others.
                memory.fill(2);
                while turn(0, 1, memory, &NEVER)? {}
                Ok(())
            })?
        });
    }
    memory.fill(3);
    // Each process has only its own ends left, so the death of one is seen by all.
    let (write, read) = ring_ends(pipes)?;
    let (write, read) = (write.as_raw_fd(), read.as_raw_fd());
    let stop = bench.stop();
    let lap = || io::Result::Ok(sys::write_all(sys::Via::Library, write, &TOKEN, stop)? && take(read, &memory, stop)?);
    let done = Watch::during(stop, 0, |_| {
        if !lap()? {
            return Ok(());
        }
        touch_stack();
        bench.window(|_| {
            for _ in 0..samples {
                let before = clock_ns();
                for _ in 0..laps {
                    if !lap()? || stop.load(Ordering::Relaxed) {
                        return Ok(());
                    }
                }
                recorder.push(clock_ns() - before);
            }
            Ok(())
        })
    })?;
    done.map_err(|error| child::partner_failed("send the token round the ring", error, &partners))
}

/// The first pipe's end to write to and the last one's to read from; all others are closed.
fn ring_ends(pipes: Vec<Pipe>) -> Result<(std::os::fd::OwnedFd, std::os::fd::OwnedFd), Failure> {
    let mut pipes = pipes.into_iter();
    match (pipes.next(), pipes.next_back()) {
        (Some(first), Some(last)) => Ok((first.write, last.read)),
        _ => Err(Failure::Impossible("a ring needs at least two processes".into())),
    }
}

/// Waits for the token and reads the working set.
fn take(read: RawFd, memory: &[u64], stop: &AtomicBool) -> io::Result<bool> {
    let mut token = [0; TOKEN.len()];
    let there = sys::read_all(sys::Via::Library, read, &mut token, stop)?;
    read_words(memory);
    Ok(there)
}

fn turn(read: RawFd, write: RawFd, memory: &[u64], stop: &AtomicBool) -> io::Result<bool> {
    Ok(take(read, memory, stop)? && sys::write_all(sys::Via::Library, write, &TOKEN, stop)?)
}

/// What a turn costs without a switch: one process sends the token through every pipe. Nanoseconds a turn.
fn overhead(pipes: &[Pipe], memory: &[u64], stop: &AtomicBool) -> io::Result<f64> {
    let mut turns: u64 = 0;
    let mut begin = 0;
    for lap in 0..=OVERHEAD_LAPS {
        // The first lap warms the pipes.
        if lap == 1 {
            begin = clock_ns();
            turns = 0;
        }
        for pipe in pipes {
            if stop.load(Ordering::Relaxed) {
                break;
            }
            sys::write_all(sys::Via::Library, pipe.write.as_raw_fd(), &TOKEN, stop)?;
            take(pipe.read.as_raw_fd(), memory, stop)?;
            turns += 1;
        }
    }
    Ok((clock_ns() - begin) as f64 / turns.max(1) as f64)
}
