//! Processes that a measurement starts for itself: partners and helpers.

use std::io;
use std::os::fd::RawFd;
use std::time::Duration;

use crate::bench::Failure;

/// A process of the workload's own. It is killed and reaped when this is dropped, and by the kernel when the thread that
/// started it ends.
#[derive(Debug)]
pub struct Child {
    pid: libc::pid_t,
}

/// How many descriptors a child may keep.
const MOST_KEPT: usize = 4;

/// Ends the child should its body ever unwind: it must not run on as a second probe.
struct NoWayBack;

impl Drop for NoWayBack {
    fn drop(&mut self) {
        // SAFETY: ends the process; nothing runs after it.
        unsafe { libc::_exit(255) }
    }
}

impl Child {
    /// Starts a process that does `body` and ends. Of the descriptors it has those in `keep` only (at most four), the first of them as
    /// number 0, the next as 1, and so on; so the end of a neighbour's pipe is seen by everyone that it concerns. Memory
    /// is locked in it when it is in this process, which a fork alone does not do.
    ///
    /// The child's exit code is 0 when `body` succeeds or finds a neighbour gone, otherwise the system's error number.
    ///
    /// # Safety
    /// Other threads may have held any lock at the moment of the fork, so `body` must only make system calls and compute:
    /// it must not allocate, lock, print or panic.
    ///
    /// # Errors
    /// When there may be no more processes.
    pub unsafe fn fork(keep: &[RawFd], body: impl FnOnce() -> io::Result<()>) -> Result<Self, Failure> {
        // SAFETY: as the caller promises.
        unsafe { Self::start(Some(keep), body) }
    }

    /// The same with all descriptors of this process, under the numbers that they have.
    ///
    /// # Safety
    /// As above, but where this process has one thread only, `body` may do whatever it likes.
    ///
    /// # Errors
    /// When there may be no more processes.
    pub unsafe fn fork_with_all(body: impl FnOnce() -> io::Result<()>) -> Result<Self, Failure> {
        // SAFETY: as the caller promises.
        unsafe { Self::start(None, body) }
    }

    unsafe fn start(keep: Option<&[RawFd]>, body: impl FnOnce() -> io::Result<()>) -> Result<Self, Failure> {
        let locked = memory_is_locked();
        // SAFETY: asks for a number.
        let parent = unsafe { libc::getpid() };
        // SAFETY: what the child does after it is confined to system calls, by `confine` and the caller's promise.
        match unsafe { libc::fork() } {
            -1 => Err(Failure::last_os("start a partner process")),
            0 => {
                let _guard = NoWayBack;
                let code = match confine(parent, keep, locked).and_then(|()| body()) {
                    Ok(()) => 0,
                    Err(error) if closed(&error) => 0,
                    Err(error) => error.raw_os_error().unwrap_or(255),
                };
                // SAFETY: ends the process without running what the parent registered for its own end.
                unsafe { libc::_exit(code) }
            }
            pid => Ok(Self { pid }),
        }
    }

    /// Whether it has not ended yet.
    pub fn runs(&self) -> bool {
        self.end().is_none()
    }

    /// How it ended, if it does so within the next moments: its descriptors are closed a little before it has ended.
    pub fn ended(&self) -> Option<String> {
        let end = within_moments(|| self.end())?;
        Some(match end {
            (libc::CLD_EXITED, 0) => "ended as if all was done".to_owned(),
            (libc::CLD_EXITED, code) => format!("failed: {}", io::Error::from_raw_os_error(code)),
            (_, signal) => format!("was killed by signal {signal}"),
        })
    }

    /// What is wrong with its end, which it has been told to come to. On a busy machine that takes its time.
    pub fn failed(&self) -> Option<String> {
        match within(10_000, || self.end()) {
            Some((libc::CLD_EXITED, 0)) => None,
            _ => Some(self.ended().unwrap_or_else(|| "does not end".to_owned())),
        }
    }

    /// The kind of its end and the exit code or signal, if it has ended.
    fn end(&self) -> Option<(libc::c_int, libc::c_int)> {
        let flags = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
        // SAFETY: an all-zero siginfo is a valid one, and the call fills it; WNOWAIT leaves the child to be reaped.
        let (result, info) = unsafe {
            let mut info: libc::siginfo_t = std::mem::zeroed();
            (libc::waitid(libc::P_PID, self.pid as libc::id_t, &raw mut info, flags), info)
        };
        // SAFETY: waitid filled the fields of a child's signal, or left them zero.
        let (pid, status) = unsafe { (info.si_pid(), info.si_status()) };
        (result == 0 && pid == self.pid).then_some((info.si_code, status))
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        // SAFETY: the child is ours and not reaped yet, so the number is still its own.
        unsafe { libc::kill(self.pid, libc::SIGKILL) };
        loop {
            // SAFETY: asks for no status.
            let reaped = unsafe { libc::waitpid(self.pid, std::ptr::null_mut(), 0) };
            if reaped >= 0 || io::Error::last_os_error().kind() != io::ErrorKind::Interrupted {
                return;
            }
        }
    }
}

/// What to say when talking to `partners` failed: their end, if that was the reason.
pub fn partner_failed(doing: &str, error: io::Error, partners: &[Child]) -> Failure {
    let silent = matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut);
    if !closed(&error) && !silent {
        return Failure::os(doing)(error);
    }
    // One that ended because its neighbour was gone ended well, and is not the cause.
    let cause = within_moments(|| partners.iter().find(|p| !matches!(p.end(), None | Some((libc::CLD_EXITED, 0)))));
    let unknown = if silent { "did not answer in time" } else { "closed its descriptors" };
    let cause = cause.and_then(Child::ended).unwrap_or_else(|| unknown.to_owned());
    Failure::Impossible(format!("could not {doing}: a partner process {cause}"))
}

