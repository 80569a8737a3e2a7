//! Trials: one probe, followed from its start to its end.
//!
//! Invariants:
//!
//! - Rows reach the sink in order, whole, and also when the probe fails, is killed, hangs or is interrupted.
//! - Rows are handed on every few seconds, so that a lab that is killed loses only the rows of the last seconds.
//! - When the function returns, the probe and all processes that it started have ended.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, TryRecvError};
use std::time::{Duration, Instant};

use kizami_protocol::{Arena, PartSize, Report};
use kizami_recording::Recorder;
use kizami_recording::folder::{Effective, HOST_FLUSHES};
use kizami_workloads::linux::footprint;
use kizami_workloads::{Part, clock_ns};

use crate::environment::{Job, LOAD, Place};
use crate::error::Error;
use crate::flushes;
use crate::launch::Started;
use crate::loads;
use crate::weigh;

/// How often rows are handed on while the probe still runs. Seldom, because writing them takes time of the machine.
const HAND_ON: Duration = Duration::from_secs(5);
const LOOK: Duration = Duration::from_millis(100);
/// How long a probe may take to end after it was asked to, before it is killed.
const GRACE: Duration = Duration::from_secs(3);

/// Takes the rows, settings and facts of a trial.
pub trait Sink {
    /// Whole rows of `part`.
    ///
    /// # Errors
    /// When they could not be kept; the trial ends then.
    fn rows(&mut self, part: usize, cells: &[u64]) -> Result<(), String>;
    /// So many rows of `part` found no room. Called once, for each part, when all is over.
    fn lost(&mut self, part: usize, rows: u64);
    fn effective(&mut self, setting: &str, effective: Effective);
    fn fact(&mut self, name: &str, value: f64);
    /// Which functions took the instructions of the trial: a line for each stack, and how many the last of it took.
    ///
    /// # Errors
    /// When it could not be kept.
    fn profile(&mut self, text: &str) -> Result<(), String>;
    /// Called several times a second with the share that is done, 0 to 1.
    fn progress(&mut self, done: f64);
}

/// How a trial ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TrialEnd {
    Complete,
    Interrupted,
    Failed(String),
}

/// Runs one trial of `job`: starts its loads and a fresh probe, follows it, and cleans up. `parts` is what the workload
/// says of itself; `trial` is which start of its job it is; `scratch` is an empty folder of this trial, and the probe joins `cgroups`;
/// `interrupt` ends the trial early.
///
/// # Errors
/// When it could not be started.
pub fn run_trial(
    job: &Job,
    trial: usize,
    parts: &[Part],
    (scratch, cgroups): (&Path, &[PathBuf]),
    interrupt: &AtomicBool,
    sink: &mut dyn Sink,
) -> Result<TrialEnd, Error> {
    let sizes: Vec<_> = parts.iter().map(|p| PartSize { columns: p.columns.len(), rows: p.rows }).collect();
    let arena = job.environment.arena(job, &sizes).map_err(Error::os("get memory for the samples"))?;
    let audit = Audit::of(job, scratch);
    give_back_memory();
    let begin = || {
        let loads = loads::start(job.loads_here(), scratch, interrupt)?;
        let began = clock_ns() as i64;
        let probe =
            job.environment.start(job, &Place { parts, arena: &arena, trial, scratch, cgroups, began, interrupt })?;
        Ok((loads, probe))
    };
    let (loads, probe) = match begin() {
        // Ctrl-C in a terminal also ends the programs that help to start a probe: that is no failure of theirs.
        Err(_) if interrupt.load(Ordering::Relaxed) => return Ok(TrialEnd::Interrupted),
        begun => begun?,
    };
    let expected = Duration::from_secs_f64(job.working().max(0.1));
    let mut follow = Follow {
        arena: &arena,
        probe,
        // Rows that come over a stream are put where a probe with shared memory would have put them.
        recorders: Vec::new(),
        handed_on: vec![0; sizes.len()],
        begun: Instant::now(),
        expected,
        // Generous: on a machine with other work everything takes longer, and a call of an emulated kernel a hundred times.
        limit: expected * 20 + Duration::from_secs(if job.emulated() { 300 } else { 60 }),
        sink,
    };
    let end = follow.until_it_ends(interrupt);
    let known = follow.probe.at_end.take().map(|known| known()).unwrap_or_default();
    known.facts.iter().for_each(|(name, value)| follow.sink.fact(name, *value));
    known.effective.into_iter().for_each(|(setting, effective)| follow.sink.effective(&setting, effective));
    follow.hand_on().map_err(Error::Unusable)?;
    let sink = follow.sink;
    if let Some(flushes) = audit.and_then(Audit::counted) {
        sink.fact(HOST_FLUSHES, flushes as f64);
    }
    (0..sizes.len()).for_each(|part| sink.lost(part, arena.progress(part).dropped()));
    if !job.loads_here().is_empty() {
        let (effective, facts) = loads.stop();
        sink.effective(LOAD, effective);
        for (name, value) in facts {
            sink.fact(&name, value);
        }
    }
    Ok(end)
}

