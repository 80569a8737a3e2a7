//! Child processes of the lab: a probe is started, its reports are read, and it is ended.
//!
//! The child leads a process group of its own, so that Ctrl-C in the terminal reaches only the lab, which then ends the
//! group in order. The child is killed when the lab dies, so that no probe keeps running unseen.

use std::io::{self, BufRead, BufReader, PipeReader, PipeWriter, Read};
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Command, ExitStatus};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use kizami_protocol::{ARENA_FD, Report, ending};
use kizami_recording::folder::Effective;

use crate::error::Error;
use crate::keeper::Keeper;
use crate::spawn::{self, Process};

pub(crate) use crate::spawn::Input;

/// How much of a probe's error output is kept: its end.
const STDERR_KEPT: usize = 4096;

/// Reads settings back from outside, once the probe is ready.
pub type ReadBack = Box<dyn Fn(u32) -> Vec<(String, Effective)> + Send>;

/// A probe that runs.
pub struct Started {
    pub(crate) reports: Receiver<Result<Report, String>>,
    /// Where a child reads, until somebody takes it.
    pub(crate) stdin: Option<PipeWriter>,
    pub(crate) read_back: Option<ReadBack>,
    /// A program that the probe talks to; it ends with it.
    pub(crate) server: Option<Box<Started>>,
    /// Removes what is left elsewhere.
    pub(crate) keeper: Option<Keeper>,
    /// What serves the probe, beside its own process and those that this started.
    pub(crate) served_by: ServedBy,
    /// What the environment counted, told when all is over.
    pub(crate) at_end: Option<AtEnd>,
    /// The file in which it is told which functions took the instructions of the trial, when that is over.
    pub(crate) profile: Option<PathBuf>,
    running: Box<dyn Running>,
}

/// What is known of a trial when it is over.
pub(crate) type AtEnd = Box<dyn FnOnce() -> Known + Send>;

/// What an environment counted in a trial, and what it then knows of settings.
#[derive(Default)]
pub(crate) struct Known {
    pub facts: Vec<(String, f64)>,
    pub effective: Vec<(String, Effective)>,
}

/// What serves a probe and is no child of the lab.
#[derive(Debug, Default)]
pub(crate) struct ServedBy {
    /// The number of the probe's process, once it is known.
    pub probe: Arc<OnceLock<u32>>,
    /// The file with the number of a daemon.
    pub daemon: Option<PathBuf>,
    /// Files that were read, and are mapped by nobody.
    pub files: Vec<PathBuf>,
}

/// What a probe runs as.
pub(crate) trait Running: Send {
    /// The number of its process, or that of the program that runs it.
    fn process(&self) -> u32;
    /// Sends `signal` to the probe and everything that it started, unless it has ended.
    fn signal(&self, signal: i32);
    /// Why it can be given up already, if what runs it answers nothing any more. Asked several times a second.
    fn hangs(&mut self) -> Option<String> {
        None
    }
    /// Waits until the probe has ended by itself, at most for `grace`, and then ends what is left of it: how it ended, in
    /// words. May be called again.
    fn end(&mut self, grace: Duration) -> String;
    /// What the probe wrote to its standard error, at most its end.
    fn said(&self) -> String;
    /// What went wrong beneath the probe, as a sentence, where the probe was not told so or not all of it.
    fn trouble(&self) -> Option<String> {
        None
    }
}

/// Turns what a probe writes into reports, on a thread of its own.
pub(crate) type Listener = Box<dyn FnOnce(PipeReader, &Sender<Result<Report, String>>) + Send>;

/// Starts `command` with `descriptors` as its descriptors 3 and up, its standard output read by `listener`, and `in_child`
/// run before its program begins: system calls without allocation.
pub(crate) fn start(
    command: Command,
    input: Input,
    descriptors: &[BorrowedFd<'_>],
    listener: Listener,
    in_child: impl FnMut(),
) -> Result<Started, Error> {
    start_as(false, command, input, descriptors, listener, in_child)
}

/// The same for a program that starts the probe somewhere else.
pub(crate) fn start_engine(command: Command, listener: Listener, in_child: impl FnMut()) -> Result<Started, Error> {
    start_as(true, command, Input::Empty, &[], listener, in_child)
}

fn start_as(
    engine: bool,
    mut command: Command,
    input: Input,
    descriptors: &[BorrowedFd<'_>],
    listener: Listener,
    mut in_child: impl FnMut(),
) -> Result<Started, Error> {
    let name = command.get_program().to_string_lossy().into_owned();
    let given = Given::new(descriptors).map_err(Error::os(format!("pass descriptors to {name}")))?;
    let numbers = given.numbers();
    // Whoever starts this may debug something else: a backtrace is most of the time that a panic takes.
    command.env_remove("RUST_BACKTRACE").env_remove("RUST_LIB_BACKTRACE");
    let lab = std::process::id() as libc::pid_t;
    let mut first = || {
        // SAFETY: system calls with numbers.
        unsafe {
            if libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) != 0 {
                return Err(io::Error::last_os_error());
            }
            if libc::getppid() != lab {
                return Err(io::Error::from_raw_os_error(libc::ESRCH));
            }
            for (number, &fd) in (ARENA_FD..).zip(&numbers) {
                if libc::dup2(fd, number) < 0 {
                    return Err(io::Error::last_os_error());
                }
            }
        }
        in_child();
        Ok(())
    };
    // SAFETY: these are system calls without allocation: prctl, getppid, dup2, and `in_child`, of which its callers promise the same.
    let spawned = unsafe { spawn::spawn(&command, input, &mut first) }.map_err(Error::os(format!("start {name}")))?;
    drop(given);
    let (sender, reports) = channel();
    thread::spawn(move || listener(spawned.stdout, &sender));
    let stderr = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&stderr);
    thread::spawn(move || keep_end(spawned.stderr, &kept));
    let running = Box::new(Group { child: spawned.process, stderr, engine, ended: false, killed: false });
    let mut started = Started::of(reports, running);
    started.stdin = spawned.stdin;
    Ok(started)
}

