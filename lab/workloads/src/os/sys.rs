//! Small safe wrappers over the system calls that several workloads share.
//!
//! Calls within a measurement go through the C library, as those of the programs that somebody wants to know of do, or past it
//! ([`Via`]): what the way costs depends on the processor (docs/measuring.md).
//!
//! Invariants: every result is checked; a call that a signal interrupted is made again, unless the flag `stop` is
//! raised: then the wrapper returns `Ok(false)`; nothing here allocates once a measurement runs (errors hold a number,
//! not a text).

use std::io;
use std::os::fd::{BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::io::Errno;
use rustix::thread::{ClockId, NanosleepRelativeResult, Timespec, clock_nanosleep_absolute, clock_nanosleep_relative};

use crate::bench::{Failure, clock_ns};

/// The stop flag of a process that ends by the end of its input.
pub static NEVER: AtomicBool = AtomicBool::new(false);

/// The two ends of a pipe or FIFO.
#[derive(Debug)]
pub struct Pipe {
    pub read: OwnedFd,
    pub write: OwnedFd,
}

/// A new pipe.
///
/// # Errors
/// When the process or the system has too many open files.
pub fn pipe() -> Result<Pipe, Failure> {
    let mut ends = [0; 2];
    // SAFETY: the array has room for the two descriptors that the call writes.
    if unsafe { libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) } != 0 {
        return Err(Failure::last_os("open a pipe"));
    }
    // SAFETY: the kernel just gave both descriptors to us alone.
    unsafe { Ok(Pipe { read: OwnedFd::from_raw_fd(ends[0]), write: OwnedFd::from_raw_fd(ends[1]) }) }
}

/// Whether an interrupted call is to be made again.
///
/// # Errors
/// `error` itself when it was no interruption.
pub fn again(error: impl Into<io::Error>, stop: &AtomicBool) -> io::Result<bool> {
    let error = error.into();
    if error.kind() != io::ErrorKind::Interrupted {
        return Err(error);
    }
    Ok(!stop.load(Ordering::Relaxed))
}

/// The way of a call to the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Via {
    /// The function of the C library.
    Library,
    /// The instruction, where the call is made.
    Direct,
}

/// What a function of the C library that counts bytes has returned.
#[inline]
fn counted(result: isize) -> io::Result<usize> {
    usize::try_from(result).map_err(|_| io::Error::last_os_error())
}

/// Reads what there is, up to as many bytes as have room.
#[inline]
pub fn read(via: Via, fd: RawFd, bytes: &mut [u8]) -> io::Result<usize> {
    match via {
        // SAFETY: the memory is ours, and as long as we say.
        Via::Library => counted(unsafe { libc::read(fd, bytes.as_mut_ptr().cast(), bytes.len()) }),
        Via::Direct => Ok(rustix::io::read(borrowed(fd), bytes)?),
    }
}

/// Writes some of the bytes.
#[inline]
pub fn write(via: Via, fd: RawFd, bytes: &[u8]) -> io::Result<usize> {
    match via {
        // SAFETY: the memory is ours, and as long as we say.
        Via::Library => counted(unsafe { libc::write(fd, bytes.as_ptr().cast(), bytes.len()) }),
        Via::Direct => Ok(rustix::io::write(borrowed(fd), bytes)?),
    }
}

fn borrowed<'a>(fd: RawFd) -> BorrowedFd<'a> {
    // SAFETY: it is borrowed for one call; one that is no longer open makes the kernel refuse that call.
    unsafe { BorrowedFd::borrow_raw(fd) }
}

/// Fills `bytes` from `fd`; `Ok(false)` when it was stopped before.
///
/// # Errors
/// `UnexpectedEof` when every writer has closed its end, otherwise what the kernel said.
#[inline]
pub fn read_all(via: Via, fd: RawFd, bytes: &mut [u8], stop: &AtomicBool) -> io::Result<bool> {
    let mut done = 0;
    while done < bytes.len() {
        match read(via, fd, &mut bytes[done..]) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(got) => done += got,
            Err(error) => {
                if !again(error, stop)? {
                    return Ok(false);
                }
            }
        }
    }
    Ok(true)
}