/// Gives back what was held and no longer is, such as a guest's image or the samples of many trials. A process begins as a copy of the
/// one that starts it: with 44 MB that the allocator had kept, every start of this machine took 4 ms more.
fn give_back_memory() {
    #[cfg(target_env = "gnu")]
    // SAFETY: it takes the allocator's own locks and moves nothing that is in use.
    unsafe {
        libc::malloc_trim(0);
    }
}

/// The flushes of a disk while a trial runs that syncs. Those of its preparation are among them, and those of whoever else writes there.
struct Audit {
    disk: flushes::Disk,
    before: u64,
}

impl Audit {
    fn of(job: &Job, scratch: &Path) -> Option<Self> {
        if job.workload().name != "file" || job.params.choice("op") != "write-fsync" {
            return None;
        }
        let disk = flushes::Disk::under(scratch)?;
        let before = disk.flushes()?;
        Some(Self { disk, before })
    }

    fn counted(self) -> Option<u64> {
        Some(self.disk.flushes()?.saturating_sub(self.before))
    }
}

struct Follow<'a> {
    arena: &'a Arena,
    probe: Started,
    recorders: Vec<Option<Recorder<'a>>>,
    handed_on: Vec<u64>,
    begun: Instant,
    expected: Duration,
    /// A probe that takes longer is ended.
    limit: Duration,
    sink: &'a mut dyn Sink,
}

