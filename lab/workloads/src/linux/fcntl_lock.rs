//! The hand-over of a byte-range lock between two processes.

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, RawFd};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::os::memory::{self, Shared};
use crate::os::child::{self, Child};
use crate::os::sys::{self, NEVER};
use crate::os::watch::Watch;
use crate::bench::{Bench, Failure, clock_ns};
use crate::spec::{Kind, Param, Params, Part, Workload};

pub static WORKLOAD: Workload = Workload {
    name: "fcntl-lock",
    title: "hand-over of a file lock",
    about: "Two processes take fcntl write locks on single bytes of one file from each other. A sample is one exchange: \
            a lock comes over and one goes back, two hand-overs. With order=ring each process waits for the lock after \
            the one that it holds, of three, and then releases its own: nobody can go on before the other has, so each \
            exchange really switches twice. order=lmbench makes the calls of lat_fcntl instead, with two locks that each \
            process releases and at once asks for again: Linux wakes a waiter but does not give it the lock, so the \
            process that runs mostly takes it back, and most exchanges switch nothing. The fact partner_rounds says how \
            many rounds the partner made to this side's one: near 1 with order=ring. Not in the figure: opening the \
            file and starting the partner.",
    reference: "lmbench lat_fcntl",
    params: &[
        Param { name: "exchanges", about: "how many exchanges", kind: Kind::count(1, 100_000_000), default: "50000" },
        Param {
            name: "order",
            about: "locks in a ring, so that each exchange is one, or lmbench's calls to compare with it",
            kind: Kind::Choice(&["ring", "lmbench"]),
            default: "ring",
        },
    ],
    parts: |params, _| vec![Part::times(params.number("exchanges")).operations(2)],
    seconds: |params| params.number("exchanges") as f64 * 8e-6,
    linux: Some(run),
    beam: None,
};

/// By how many rounds this side can be ahead of what the partner has counted: it counts after it released, and the first
/// round of this side is not counted here.
const MOST_AHEAD: u64 = 2;

/// Sets the lock on byte `at` to `kind`, and waits for it if it must; `Ok(false)` when it was stopped before.
fn lock(file: RawFd, kind: libc::c_int, at: u8, stop: &AtomicBool) -> io::Result<bool> {
    let request = libc::flock {
        l_type: kind as libc::c_short,
        l_whence: libc::SEEK_SET as libc::c_short,
        l_start: libc::off_t::from(at),
        l_len: 1,
        l_pid: 0,
    };
    loop {
        // SAFETY: the pointer is to a request of ours, which the call reads.
        if unsafe { libc::fcntl(file, libc::F_SETLKW, &raw const request) } == 0 {
            return Ok(true);
        }
        if !sys::again(io::Error::last_os_error(), stop)? {
            return Ok(false);
        }
    }
}

/// One side. Its state is the lock that it holds in the ring of three, or nothing with lmbench's two.
struct Side<'a> {
    file: RawFd,
    ring: Option<u8>,
    /// For lmbench's order: the lock that this side takes first and the other one.
    first: u8,
    stop: &'a AtomicBool,
}

impl Side<'_> {
    fn take(&self, at: u8) -> io::Result<bool> {
        lock(self.file, libc::F_WRLCK, at, self.stop)
    }

    fn release(&self, at: u8) -> io::Result<bool> {
        lock(self.file, libc::F_UNLCK, at, self.stop)
    }

    /// This side's half of an exchange; `Ok(false)` when it was stopped.
    #[inline]
    fn round(&mut self) -> io::Result<bool> {
        if let Some(held) = self.ring {
            let next = (held + 1) % 3;
            self.ring = Some(next);
            return Ok(self.take(next)? && self.release(held)?);
        }
        match self.first {
            0 => Ok(self.take(0)? && self.release(1)? && self.take(1)? && self.release(0)?),
            _ => Ok(self.release(0)? && self.take(1)? && self.release(1)? && self.take(0)?),
        }
    }
}

fn run(params: &Params, bench: &mut Bench<'_>) -> Result<(), Failure> {
    let mut recorder = bench.recorder(0)?;
    let path = bench.scratch().join("locks");
    let file = File::options().read(true).write(true).create(true).truncate(true).open(&path);
    let file = file.map_err(Failure::os(format!("create {}", path.display())))?;
    let ring = params.choice("order") == "ring";
    let stop = bench.stop();
    let mut here = Side { file: file.as_raw_fd(), ring: ring.then_some(0), first: 0, stop };
    let taken = if ring { here.take(0) } else { here.take(0).and_then(|_| here.take(1)) };
    if !taken.map_err(Failure::os(format!("lock {}", path.display())))? {
        return Ok(());
    }

    let ready = sys::pipe()?;
    let rounds = Shared::<AtomicU64>::new()?;
    // SAFETY: the body makes system calls only, and counts in memory that both processes have mapped.
    let partner = unsafe {
        Child::fork(&[file.as_raw_fd(), ready.write.as_raw_fd()], || {
            let mut there = Side { file: 0, ring: ring.then_some(1), first: 1, stop: &NEVER };
            if ring {
                there.take(1)?;
            }
            sys::write_all(sys::Via::Library, 1, &[1], &NEVER)?;
            loop {
                there.round()?;
                rounds.fetch_add(1, Ordering::Relaxed);
            }
        })?
    };
    drop(ready.write);
    let exchanges = params.number("exchanges");
    let (mut made, mut partners) = (0, 0);
    let done: io::Result<()> = Watch::during(stop, 0, |_| {
        // The partner holds its lock from here on.
        if !sys::read_all(sys::Via::Library, ready.read.as_raw_fd(), &mut [0], stop)? || !here.round()? {
            return Ok(());
        }
        memory::touch_stack();
        bench.window(|_| {
            let begin = rounds.load(Ordering::Relaxed);
            while made < exchanges && !stop.load(Ordering::Relaxed) {
                let before = clock_ns();
                if !here.round()? {
                    break;
                }
                recorder.push(clock_ns() - before);
                made += 1;
                partners = rounds.load(Ordering::Relaxed) - begin;
                // The kernel takes the locks from a process that dies, so this side could go on alone. In the ring
                // neither is ever further ahead while both live; in lmbench's order only the kernel can tell.
                let alone = if ring { made > partners + MOST_AHEAD } else { made % 1024 == 0 && !partner.runs() };
                if alone {
                    return Err(io::ErrorKind::UnexpectedEof.into());
                }
            }
            Ok(())
        })
    })?;
    done.map_err(|error| child::partner_failed(&format!("exchange locks on {}", path.display()), error, &[partner]))?;
    bench.fact("partner_rounds", partners as f64 / made.max(1) as f64);
    Ok(())
}
