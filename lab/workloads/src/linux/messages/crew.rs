//! The processes of one round: its leader, and all that the leader started.
//!
//! The processes form a process group of their own, whose number is not used again until its leader is reaped here.
//! Processes that the leader leaves behind are reaped by the measuring process, which is their subreaper meanwhile. So
//! when a [`Crew`] is dropped, all of its processes have ended, however the round ended.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicBool, Ordering};

use super::tasks::{Outcome, Room, Shape, round};
use crate::bench::Failure;

#[derive(Debug)]
pub(super) struct Crew {
    leader: libc::pid_t,
    /// Becomes readable when the leader ends; older kernels have none.
    end: Option<OwnedFd>,
}

impl Crew {
    /// Starts a round. It joins the control group behind `door`, if there is one.
    pub(super) fn start(shape: &Shape, room: &mut Room, outcome: &Outcome, door: Option<RawFd>) -> io::Result<Self> {
        outcome.clear();
        // SAFETY: asks for a number.
        let parent = unsafe { libc::getpid() };
        // SAFETY: the child makes system calls and uses memory that was reserved before, see `tasks`; then it leaves.
        match unsafe { libc::fork() } {
            -1 => Err(io::Error::last_os_error()),
            0 => {
                // SAFETY: system calls with numbers only. A parent that is gone already would send no signal.
                unsafe {
                    libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
                    if libc::getppid() == parent && libc::setpgid(0, 0) == 0 {
                        round(shape, room, outcome, door);
                    }
                    libc::_exit(0)
                }
            }
            leader => {
                // SAFETY: numbers only. Both processes do it, so that the group is there whoever comes first.
                let end = unsafe {
                    libc::setpgid(leader, leader);
                    libc::syscall(libc::SYS_pidfd_open, leader, 0)
                };
                // SAFETY: the kernel just gave this descriptor to us alone.
                let end = (end >= 0).then(|| unsafe { OwnedFd::from_raw_fd(end as RawFd) });
                Ok(Self { leader, end })
            }
        }
    }

    /// Waits until the leader has ended; `false` when it was stopped before.
    pub(super) fn wait(&self, stop: &AtomicBool) -> bool {
        while !self.ended() {
            if stop.load(Ordering::Relaxed) {
                return false;
            }
            let (fd, patience) = self.end.as_ref().map_or((-1, 10), |end| (end.as_raw_fd(), 50));
            let mut poll = libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
            // SAFETY: one entry of ours; a negative descriptor makes it a sleep. An interruption is as good as an end.
            unsafe { libc::poll(&raw mut poll, 1, patience) };
        }
        true
    }

    fn ended(&self) -> bool {
        // SAFETY: an all-zero siginfo is a valid one, and the call fills it; WNOWAIT leaves the child to be reaped.
        unsafe {
            let mut info: libc::siginfo_t = std::mem::zeroed();
            let flags = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
            let result = libc::waitid(libc::P_PID, self.leader as libc::id_t, &raw mut info, flags);
            result != 0 || info.si_pid() == self.leader
        }
    }
}

impl Drop for Crew {
    fn drop(&mut self) {
        // SAFETY: the leader is not reaped, so the number of the group is its own.
        unsafe { libc::kill(-self.leader, libc::SIGKILL) };
        loop {
            // SAFETY: asks for no status.
            let reaped = unsafe { libc::waitpid(-self.leader, std::ptr::null_mut(), 0) };
            if reaped < 0 && io::Error::last_os_error().kind() != io::ErrorKind::Interrupted {
                return;
            }
        }
    }
}

/// Makes this process the subreaper of its descendants' children, until the value is dropped.
#[derive(Debug)]
pub(super) struct Subreaper {
    before: libc::c_int,
}

impl Subreaper {
    pub(super) fn become_one() -> Result<Self, Failure> {
        let mut before = 0;
        // SAFETY: the kernel writes one number of ours; the second call takes numbers only.
        let result = unsafe {
            libc::prctl(libc::PR_GET_CHILD_SUBREAPER, &raw mut before);
            libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1)
        };
        match result {
            0 => Ok(Self { before }),
            _ => Err(Failure::last_os("become the reaper of the processes that a round leaves behind")),
        }
    }
}

impl Drop for Subreaper {
    fn drop(&mut self) {
        // SAFETY: numbers only.
        unsafe { libc::prctl(libc::PR_SET_CHILD_SUBREAPER, self.before) };
    }
}
