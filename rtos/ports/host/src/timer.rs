//! The timer of a processor, a POSIX timer that signals its thread, and the time.

use core::sync::atomic::Ordering;

use crate::interrupts::{TIMER, timer_signal};
use crate::machine::{Machine, program, this};

/// Makes the timer of a processor, which is that thread.
pub(crate) fn make(machine: &Machine, thread: i32) {
    // SAFETY: the description is complete, and the timer is written once, before this thread uses it.
    unsafe {
        let mut event: libc::sigevent = std::mem::zeroed();
        event.sigev_notify = libc::SIGEV_THREAD_ID;
        event.sigev_signo = timer_signal();
        event.sigev_notify_thread_id = thread;
        let made = libc::timer_create(libc::CLOCK_MONOTONIC, &mut event, machine.timer.get());
        assert!(made == 0, "the system has no timer for this thread: {}", std::io::Error::last_os_error());
    }
}

/// Sets this processor's timer: once, after so many microseconds.
pub(crate) fn alarm(after: u32) {
    let machine = this();
    if after == 0 {
        machine.pending.fetch_or(1 << TIMER, Ordering::Relaxed);
        return;
    }
    let time = libc::timespec { tv_sec: (after / 1_000_000).into(), tv_nsec: (after % 1_000_000 * 1000).into() };
    let once = libc::itimerspec { it_interval: libc::timespec { tv_sec: 0, tv_nsec: 0 }, it_value: time };
    // SAFETY: the timer is this thread's.
    unsafe { libc::timer_settime(*machine.timer.get(), 0, &once, std::ptr::null_mut()) };
}

/// The microseconds since the kernel was started.
#[inline(always)]
pub(crate) fn now() -> u32 {
    program().start.elapsed().as_micros() as u32
}
