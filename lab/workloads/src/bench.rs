//! The bench of a workload: its recorders, a clock, a folder, and the stop flag.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use kizami_recording::Recorder;
use kizami_recording::folder::Effective;

use crate::window;

/// `CLOCK_MONOTONIC`, in nanoseconds. Through the vDSO: no system call where the clock source allows it.
#[inline(always)]
pub fn clock_ns() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is to a timespec of ours; the clock exists on every Linux.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// The time of day, in seconds since 1970.
fn unix_seconds() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64())
}

/// How the start of this probe went: nanoseconds of [`clock_ns`]'s clock, negative before that began.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Start {
    /// The lab began to start it, or the machine that it is in.
    pub began: i64,
    /// The program that runs here began.
    pub first: i64,
    /// Of a machine whose kernel is its own: it ran its first instruction, its first process began, and its agent did.
    pub machine: Option<[i64; 3]>,
}

/// The recorders, the folder and the stop flag of a running workload, and the facts and settings that it reports.
#[derive(Debug)]
pub struct Bench<'a> {
    recorders: Vec<Option<Recorder<'a>>>,
    columns: Vec<Vec<String>>,
    stop: &'a AtomicBool,
    scratch: &'a Path,
    facts: Vec<(String, f64)>,
    effective: Vec<(String, Effective)>,
    start: Start,
    peer: Option<SocketAddr>,
    tell: fn(&str, f64),
}

impl<'a> Bench<'a> {
    /// A bench with one recorder for each part of the workload, in its order, and the names of its columns.
    pub fn new(
        recorders: Vec<Recorder<'a>>,
        columns: Vec<Vec<String>>,
        stop: &'a AtomicBool,
        scratch: &'a Path,
    ) -> Self {
        let recorders = recorders.into_iter().map(Some).collect();
        let now = clock_ns() as i64;
        let start = Start { began: now, first: now, machine: None };
        Self {
            recorders,
            columns,
            stop,
            scratch,
            facts: Vec::new(),
            effective: Vec::new(),
            start,
            peer: None,
            tell: |_, _| {},
        }
    }

    /// The same of a probe whose start went so, whose partner outside listens there, and which can tell a fact while it works.
    pub fn of_probe(self, start: Start, peer: Option<SocketAddr>, tell: fn(&str, f64)) -> Self {
        Self { start, peer, tell, ..self }
    }

    /// Where the partner of a workload of the network listens, if it is outside of this environment.
    pub fn peer(&self) -> Option<SocketAddr> {
        self.peer
    }

    pub fn start(&self) -> Start {
        self.start
    }

    /// Tells a figure at once.
    pub fn tell(&self, name: &str, value: f64) {
        (self.tell)(name, value);
    }

    /// The recorder of part `index`, to be taken once; it may move to another thread.
    ///
    /// # Errors
    /// When the workload asks for more than its `parts` declared, or twice.
    pub fn recorder(&mut self, index: usize) -> Result<Recorder<'a>, Failure> {
        self.recorders
            .get_mut(index)
            .and_then(Option::take)
            .ok_or_else(|| Failure::Impossible(format!("the recorder of part {index} is not there to be taken")))
    }

    /// The names of the columns of part `index`, as whoever made room for them knows them: what a workload would name
    /// them now may have changed since.
    pub fn columns(&self, index: usize) -> &[String] {
        self.columns.get(index).map_or(&[], Vec::as_slice)
    }

    /// Whether to end early. A workload looks at it at least every 100 ms, and returns normally when it is raised.
    pub fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// The flag itself, for other threads.
    pub fn stop(&self) -> &'a AtomicBool {
        self.stop
    }

    /// An empty folder for files of the workload's own. The lab removes it.
    pub fn scratch(&self) -> &'a Path {
        self.scratch
    }

    /// Puts a figure beside the samples.
    pub fn fact(&mut self, name: &str, value: f64) {
        self.facts.push((name.to_owned(), value));
    }

    /// Reports when the rows of a part began, which is what their times of day are counted from: `start` is a time of
    /// [`clock_ns`]'s clock that has passed, `part` empty or such as `_cpu0`. What this does not report begins with the window.
    pub fn began(&mut self, part: &str, start: u64) {
        let ago = clock_ns().saturating_sub(start);
        self.fact(&format!("began_unix_seconds{part}"), unix_seconds() - ago as f64 * 1e-9);
    }

    /// Reports the effective value of a setting that the workload arranged (socket buffers, the cache's state, …).
    pub fn effective(&mut self, setting: &str, value: impl Into<String>, as_requested: bool, why: &str) {
        let effective = Effective { value: value.into(), as_requested, why: why.to_owned() };
        self.effective.push((setting.to_owned(), effective));
    }

    /// Runs the measurement itself, and records as facts what happened in it: page faults and context switches of the
    /// whole process, its processor time, and allocations where they are counted; and the time of day at its ends.
    pub fn window<T>(&mut self, measure: impl FnOnce(&mut Self) -> T) -> T {
        let (before, allocated) = (Usage::now(), window::allocations());
        let began = unix_seconds();
        window::open();
        let result = measure(self);
        window::close();
        let ended = unix_seconds();
        let (after, allocations) = (Usage::now(), window::allocations() - allocated);
        self.fact("began_unix_seconds", began);
        self.fact("ended_unix_seconds", ended);
        self.fact("minor_faults", (after.minor - before.minor) as f64);
        self.fact("major_faults", (after.major - before.major) as f64);
        self.fact("voluntary_switches", (after.voluntary - before.voluntary) as f64);
        self.fact("involuntary_switches", (after.involuntary - before.involuntary) as f64);
        self.fact("cpu_seconds", after.cpu - before.cpu);
        self.fact("allocations", allocations as f64);
        result
    }

    pub fn facts(&self) -> &[(String, f64)] {
        &self.facts
    }

    pub fn effective_settings(&self) -> &[(String, Effective)] {
        &self.effective
    }
}

/// What the kernel accounted to this process.
struct Usage {
    minor: i64,
    major: i64,
    voluntary: i64,
    involuntary: i64,
    cpu: f64,
}

impl Usage {
    fn now() -> Self {
        // SAFETY: an all-zero rusage is a valid one, and the call fills it; RUSAGE_SELF cannot fail.
        let usage = unsafe {
            let mut usage: libc::rusage = std::mem::zeroed();
            libc::getrusage(libc::RUSAGE_SELF, &raw mut usage);
            usage
        };
        let seconds = |t: libc::timeval| t.tv_sec as f64 + t.tv_usec as f64 / 1e6;
        Self {
            minor: usage.ru_minflt,
            major: usage.ru_majflt,
            voluntary: usage.ru_nvcsw,
            involuntary: usage.ru_nivcsw,
            cpu: seconds(usage.ru_utime) + seconds(usage.ru_stime),
        }
    }
}

/// Why a workload could not be done.
#[derive(Debug)]
pub enum Failure {
    /// The system refused.
    Os { doing: String, source: io::Error },
    /// The parameters cannot be met on this machine, or the work came out wrong; a sentence.
    Impossible(String),
}

impl Failure {
    /// For `map_err`: what was tried, and on what.
    pub fn os(doing: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        // The text is made only for an error: this may stand in a window.
        move |source| Self::Os { doing: doing.into(), source }
    }

    /// The error that the last system call left.
    pub fn last_os(doing: impl Into<String>) -> Self {
        Self::Os { doing: doing.into(), source: io::Error::last_os_error() }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Os { doing, source } => write!(f, "could not {doing}: {source}"),
            Self::Impossible(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for Failure {}