/// Descriptors that a child is to have as 3 and up, while it is started.
struct Given {
    /// Their copies, with higher numbers than any that the child is to have: one must not take the place of the next.
    copies: Vec<OwnedFd>,
    /// The numbers that are given out, where they were free: the standard library's own pipe to the child must not have one.
    _holders: Vec<OwnedFd>,
}

impl Given {
    fn new(descriptors: &[BorrowedFd<'_>]) -> io::Result<Self> {
        let above = ARENA_FD + descriptors.len() as RawFd;
        let copy = |fd: RawFd, least: RawFd| {
            // SAFETY: a system call on an open descriptor; the result is owned below, or an error.
            match unsafe { libc::fcntl(fd, libc::F_DUPFD_CLOEXEC, least) } {
                copy @ 0.. => {
                    // SAFETY: the kernel just gave this descriptor to us alone.
                    Ok(unsafe { OwnedFd::from_raw_fd(copy) })
                }
                _ => Err(io::Error::last_os_error()),
            }
        };
        let copies = descriptors.iter().map(|fd| copy(fd.as_raw_fd(), above)).collect::<io::Result<_>>()?;
        let holders = (ARENA_FD..=above).map(|_| copy(libc::STDERR_FILENO, ARENA_FD)).collect::<io::Result<_>>()?;
        Ok(Self { copies, _holders: holders })
    }

    fn numbers(&self) -> Vec<RawFd> {
        self.copies.iter().map(AsRawFd::as_raw_fd).collect()
    }
}

/// A listener for probes that write one report a line.
pub(crate) fn report_lines(stream: impl Read, sender: &Sender<Result<Report, String>>) {
    report_lines_among(|_| false, stream, sender);
}

/// The same where lines are written as well that are no reports: `takes` says which it takes.
pub(crate) fn report_lines_among(
    takes: impl Fn(&str) -> bool,
    stream: impl Read,
    sender: &Sender<Result<Report, String>>,
) {
    for line in BufReader::new(stream).lines() {
        let report = match line {
            Ok(line) if line.trim().is_empty() || takes(&line) => continue,
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
    pub(crate) fn of(reports: Receiver<Result<Report, String>>, running: Box<dyn Running>) -> Self {
        let served_by = ServedBy::default();
        Self {
            reports,
            stdin: None,
            read_back: None,
            server: None,
            keeper: None,
            served_by,
            at_end: None,
            profile: None,
            running,
        }
    }

    pub(crate) fn process(&self) -> u32 {
        self.running.process()
    }

    pub(crate) fn signal(&self, signal: i32) {
        self.running.signal(signal);
    }

    pub(crate) fn hangs(&mut self) -> Option<String> {
        self.running.hangs()
    }

    pub(crate) fn end(&mut self, grace: Duration) -> String {
        self.running.end(grace)
    }

    pub(crate) fn trouble(&self) -> Option<String> {
        self.running.trouble()
    }

    pub(crate) fn error_output(&self) -> String {
        self.running.said()
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        let _ = self.end(Duration::ZERO);
    }
}

/// A child that leads a process group.
struct Group {
    child: Process,
    stderr: Arc<Mutex<Vec<u8>>>,
    /// It started the probe somewhere else, and its exit status tells of the probe as a shell would.
    engine: bool,
    /// Nothing of it runs any more, and its process number may be another's.
    ended: bool,
    /// It had not ended when its time was over.
    killed: bool,
}

impl Running for Group {
    fn process(&self) -> u32 {
        self.child.id()
    }

    fn signal(&self, signal: i32) {
        if !self.ended {
            // SAFETY: the child leads this process group and was not reaped yet, so the number is still its own.
            unsafe { libc::kill(-(self.child.id() as libc::pid_t), signal) };
        }
    }

    fn end(&mut self, grace: Duration) -> String {
        let begun = Instant::now();
        // Looked at without reaping it: the number of its group must stay its own until the group was ended.
        while !self.ended && !has_ended(self.child.id()) && begun.elapsed() < grace {
            thread::sleep(Duration::from_millis(1));
        }
        if !self.ended {
            self.killed = !has_ended(self.child.id());
            self.signal(libc::SIGKILL);
            self.ended = true;
        }
        match self.child.wait() {
            Ok(status) if self.killed && status.signal() == Some(libc::SIGKILL) => "did not end, and was killed".into(),
            // A program that starts another ends with 128 and the number of the signal that ended the other.
            Ok(status) => match status.code() {
                Some(code @ 129..=192) if self.engine => ending(ExitStatus::from_raw(code - 128)),
                _ => ending(status),
            },
            Err(e) => format!("ended, and its status is unknown ({e})"),
        }
    }

    fn said(&self) -> String {
        let kept = self.stderr.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&kept).trim().to_owned()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_kills_a_child_is_told_apart() {
        let ended = |script: &str, grace: Duration| {
            let mut command = Command::new("sh");
            command.args(["-c", script]);
            let mut child = start(command, Input::Empty, &[], Box::new(|_, _| {}), || {}).expect("it starts");
            // How it ended stays the same however often that is asked.
            let (first, again) = (child.end(grace), child.end(Duration::ZERO));
            assert_eq!(first, again);
            first
        };
        let long = Duration::from_secs(60);
        assert_eq!(ended("exit 3", long), "ended with exit status 3");
        assert!(ended("kill -9 $$", long).contains("signal 9"));
        assert_eq!(ended("sleep 60", Duration::ZERO), "did not end, and was killed");
    }
}