/// Writes all of `bytes` to `fd`; `Ok(false)` when it was stopped before.
///
/// # Errors
/// What the kernel said; `BrokenPipe` when every reader has closed its end.
#[inline]
pub fn write_all(via: Via, fd: RawFd, bytes: &[u8], stop: &AtomicBool) -> io::Result<bool> {
    let mut done = 0;
    while done < bytes.len() {
        match write(via, fd, &bytes[done..]) {
            Ok(put) => done += put,
            Err(error) => {
                if !again(error, stop)? {
                    return Ok(false);
                }
            }
        }
    }
    Ok(true)
}

/// Gives the calling thread the policy of an ordinary one.
///
/// # Errors
/// Where the system refuses that.
pub fn become_ordinary() -> io::Result<()> {
    let parameters = libc::sched_param { sched_priority: 0 };
    // SAFETY: the call reads a value of ours, and 0 is the calling thread.
    match unsafe { libc::sched_setscheduler(0, libc::SCHED_OTHER, &raw const parameters) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

fn timespec(ns: u64) -> Timespec {
    Timespec { tv_sec: (ns / 1_000_000_000) as i64, tv_nsec: (ns % 1_000_000_000) as _ }
}

/// Sleeps until `CLOCK_MONOTONIC` shows `deadline_ns`; `Ok(false)` when it was stopped before.
///
/// # Errors
/// What the kernel said.
#[inline]
pub fn sleep_until(via: Via, deadline_ns: u64, stop: &AtomicBool) -> io::Result<bool> {
    let deadline = timespec(deadline_ns);
    loop {
        let slept = match via {
            Via::Library => library_sleep(libc::TIMER_ABSTIME, deadline).map_err(|(error, _)| error),
            Via::Direct => clock_nanosleep_absolute(ClockId::Monotonic, &deadline).map_err(io::Error::from),
        };
        match slept {
            Ok(()) => return Ok(true),
            Err(error) => {
                if !again(error, stop)? {
                    return Ok(false);
                }
            }
        }
    }
}

/// clock_nanosleep of the C library, on the monotonic clock. With an error comes what is left of the time.
#[inline]
fn library_sleep(flags: libc::c_int, time: Timespec) -> Result<(), (io::Error, Timespec)> {
    let time = libc::timespec { tv_sec: time.tv_sec as libc::time_t, tv_nsec: time.tv_nsec as libc::c_long };
    let mut rest = time;
    // SAFETY: both point to times of ours.
    match unsafe { libc::clock_nanosleep(libc::CLOCK_MONOTONIC, flags, &raw const time, &raw mut rest) } {
        0 => Ok(()),
        error => {
            let rest = Timespec { tv_sec: rest.tv_sec as _, tv_nsec: rest.tv_nsec as _ };
            Err((io::Error::from_raw_os_error(error), rest))
        }
    }
}

/// Sleeps for `ns` from the moment of the call; `Ok(false)` when it was stopped before.
///
/// # Errors
/// What the kernel said.
#[inline]
pub fn sleep_for(via: Via, ns: u64, stop: &AtomicBool) -> io::Result<bool> {
    let mut rest = timespec(ns);
    loop {
        let slept = match via {
            Via::Library => library_sleep(0, rest),
            Via::Direct => match clock_nanosleep_relative(ClockId::Monotonic, &rest) {
                NanosleepRelativeResult::Ok => Ok(()),
                NanosleepRelativeResult::Interrupted(remaining) => Err((Errno::INTR.into(), remaining)),
                NanosleepRelativeResult::Err(error) => Err((error.into(), rest)),
            },
        };
        match slept {
            Ok(()) => return Ok(true),
            Err((error, remaining)) => {
                if !again(error, stop)? {
                    return Ok(false);
                }
                rest = remaining;
            }
        }
    }
}

/// The time that `batch` calls take, in nanoseconds.
///
/// # Errors
/// What the system said to the first call that failed.
#[inline(always)]
pub fn time_batch<E: Into<io::Error>>(batch: u64, mut call: impl FnMut() -> Result<(), E>) -> io::Result<u64> {
    let before = clock_ns();
    for _ in 0..batch {
        call().map_err(Into::into)?;
    }
    Ok(clock_ns() - before)
}

/// What the C library's `result` means.
#[inline]
pub fn checked(result: libc::c_int) -> io::Result<()> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
