//! A storm of context switches and forks: on every processor, rings of processes that pass tokens on and end.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};

use super::load::{Load, LoadBench, allowed_cpus};
use crate::bench::Failure;
use crate::os::child::{self, Child};
use crate::os::sys::{self};

pub(super) static LOAD: Load = Load {
    name: "scheduler",
    about: "For every allowed processor, a ring of 8 processes joined by pipes passes 2 tokens round 50 times; then the \
            processes end and the next ring is forked. An operation is one lap of a token.",
    run,
};

const RING: usize = 8;
const TOKENS: usize = 2;
const LAPS: usize = 50;

fn run(bench: &LoadBench<'_>) -> Result<(), Failure> {
    let rings = || {
        while !bench.stopped() {
            ring(bench)?;
        }
        Ok(())
    };
    let cpus = allowed_cpus()?.len();
    std::thread::scope(|scope| {
        let mut threads = Vec::new();
        for _ in 1..cpus {
            let thread = std::thread::Builder::new().name("load-scheduler".into()).spawn_scoped(scope, rings);
            threads.push(thread.map_err(Failure::os("start a thread of the scheduler load"))?);
        }
        let own = rings();
        let others =
            threads.into_iter().map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        others.fold(own, Result::and)
    })
}

/// One ring from its making to its end. The caller's thread is one of its members.
fn ring(bench: &LoadBench<'_>) -> Result<(), Failure> {
    let mut pipes = Vec::with_capacity(RING);
    for _ in 0..RING {
        pipes.push(sys::pipe()?);
    }
    let mut members = Vec::with_capacity(RING - 1);
    for pair in pipes.windows(2) {
        let ends = [pair[0].read.as_raw_fd(), pair[1].write.as_raw_fd()];
        // SAFETY: the child only reads and writes its two descriptors.
        members.push(unsafe { Child::fork(&ends, pass_on) }?);
    }
    let (from, to) = (pipes[RING - 1].read.as_raw_fd(), pipes[0].write.as_raw_fd());
    // Without its own copy of the last pipe's other end, this process learns when a member is gone.
    let own: Vec<OwnedFd> = pipes.into_iter().enumerate().flat_map(|(i, pipe)| own_ends(i, pipe)).collect();
    let result = pass_round(bench, from, to);
    drop(own);
    result.map_err(|error| child::partner_failed("pass a token on in the scheduler load", error, &members))
}

/// What the caller's thread keeps of the pipe `i`.
fn own_ends(i: usize, pipe: sys::Pipe) -> Option<OwnedFd> {
    match i {
        0 => Some(pipe.write),
        i if i == RING - 1 => Some(pipe.read),
        _ => None,
    }
}

fn pass_round(bench: &LoadBench<'_>, from: RawFd, to: RawFd) -> io::Result<()> {
    let mut token = [0u8; 1];
    for _ in 0..TOKENS {
        sys::write_all(sys::Via::Library, to, &token, bench.stop)?;
    }
    for arrived in 1..=TOKENS * LAPS {
        while !readable(from)? {
            if bench.stopped() {
                return Ok(());
            }
        }
        sys::read_all(sys::Via::Library, from, &mut token, bench.stop)?;
        bench.did(1);
        if arrived <= TOKENS * (LAPS - 1) {
            sys::write_all(sys::Via::Library, to, &token, bench.stop)?;
        }
    }
    Ok(())
}

/// A member: passes on what comes in on descriptor 0, until all laps are done.
fn pass_on() -> io::Result<()> {
    let mut token = [0u8; 1];
    for _ in 0..TOKENS * LAPS {
        sys::read_all(sys::Via::Library, 0, &mut token, &sys::NEVER)?;
        sys::write_all(sys::Via::Library, 1, &token, &sys::NEVER)?;
    }
    Ok(())
}

/// Whether a token, or the end of the pipe, came within 50 ms.
fn readable(from: RawFd) -> io::Result<bool> {
    let mut poll = libc::pollfd { fd: from, events: libc::POLLIN, revents: 0 };
    // SAFETY: one entry of ours.
    match unsafe { libc::poll(&raw mut poll, 1, 50) } {
        -1 => match io::Error::last_os_error() {
            e if e.kind() == io::ErrorKind::Interrupted => Ok(false),
            e => Err(e),
        },
        ready => Ok(ready > 0),
    }
}
