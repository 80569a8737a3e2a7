//! Child processes of the lab: a probe is started, its reports are read, and it is ended.
//!
//! The child leads a process group of its own, so that Ctrl-C in the terminal reaches only the lab, which then ends the
//! group in order. The child is killed when the lab dies, so that no probe keeps running unseen.

use std::io::{self, BufRead, BufReader, Read};
use std::os::fd::{FromRawFd, OwnedFd, RawFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use kizami_protocol::{ARENA_FD, Report};
use kizami_recording::folder::Effective;

use crate::error::Error;

/// How much of a probe's error output is kept: its end.
const STDERR_KEPT: usize = 4096;

/// Reads settings back from outside, once the probe is ready.
pub type ReadBack = Box<dyn Fn(u32) -> Vec<(String, Effective)>>;

/// A probe that runs.
pub struct Started {
    pub(crate) child: Child,
    pub(crate) reports: Receiver<Result<Report, String>>,
    pub(crate) stderr: Arc<Mutex<Vec<u8>>>,
    pub(crate) read_back: Option<ReadBack>,
    /// A program that the probe talks to; it ends with it.
    pub(crate) server: Option<Box<Started>>,
    /// Nothing of it runs any more, and its process number may be another's.
    ended: bool,
}

/// Turns what a probe writes into reports, on a thread of its own.
pub(crate) type Listener = Box<dyn FnOnce(Box<dyn Read + Send>, &Sender<Result<Report, String>>) + Send>;

/// Starts `command` with `descriptor` as its descriptor 3, its standard output read by `listener`, and `in_child` run
/// between fork and exec.
pub(crate) fn start(
    mut command: Command,
    descriptor: Option<RawFd>,
    listener: Listener,
    mut in_child: impl FnMut() + Send + Sync + 'static,
) -> Result<Started, Error> {
    let name = command.get_program().to_string_lossy().into_owned();
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    // Whoever starts this may debug something else: a backtrace is most of the time that a panic takes.
    command.env_remove("RUST_BACKTRACE").env_remove("RUST_LIB_BACKTRACE");
    let lab = std::process::id() as libc::pid_t;
    // SAFETY: what runs between fork and exec are system calls without allocation: prctl, getppid, dup2, fcntl, and
    // `in_child`, of which its callers promise the same.
    unsafe {
        command.pre_exec(move || {
            if libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) != 0 {
                return Err(io::Error::last_os_error());
            }
            if libc::getppid() != lab {
                return Err(io::Error::from_raw_os_error(libc::ESRCH));
            }
            if let Some(fd) = descriptor {
                // dup2 of a descriptor onto itself would keep its close-on-exec flag.
                let given = if fd == ARENA_FD { libc::fcntl(fd, libc::F_SETFD, 0) } else { libc::dup2(fd, ARENA_FD) };
                if given < 0 {
                    return Err(io::Error::last_os_error());
                }
            }
            in_child();
            Ok(())
        });
    }
    // The standard library's own pipe to the child must not have the number that is given out in it: a descriptor of ours
    // takes the number where it is free.
    // SAFETY: a system call on a descriptor that is always open (standard error); the result is owned below, or an error.
    let holder = unsafe { libc::fcntl(2, libc::F_DUPFD_CLOEXEC, ARENA_FD) };
    // SAFETY: the kernel just gave this descriptor to us alone.
    let _holder = (holder >= 0).then(|| unsafe { OwnedFd::from_raw_fd(holder) });
    let mut child = command.spawn().map_err(Error::os(format!("start {name}")))?;
    let (sender, reports) = channel();
    if let Some(stdout) = child.stdout.take() {
        thread::spawn(move || listener(Box::new(stdout), &sender));
    }
    let stderr = Arc::new(Mutex::new(Vec::new()));
    if let Some(stream) = child.stderr.take() {
        let kept = Arc::clone(&stderr);
        thread::spawn(move || keep_end(stream, &kept));
    }
    Ok(Started { child, reports, stderr, read_back: None, server: None, ended: false })
}

/// A listener for probes that write one report a line.
pub(crate) fn report_lines(stream: Box<dyn Read + Send>, sender: &Sender<Result<Report, String>>) {
    for line in BufReader::new(stream).lines() {
        let report = match line {
            Ok(line) if line.trim().is_empty() => continue,
            Ok(line) => Report::parse(&line),
            Err(e) => Err(format!("the probe's reports cannot be read: {e}")),
        };
        let last = report.is_err();
        if sender.send(report).is_err() || last {
            return;
        }
    }
}

fn keep_end(mut stream: impl Read, kept: &Mutex<Vec<u8>>) {
    let mut piece = [0; 1024];
    while let Ok(read @ 1..) = stream.read(&mut piece) {
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend_from_slice(&piece[..read]);
        let excess = kept.len().saturating_sub(STDERR_KEPT);
        kept.drain(..excess);
    }
}

impl Started {
    /// Sends `signal` to the probe and everything that it started. Not after [`Self::end`].
    pub(crate) fn signal(&self, signal: i32) {
        // SAFETY: the child leads this process group and was not reaped yet, so the number is still its own.
        unsafe { libc::kill(-(self.child.id() as libc::pid_t), signal) };
    }

    /// Waits until the probe has ended by itself, at most for `grace`, and then ends what is left of its group.
    pub(crate) fn end(&mut self, grace: Duration) -> io::Result<ExitStatus> {
        let begun = Instant::now();
        // Looked at without reaping it: the number of its group must stay its own until the group was ended.
        while !self.ended && !has_ended(self.child.id()) && begun.elapsed() < grace {
            thread::sleep(Duration::from_millis(1));
        }
        if !self.ended {
            self.signal(libc::SIGKILL);
            self.ended = true;
        }
        self.child.wait()
    }

    /// What the probe wrote to its standard error, at most its end.
    pub(crate) fn error_output(&self) -> String {
        let kept = self.stderr.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&kept).trim().to_owned()
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        let _ = self.end(Duration::ZERO);
    }
}

/// Whether the child `pid` has ended, or is none of ours. It stays to be reaped.
fn has_ended(pid: u32) -> bool {
    // SAFETY: the kernel fills the structure, which is all zeros before, or refuses.
    let (got, info) = unsafe {
        let mut info: libc::siginfo_t = std::mem::zeroed();
        let got = libc::waitid(libc::P_PID, pid, &raw mut info, libc::WEXITED | libc::WNOHANG | libc::WNOWAIT);
        (got, info)
    };
    // SAFETY: the kernel wrote the part of a child, or all is still zero, which is a process number as well.
    got != 0 || unsafe { info.si_pid() } != 0
}

/// How a process ended, in words.
pub(crate) fn ending(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(0), _) => "ended".into(),
        (Some(code), _) => format!("ended with exit status {code}"),
        (_, Some(libc::SIGKILL)) => "was killed (signal 9; the kernel does so when memory runs out)".into(),
        (_, Some(signal)) => format!("was ended by signal {signal}"),
        _ => "ended in an unknown way".into(),
    }
}