/// What `look` finds within a fifth of a second.
fn within_moments<T>(look: impl FnMut() -> Option<T>) -> Option<T> {
    within(200, look)
}

/// What `look` finds within so many milliseconds.
fn within<T>(ms: u32, mut look: impl FnMut() -> Option<T>) -> Option<T> {
    (0..ms).find_map(|moment| {
        if moment > 0 {
            std::thread::sleep(Duration::from_millis(1));
        }
        look()
    })
}

/// Whether the error says that the other side is gone. A socket of TCP says so in another way when there was a message that
/// the other side had not read, and one of UDP when its message came to where nobody is any more.
fn closed(error: &io::Error) -> bool {
    use io::ErrorKind::{BrokenPipe, ConnectionRefused, ConnectionReset, UnexpectedEof};
    matches!(error.kind(), UnexpectedEof | BrokenPipe | ConnectionReset | ConnectionRefused)
}

/// Makes the child what [`Child::fork`] promises.
fn confine(parent: libc::pid_t, keep: Option<&[RawFd]>, lock_memory: bool) -> io::Result<()> {
    let checked = |result: libc::c_int| if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) };
    // SAFETY: each of these calls takes numbers only; the descriptors are this process's own copies.
    unsafe {
        checked(libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL))?;
        if libc::getppid() != parent {
            return Err(io::Error::from_raw_os_error(libc::ESRCH));
        }
        if lock_memory {
            checked(libc::mlockall(libc::MCL_CURRENT | libc::MCL_FUTURE))?;
        }
        let Some(keep) = keep else { return Ok(()) };
        // First all out of the way of the numbers that they will have.
        let mut moved = [-1; MOST_KEPT];
        for (to, fd) in moved.iter_mut().zip(keep) {
            *to = checked(libc::fcntl(*fd, libc::F_DUPFD, MOST_KEPT as libc::c_int))?;
        }
        for (index, fd) in moved.iter().take(keep.len()).enumerate() {
            checked(libc::dup2(*fd, index as libc::c_int))?;
        }
        let from = keep.len() as libc::c_uint;
        if libc::syscall(libc::SYS_close_range, from, libc::c_uint::MAX, 0) < 0 {
            let most = checked(libc::sysconf(libc::_SC_OPEN_MAX) as libc::c_int)?;
            for fd in from as libc::c_int..most {
                libc::close(fd);
            }
        }
    }
    Ok(())
}

fn memory_is_locked() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let locked = status.lines().find_map(|line| line.strip_prefix("VmLck:"));
    locked.is_some_and(|size| size.trim() != "0 kB")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::os::sys::{NEVER, Via, pipe, read_all, write_all};
    use std::os::fd::AsRawFd;

    #[test]
    fn a_child_has_the_kept_descriptors_and_no_other() {
        let (to, from, other) = (pipe().unwrap(), pipe().unwrap(), pipe().unwrap());
        // SAFETY: system calls only.
        let child = unsafe {
            Child::fork(&[to.read.as_raw_fd(), from.write.as_raw_fd()], || {
                let mut byte = [0];
                read_all(Via::Library, 0, &mut byte, &NEVER)?;
                byte[0] += 1;
                write_all(Via::Library, 1, &byte, &NEVER)?;
                let others = (2..1024).filter(|fd| libc::fcntl(*fd, libc::F_GETFD) >= 0).count();
                write_all(Via::Library, 1, &[others as u8], &NEVER)?;
                Ok(())
            })
        };
        let _child = child.unwrap();
        drop((to.read, from.write, other));
        write_all(Via::Library, to.write.as_raw_fd(), &[41], &NEVER).unwrap();
        let mut answer = [0; 2];
        read_all(Via::Library, from.read.as_raw_fd(), &mut answer, &NEVER).unwrap();
        assert_eq!(answer, [42, 0]);
    }

    #[test]
    fn the_cause_is_the_partner_that_failed_and_not_the_one_that_missed_it() {
        let fork = |code| {
            // SAFETY: builds an error from a number.
            let child = unsafe {
                Child::fork(&[], || if code == 0 { Ok(()) } else { Err(io::Error::from_raw_os_error(code)) })
            };
            child.unwrap()
        };
        let partners = [fork(libc::EPIPE), fork(0), fork(libc::EDEADLK)];
        let why = partner_failed("play", io::ErrorKind::BrokenPipe.into(), &partners).to_string();
        assert!(why.starts_with("could not play: a partner process failed: ") && why.contains("os error 35"), "{why}");
    }

    #[test]
    fn a_child_does_not_outlive_the_thread_that_started_it() {
        let ready = pipe().unwrap();
        let pid = std::thread::spawn(move || {
            // SAFETY: only system calls.
            let child = unsafe {
                Child::fork(&[ready.write.as_raw_fd()], || {
                    write_all(Via::Library, 0, &[1], &NEVER)?;
                    loop {
                        libc::pause();
                    }
                })
            };
            // The thread must not end before the kernel knows that the child is to end with it.
            read_all(Via::Library, ready.read.as_raw_fd(), &mut [0], &NEVER).unwrap();
            std::mem::ManuallyDrop::new(child.unwrap()).pid
        });
        let orphan = Child { pid: pid.join().unwrap() };
        while orphan.runs() {
            std::thread::sleep(Duration::from_millis(1));
        }
        assert_eq!(orphan.ended().as_deref(), Some("was killed by signal 9"));
    }
}
