//! The watch: stops a measurement that is blocked in a system call.
//!
//! A measured thread reads the stop flag after every sample, but not while it sleeps or waits for a partner. The
//! blocking call is itself the measurement, so a poll or a time-out around it would be in the figure. Therefore somebody
//! else reads the flag twenty times a second, and when the flag is raised, interrupts the measured threads with a
//! signal until they have ended: their calls fail with EINTR, and the wrappers of [`super::sys`] see the flag. Until
//! then the cost is a wake-up every 50 ms.
//!
//! That somebody is a process, and no thread: in a process that ever had two threads the C library and the kernel take other ways,
//! which the tools that we compare with do not (docs/measuring.md). It shares the memory with this one, so that no page is copied
//! when it starts, and nothing else: the descriptors of a partner are seen to be closed when they are.
//!
//! The signal is SIGURG, which is ignored by default, so a late signal does no harm.

use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};

use rustix::process::{Pid, Signal, WaitOptions};

use crate::bench::Failure;
use crate::os::sys;

const LOOK_NS: u64 = 50_000_000;
const POKE_NS: u64 = 5_000_000;
/// In words of 16 bytes, as the stack of a process is aligned. A locked process pays for every page of it.
const STACK: usize = 16 * 1024 / size_of::<u128>();

/// See the module.
#[derive(Debug)]
pub struct Watch<'a> {
    stop: &'a AtomicBool,
    process: libc::pid_t,
    /// Zero where there is none yet.
    threads: Vec<AtomicI32>,
}

/// The process that watches. It is ended and reaped when this is dropped, also when the work panics.
struct Watcher {
    pid: Pid,
    /// What it runs on.
    _stack: Vec<u128>,
}

impl Watcher {
    fn start(watch: &Watch<'_>) -> Result<Self, Failure> {
        let mut stack = vec![0u128; STACK];
        let top = stack.as_mut_ptr_range().end;
        let flags = libc::CLONE_VM | libc::SIGCHLD;
        // SAFETY: the function, its argument and its stack outlive the process: `drop` waits for its end. It runs on that stack
        // alone, and keeps to what `look` says.
        let pid = unsafe { libc::clone(look, top.cast(), flags, std::ptr::from_ref(watch).cast_mut().cast()) };
        match Pid::from_raw(pid) {
            Some(pid) if pid.as_raw_nonzero().get() > 0 => Ok(Self { pid, _stack: stack }),
            _ => Err(Failure::last_os("start the process that watches for the stop flag")),
        }
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        let _ = rustix::process::kill_process(self.pid, Signal::KILL);
        while let Err(rustix::io::Errno::INTR) = rustix::process::waitpid(Some(self.pid), WaitOptions::empty()) {}
    }
}

extern "C" fn interrupt(_: c_int) {}

