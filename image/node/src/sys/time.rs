//! Clocks, and waiting. Times have 64 bits on every processor.

use core::mem::MaybeUninit;

use linux_raw_sys::general::{__kernel_timespec, CLOCK_MONOTONIC, TIMER_ABSTIME};

#[cfg(not(target_arch = "arm"))]
use linux_raw_sys::general::{
    __NR_clock_gettime as __NR_GETTIME, __NR_clock_nanosleep as __NR_NANOSLEEP, __NR_ppoll as __NR_POLL,
};
#[cfg(target_arch = "arm")]
use linux_raw_sys::general::{
    __NR_clock_gettime64 as __NR_GETTIME, __NR_clock_nanosleep_time64 as __NR_NANOSLEEP, __NR_ppoll_time64 as __NR_POLL,
};

use super::call::call;
use super::errno::{Errno, Result};

const SECOND: u64 = 1_000_000_000;

/// `CLOCK_MONOTONIC` in nanoseconds, which begins with the kernel.
#[inline]
pub fn now() -> u64 {
    let mut time = MaybeUninit::<__kernel_timespec>::zeroed();
    // SAFETY: room for the answer; the clock exists on every Linux.
    let _ = unsafe { call(__NR_GETTIME, [CLOCK_MONOTONIC as usize, time.as_mut_ptr() as usize, 0, 0, 0, 0]) };
    // SAFETY: zeroes are a valid time.
    let time = unsafe { time.assume_init() };
    time.tv_sec as u64 * SECOND + time.tv_nsec as u64
}

fn timespec(ns: u64) -> __kernel_timespec {
    __kernel_timespec { tv_sec: (ns / SECOND) as _, tv_nsec: (ns % SECOND) as _ }
}

/// Sleeps for that long, from the moment of the call.
///
/// # Errors
/// `EINTR` when a signal came.
#[inline]
pub fn sleep(ns: u64) -> Result<()> {
    nanosleep(0, ns)
}

/// Sleeps until [`now`] is `deadline`.
///
/// # Errors
/// `EINTR` when a signal came.
#[inline]
pub fn sleep_until(deadline: u64) -> Result<()> {
    nanosleep(TIMER_ABSTIME, deadline)
}

#[inline]
fn nanosleep(flags: u32, ns: u64) -> Result<()> {
    let time = timespec(ns);
    let arguments = [CLOCK_MONOTONIC as usize, flags as usize, (&raw const time) as usize, 0, 0, 0];
    // SAFETY: the time is ours; what is left of it is not asked for.
    unsafe { call(__NR_NANOSLEEP, arguments) }.map(drop)
}

/// What is waited for of a descriptor, and what came.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Waited {
    fd: i32,
    events: i16,
    came: i16,
}

impl Waited {
    /// Until there is something to be read.
    pub fn reading(fd: usize) -> Self {
        Self { fd: fd as i32, events: linux_raw_sys::general::POLLIN as i16, came: 0 }
    }

    /// Whether it came, or will never.
    pub fn came(&self) -> bool {
        self.came != 0
    }
}

/// Waits until something of it came, for `patience` nanoseconds or for ever: whether something did.
///
/// # Errors
/// `EINTR` when a signal came.
pub fn wait(waited: &mut [Waited], patience: Option<u64>) -> Result<bool> {
    let time = patience.map(timespec);
    let limit = time.as_ref().map_or(0, |time| core::ptr::from_ref(time) as usize);
    // SAFETY: entries and a time of ours; no mask of signals.
    unsafe { call(__NR_POLL, [waited.as_mut_ptr() as usize, waited.len(), limit, 0, 0, 0]) }.map(|came| came > 0)
}

/// The same for one descriptor that is read, whether or not a signal came.
///
/// # Errors
/// What the kernel said.
pub fn readable(fd: usize, patience: Option<u64>) -> Result<bool> {
    let until = patience.map(|patience| now().saturating_add(patience));
    loop {
        let left = until.map(|until| until.saturating_sub(now()));
        match wait(&mut [Waited::reading(fd)], left) {
            Err(Errno::EINTR) => {}
            done => return done,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::files::pipe;
    use super::*;

    #[test]
    fn a_sleep_lasts_as_long_as_asked_and_a_wait_no_longer() {
        let begun = now();
        sleep(2_000_000).expect("slept");
        sleep_until(begun + 5_000_000).expect("slept");
        assert!(now() - begun >= 5_000_000);
        let (read, write) = pipe().expect("a pipe");
        assert_eq!(readable(read.number(), Some(1_000_000)), Ok(false));
        write.write_all(b"x").expect("written");
        assert_eq!(readable(read.number(), None), Ok(true));
    }
}