impl Follow<'_> {
    fn until_it_ends(&mut self, interrupt: &AtomicBool) -> TrialEnd {
        let mut handed_on = Instant::now();
        let mut asked_to_end: Option<(Instant, TrialEnd)> = None;
        let limit = self.limit;
        loop {
            match self.probe.reports.recv_timeout(LOOK) {
                Ok(Ok(Report::Done {})) => {
                    let profiled = self.take_profile();
                    let done = || match (self.probe.trouble(), profiled) {
                        (Some(why), _) | (None, Err(why)) => TrialEnd::Failed(why),
                        (None, Ok(())) => TrialEnd::Complete,
                    };
                    return asked_to_end.map_or_else(done, |(_, end)| end);
                }
                Ok(Ok(Report::Failed { why })) => {
                    let why = self.probe.trouble().map_or_else(|| why.clone(), |trouble| format!("{why}: {trouble}"));
                    let why =
                        self.at_the_other_end().map_or(why.clone(), |other| format!("{why}; the other end: {other}"));
                    return asked_to_end.map_or(TrialEnd::Failed(why), |(_, end)| end);
                }
                Ok(Ok(report)) => {
                    if let Err(why) = self.take(report) {
                        return TrialEnd::Failed(why);
                    }
                }
                Ok(Err(why)) => return TrialEnd::Failed(why),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    return asked_to_end.map_or_else(|| TrialEnd::Failed(self.how_it_ended()), |(_, end)| end);
                }
            }
            if handed_on.elapsed() > HAND_ON {
                if let Err(why) = self.hand_on() {
                    return TrialEnd::Failed(why);
                }
                handed_on = Instant::now();
            }
            self.tell_progress();
            match &asked_to_end {
                None => {
                    let end = if interrupt.load(Ordering::Relaxed) {
                        TrialEnd::Interrupted
                    } else if let Some(why) = self.probe.hangs() {
                        TrialEnd::Failed(why)
                    } else if self.begun.elapsed() > limit {
                        TrialEnd::Failed(format!(
                            "it did not end: expected about {:.0} s, stopped after {:.0} s",
                            self.expected.as_secs_f64(),
                            limit.as_secs_f64()
                        ))
                    } else {
                        continue;
                    };
                    self.arena.stop().store(true, Ordering::Relaxed);
                    self.probe.signal(libc::SIGTERM);
                    asked_to_end = Some((Instant::now(), end));
                }
                Some((since, _)) if since.elapsed() > GRACE => self.probe.signal(libc::SIGKILL),
                Some(_) => {}
            }
        }
    }

    /// What became of the program that the probe talks to, if it failed or is gone.
    fn at_the_other_end(&mut self) -> Option<String> {
        let server = self.probe.server.as_mut()?;
        let mut done = false;
        loop {
            match server.reports.try_recv() {
                Ok(Ok(Report::Failed { why })) => return Some(why),
                Ok(report) => done |= matches!(report, Ok(Report::Done {})),
                Err(TryRecvError::Empty) => return None,
                Err(TryRecvError::Disconnected) => {
                    return (!done).then(|| format!("it {}", server.end(Duration::ZERO)));
                }
            }
        }
    }

    fn take_profile(&mut self) -> Result<(), String> {
        let Some(file) = self.probe.profile.take() else { return Ok(()) };
        let why = "this workload does not say where what is counted begins and ends";
        let text = std::fs::read_to_string(&file).map_err(|e| format!("nothing was counted ({e}): {why}"))?;
        self.sink.profile(&text)
    }

    fn take(&mut self, report: Report) -> Result<(), String> {
        match report {
            Report::Ready {} => {
                if let Some(read_back) = self.probe.read_back.take() {
                    for (setting, effective) in read_back(self.probe.process()) {
                        self.sink.effective(&setting, effective);
                    }
                }
            }
            Report::Effective { setting, value, as_requested, why } => {
                self.sink.effective(&setting, Effective { value, as_requested, why });
            }
            Report::Fact { name, value } if name == footprint::INSIDE => {
                let outside = weigh::weigh(self.probe.process(), &self.probe.served_by)?;
                self.sink.rows(0, &[outside.memory, value as u64, outside.disk])?;
                // That is all it waits for.
                self.arena.stop().store(true, Ordering::Relaxed);
            }
            Report::Fact { name, value } => self.sink.fact(&name, value),
            Report::Rows { part, rows } => {
                if part >= self.arena.parts() {
                    return Err(format!("the probe sent rows of part {part}, and there are {}", self.arena.parts()));
                }
                if self.recorders.is_empty() {
                    self.recorders = (0..self.arena.parts()).map(|part| self.arena.recorder(part)).collect();
                }
                let columns = self.arena.columns(part);
                if let Some(row) = rows.iter().find(|row| row.len() != columns) {
                    return Err(format!("the probe sent a row of {} cells where {columns} belong", row.len()));
                }
                if let Some(Some(recorder)) = self.recorders.get_mut(part) {
                    rows.iter().for_each(|row| recorder.push_row(row));
                }
            }
            Report::Done {} | Report::Failed { .. } => {}
        }
        Ok(())
    }

    /// Gives the sink what it does not have yet.
    fn hand_on(&mut self) -> Result<(), String> {
        /// Cells at a time, so that the copy stays small.
        const PIECE: u64 = 1 << 16;
        for (part, handed_on) in self.handed_on.iter_mut().enumerate() {
            let complete = self.arena.rows(part);
            let piece = (PIECE / self.arena.columns(part) as u64).max(1);
            while *handed_on < complete {
                let to = (*handed_on + piece).min(complete);
                let cells = self.arena.copy_rows(part, *handed_on, to);
                self.sink.rows(part, &cells)?;
                *handed_on = to;
            }
        }
        Ok(())
    }

    /// By rows where the number of rows is what ends the trial, by time otherwise.
    fn tell_progress(&mut self) {
        let by_time = (self.begun.elapsed().as_secs_f64() / self.expected.as_secs_f64()).min(0.99);
        let of_part = |part| self.arena.rows(part) as f64 / self.arena.capacity(part).max(1) as f64;
        let by_rows = (0..self.arena.parts()).map(of_part).fold(0.0, f64::max);
        self.sink.progress(by_time.max(by_rows));
    }

    fn how_it_ended(&mut self) -> String {
        let ending = self.probe.end(GRACE);
        let said = self.probe.error_output();
        let said = if said.is_empty() { String::new() } else { format!("; it said: {said}") };
        format!("the probe {ending} before it was done{said}")
    }
}

#[cfg(all(test, target_env = "gnu"))]
mod tests {
    use super::give_back_memory;

    /// Kilobytes that are this process's alone.
    fn own_memory() -> u64 {
        let status = std::fs::read_to_string("/proc/self/status").expect("it is readable");
        let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:")).expect("Linux tells it");
        line.trim_end_matches("kB").trim().parse().expect("a number")
    }

    #[test]
    fn what_was_held_and_no_longer_is_goes_back() {
        // In pieces, which the allocator takes from its heap. Some stay: what is free lies between these, which no allocator gives back
        // by itself.
        let pieces: Vec<_> = (0..10_000_u32).map(|n| vec![n; 1000]).collect();
        let held = own_memory();
        let stay: Vec<_> = pieces.into_iter().skip(99).step_by(100).collect();
        let kept = own_memory();
        give_back_memory();
        let now = own_memory();
        assert_eq!(stay.len(), 100);
        assert!(held > 30_000 && kept > 30_000 && now < 10_000, "{held} kB, {kept} kB freed, {now} kB now");
    }
}