/// The process that watches. It has the memory of the measured one, also what a thread calls its own, so it makes system
/// calls past the C library, which could leave an error number there, and touches nothing else but atomics.
extern "C" fn look(watch: *mut c_void) -> c_int {
    // SAFETY: `start` gives a watch that outlives this process.
    let watch = unsafe { &*watch.cast::<Watch<'_>>() };
    let _ = rustix::process::set_parent_process_death_signal(Some(Signal::KILL));
    // For who looks at the processes of a run.
    let _ = rustix::thread::set_name(c"watch");
    // SAFETY: closes descriptors that nothing in this process uses. Where the kernel has no such call they stay open, and the death
    // of a partner is seen when this process is ended.
    unsafe { libc::syscall(libc::SYS_close_range, 0, libc::c_uint::MAX, 0) };
    let parent = || rustix::process::getppid().map_or(0, |parent| parent.as_raw_nonzero().get());
    while parent() == watch.process {
        if !watch.stop.load(Ordering::Relaxed) {
            let _ = sys::sleep_for(sys::Via::Direct, LOOK_NS, &sys::NEVER);
            continue;
        }
        for thread in watch.threads.iter().map(|thread| thread.load(Ordering::Relaxed)).filter(|thread| *thread != 0) {
            // SAFETY: a signal with a harmless handler, to a thread of the measured process. It fails when that has ended, and then nobody
            // reads error numbers.
            unsafe { libc::syscall(libc::SYS_tgkill, watch.process, thread, libc::SIGURG) };
        }
        let _ = sys::sleep_for(sys::Via::Direct, POKE_NS, &sys::NEVER);
    }
    0
}

impl Watch<'_> {
    /// Does `work`, during which the calling thread, and so many that [`Self::include`] themselves, are interrupted once
    /// `stop` is raised.
    ///
    /// # Errors
    /// When there may be no more processes.
    pub fn during<T>(stop: &AtomicBool, more: usize, work: impl FnOnce(&Watch<'_>) -> T) -> Result<T, Failure> {
        // SAFETY: an all-zero sigaction is a valid one: no flags, so no SA_RESTART; the handler does nothing.
        let installed = unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = interrupt as extern "C" fn(libc::c_int) as libc::sighandler_t;
            libc::sigaction(libc::SIGURG, &raw const action, std::ptr::null_mut())
        };
        if installed != 0 {
            return Err(Failure::last_os("install a handler for SIGURG"));
        }
        // SAFETY: asks for a number.
        let process = unsafe { libc::getpid() };
        let threads = (0..=more).map(|_| AtomicI32::new(0)).collect();
        let watch = Watch { stop, process, threads };
        watch.include();
        let _watcher = Watcher::start(&watch)?;
        Ok(work(&watch))
    }

    /// Has the calling thread interrupted too.
    pub fn include(&self) {
        // SAFETY: asks for a number.
        let thread = unsafe { libc::gettid() };
        let take = |known: &AtomicI32| known.compare_exchange(0, thread, Ordering::Relaxed, Ordering::Relaxed).is_ok();
        let free = self.threads.iter().find(|known| take(known));
        debug_assert!(free.is_some(), "more threads than were said to come");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;
    use std::time::Duration;

    use crate::os::sys::Via;

    #[test]
    fn a_thread_that_waits_for_ever_is_freed_by_the_flag() {
        let stop = AtomicBool::new(false);
        let pipe = sys::pipe().unwrap();
        let read = std::os::fd::AsRawFd::as_raw_fd(&pipe.read);
        let done = Watch::during(&stop, 0, |_| {
            thread::scope(|scope| {
                scope.spawn(|| {
                    thread::sleep(Duration::from_millis(20));
                    stop.store(true, Ordering::Relaxed);
                });
                sys::read_all(Via::Library, read, &mut [0], &stop)
            })
        });
        assert!(!done.unwrap().unwrap());
    }

    #[test]
    fn who_watches_is_no_thread_and_is_gone_afterwards() {
        let names = |folder: &str| -> Vec<String> {
            let tasks = std::fs::read_dir(folder).unwrap().flatten();
            tasks.filter_map(|task| std::fs::read_to_string(task.path().join("comm")).ok()).collect()
        };
        let children = || {
            let own = format!("/proc/self/task/{}/children", rustix::thread::gettid().as_raw_nonzero());
            let children = std::fs::read_to_string(own).unwrap();
            children.split_whitespace().map(str::to_owned).collect::<Vec<_>>()
        };
        let stop = AtomicBool::new(false);
        let within = Watch::during(&stop, 0, |_| {
            let is_named = || {
                let comm = children().first().map(|child| std::fs::read_to_string(format!("/proc/{child}/comm")));
                comm.is_some_and(|comm| comm.is_ok_and(|comm| comm == "watch\n"))
            };
            while !is_named() {
                thread::sleep(Duration::from_millis(1));
            }
            (children().len(), names("/proc/self/task"))
        });
        let (watchers, threads) = within.unwrap();
        assert_eq!(watchers, 1);
        assert!(!threads.contains(&"watch\n".to_owned()), "{threads:?}");
        assert!(children().is_empty());
    }
}
