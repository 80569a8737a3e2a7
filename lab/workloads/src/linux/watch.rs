//! Stops a measurement that is blocked in a system call.
//!
//! A measured thread looks at the stop flag after every sample, but not while it sleeps or waits for a partner, and what
//! it waits in is what is measured: a poll or a time-out around it would be in the figure. So another thread looks at
//! the flag twenty times a second, and when it is raised, interrupts the measured threads with a signal until they have
//! ended: their calls fail with EINTR, and the wrappers of [`super::sys`] see the flag. Until then the cost is a wake-up
//! of that thread every 50 ms.
//!
//! The signal is SIGURG, which is ignored by default: one that comes late does no harm.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Barrier, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use crate::bench::Failure;

const LOOK: Duration = Duration::from_millis(50);
const POKE: Duration = Duration::from_millis(5);
/// A locked process pays for every page of a stack; this thread needs little.
const STACK: usize = 64 * 1024;

/// See the module.
#[derive(Debug)]
pub struct Watch<'a> {
    stop: &'a AtomicBool,
    over: AtomicBool,
    threads: Mutex<Vec<libc::pid_t>>,
}

/// Ends the watching thread, also when the work panics.
struct Over<'a>(&'a Watch<'a>, thread::Thread);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.over.store(true, Ordering::Release);
        self.1.unpark();
    }
}

extern "C" fn interrupt(_: libc::c_int) {}

impl Watch<'_> {
    /// Does `work`, during which the calling thread, and those that [`Self::include`] themselves, are interrupted once
    /// `stop` is raised. The watching thread has started, and allocates no more, before `work` begins.
    ///
    /// # Errors
    /// When there may be no more threads.
    pub fn during<T>(stop: &AtomicBool, work: impl FnOnce(&Watch<'_>) -> T) -> Result<T, Failure> {
        // SAFETY: an all-zero sigaction is a valid one: no flags, so no SA_RESTART; the handler does nothing.
        let installed = unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = interrupt as extern "C" fn(libc::c_int) as libc::sighandler_t;
            libc::sigaction(libc::SIGURG, &raw const action, std::ptr::null_mut())
        };
        if installed != 0 {
            return Err(Failure::last_os("install a handler for SIGURG"));
        }
        let watch = Watch { stop, over: AtomicBool::new(false), threads: Mutex::new(Vec::with_capacity(1)) };
        watch.include();
        let started = Barrier::new(2);
        thread::scope(|scope| {
            let watcher = thread::Builder::new().name("watch".into()).stack_size(STACK);
            let watcher = watcher.spawn_scoped(scope, || {
                started.wait();
                watch.look();
            });
            let watcher = watcher.map_err(Failure::os("start the thread that watches for the stop flag"))?;
            started.wait();
            let _over = Over(&watch, watcher.thread().clone());
            Ok(work(&watch))
        })
    }

    /// Has the calling thread interrupted too.
    pub fn include(&self) {
        // SAFETY: asks for a number.
        let thread = unsafe { libc::gettid() };
        self.threads.lock().unwrap_or_else(PoisonError::into_inner).push(thread);
    }

    fn look(&self) {
        // SAFETY: asks for a number.
        let process = unsafe { libc::getpid() };
        while !self.over.load(Ordering::Acquire) {
            if !self.stop.load(Ordering::Relaxed) {
                thread::park_timeout(LOOK);
                continue;
            }
            for thread in self.threads.lock().unwrap_or_else(PoisonError::into_inner).iter() {
                // SAFETY: a signal with a harmless handler, to a thread of this process; one that ended is an error
                // that changes nothing.
                unsafe { libc::syscall(libc::SYS_tgkill, process, *thread, libc::SIGURG) };
            }
            thread::park_timeout(POKE);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linux::sys;

    #[test]
    fn a_thread_that_waits_for_ever_is_freed_by_the_flag() {
        let stop = AtomicBool::new(false);
        let pipe = sys::pipe().unwrap();
        let read = std::os::fd::AsRawFd::as_raw_fd(&pipe.read);
        let done = Watch::during(&stop, |_| {
            thread::scope(|scope| {
                scope.spawn(|| {
                    thread::sleep(Duration::from_millis(20));
                    stop.store(true, Ordering::Relaxed);
                });
                sys::read_all(read, &mut [0], &stop)
            })
        });
        assert!(!done.unwrap().unwrap());
    }
}
