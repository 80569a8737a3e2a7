//! The conduct of a run: the trials of a plan in their order, and their recording.
//!
//! The recording stays whole whatever happens to a trial. A trial that fails is recorded as failed, with its reason and
//! the samples that it took, and the run goes on. An interrupt or a full disk ends the run, and everything measured
//! until then is kept. Settings of the machine are changed through the guard, which restores them. When the plan is done, what it
//! leaves open may add to it.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use kizami_environments::{Error, Sink, TrialEnd, run_trial};
use kizami_recording::folder::{Column, Effective, Outcome, Series, State, Trial, Unit, Writer};
use kizami_studies::{Plan, Planned, Start};
use kizami_workloads::Part;

use super::available::title;
use super::looks::Looks;
use super::machine::MachineSettings;
use super::progress::Progress;
use crate::paths::SCRATCH;

/// A job whose trials fail this often in a row is given up.
const GIVE_UP: usize = 2;

/// The outcome of a run.
#[derive(Debug, Default)]
pub struct Outcomes {
    pub complete: usize,
    /// What went wrong, one sentence a trial.
    pub failed: Vec<String>,
    /// Jobs that were not run, and why.
    pub skipped: Vec<String>,
    pub interrupted: bool,
    /// The recording could not be written any more.
    pub disk: Option<String>,
}

impl Outcomes {
    pub fn state(&self) -> State {
        match self {
            Self { interrupted: true, .. } => State::Interrupted,
            Self { disk: Some(_), .. } => State::Failed,
            Self { complete: 0, .. } => State::Failed,
            _ => State::Complete,
        }
    }
}

/// Runs `plan` into `writer`, and what `looks` adds to it. `machine` has the machine's settings; `interrupt` ends the run early.
pub fn conduct(
    plan: &mut Plan,
    looks: &mut Looks<'_>,
    writer: &mut Writer,
    machine: &mut MachineSettings<'_>,
    interrupt: &AtomicBool,
    progress: &mut Progress,
) -> Outcomes {
    let mut outcomes = Outcomes::default();
    let series = declare(plan, writer);
    let mut failures = vec![0; plan.jobs.len()];
    let scratch = writer.folder().join(SCRATCH);
    let mut next = 0;
    loop {
        let Some(&Start { job: index, trial }) = plan.order.get(next) else {
            let Some(sentence) = looks.more(plan, writer.folder()) else { break };
            progress.more(plan.order.len(), plan.order[next..].iter().map(|start| plan.jobs[start.job].seconds).sum());
            progress.say(&format!("  {sentence}"));
            writer.note(sentence);
            continue;
        };
        next += 1;
        if interrupt.load(Ordering::Relaxed) {
            outcomes.interrupted = true;
            break;
        }
        let planned = &plan.jobs[index];
        progress.begin(&title(planned), planned.seconds);
        if failures[index] < GIVE_UP {
            let mut this =
                OneTrial { planned, trial, series: &series[index], writer, progress, scratch: &scratch, disk: None };
            match this.run(machine, interrupt) {
                Ok(TrialEnd::Complete) => {
                    outcomes.complete += 1;
                    failures[index] = 0;
                }
                Ok(TrialEnd::Interrupted) => outcomes.interrupted = true,
                Ok(TrialEnd::Failed(why)) => {
                    failures[index] += 1;
                    let sentence = format!("{}: trial {}: {why}", title(planned), trial + 1);
                    this.progress.say(&format!("  {sentence}"));
                    outcomes.disk = this.disk.take();
                    this.writer.note(sentence.clone());
                    outcomes.failed.push(sentence);
                }
                Err(why) => outcomes.disk = Some(why),
            }
        } else {
            let sentence = format!("{}: given up after {GIVE_UP} failures in a row", title(planned));
            if !outcomes.skipped.contains(&sentence) {
                writer.note(sentence.clone());
                outcomes.skipped.push(sentence);
            }
        }
        progress.end();
        if outcomes.interrupted || outcomes.disk.is_some() {
            break;
        }
    }
    plan.jobs.iter().for_each(|planned| planned.job.environment.end());
    outcomes
}

/// The parts of a job as its environment gives them: in a histogram, how often a sample was measured stands beside it.
fn parts(planned: &Planned) -> Vec<Part> {
    let count = planned.job.environment.counts().then(|| Column::new("count", Unit::Count));
    let given =
        |part: &Part| Part { columns: part.columns.iter().cloned().chain(count.clone()).collect(), ..part.clone() };
    planned.parts.iter().map(given).collect()
}

/// Adds every series of the plan to the recording; gives their indices by job and part.
fn declare(plan: &Plan, writer: &mut Writer) -> Vec<Vec<usize>> {
    let declare_job = |planned: &Planned| {
        let parts = parts(planned).into_iter().zip(&planned.series);
        let indices = parts.map(|(part, name)| {
            writer.add_series(Series {
                name: name.clone(),
                workload: planned.job.workload().name.to_owned(),
                environment: planned.job.environment.name().to_owned(),
                params: planned.job.params.written(),
                requested: planned.job.requested(),
                part: part.name,
                columns: part.columns,
                operations: part.operations,
                emulated: planned.job.emulated(),
                asked_by: planned.asked_by.clone(),
                counted: planned.job.environment.counts(),
                trials: Vec::new(),
            })
        });
        indices.collect()
    };
    plan.jobs.iter().map(declare_job).collect()
}

struct OneTrial<'a> {
    planned: &'a Planned,
    trial: usize,
    series: &'a [usize],
    writer: &'a mut Writer,
    progress: &'a mut Progress,
    scratch: &'a Path,
    /// Set when the recording could not be written.
    disk: Option<String>,
}

impl OneTrial<'_> {
    /// Runs it.
    ///
    /// # Errors
    /// A sentence, when the recording could not be written: the run cannot go on then.
    fn run(&mut self, machine: &mut MachineSettings<'_>, interrupt: &AtomicBool) -> Result<TrialEnd, String> {
        let rows: Vec<u64> = self.planned.parts.iter().map(|p| p.rows).collect();
        let now = humantime::format_rfc3339_millis(std::time::SystemTime::now()).to_string();
        self.writer.begin_trial(self.series, &rows, &now).map_err(|e| e.to_string())?;
        let job = &self.planned.job;
        // What the machine has is not what a guest on it has.
        let means_something =
            |name: &str| kizami_settings::find(name).is_none_or(|setting| job.environment.has(setting));
        for (setting, effective) in machine.change(job, interrupt) {
            if means_something(&setting) {
                self.effective(&setting, effective);
            }
        }
        let scratch = self.scratch.to_owned();
        let end = match std::fs::create_dir_all(&scratch) {
            Ok(()) => run_trial(job, self.trial, &parts(self.planned), (&scratch, machine.cgroups()), interrupt, self),
            Err(source) => Err(Error::Os { doing: format!("make the folder {}", scratch.display()), source }),
        };
        if let Err(e) = std::fs::remove_dir_all(&scratch) {
            self.writer.note(format!("could not remove {}: {e}", scratch.display()));
        }
        let end = end.unwrap_or_else(|e| TrialEnd::Failed(e.to_string()));
        let outcome = match &end {
            TrialEnd::Complete => Outcome::Complete,
            TrialEnd::Interrupted => Outcome::Interrupted,
            TrialEnd::Failed(why) => Outcome::Failed(why.clone()),
        };
        for (&series, part) in self.series.iter().zip(&self.planned.parts) {
            if let Some(trial) = self.writer.trial(series) {
                trial.cold_rows = job.environment.cold_rows(part);
            }
        }
        self.say_what_was_refused();
        self.writer.end_trial(self.series, &outcome).map_err(|e| e.to_string())?;
        Ok(end)
    }

    fn every_trial(&mut self, mut change: impl FnMut(&mut Trial)) {
        for &series in self.series {
            if let Some(trial) = self.writer.trial(series) {
                change(trial);
            }
        }
    }

    /// Once, in the recording's notes and before the user's eyes.
    fn say_what_was_refused(&mut self) {
        let Some(series) = self.series.first().map(|&s| &self.writer.recording().series[s]) else { return };
        let sentences: Vec<String> = series
            .refused()
            .iter()
            .map(|(name, asked, effective)| {
                let why = if effective.why.is_empty() { String::new() } else { format!(": {}", effective.why) };
                format!("{name} = {asked} did not take effect, {} was in force{why}", effective.value)
            })
            .collect();
        for sentence in sentences {
            if !self.writer.recording().notes.contains(&sentence) {
                self.progress.say(&format!("  {sentence}"));
                self.writer.note(sentence);
            }
        }
    }
}

impl Sink for OneTrial<'_> {
    fn rows(&mut self, part: usize, cells: &[u64]) -> Result<(), String> {
        let series = self.series[part];
        self.writer.append(series, cells).map_err(|e| {
            let why = e.to_string();
            self.disk = Some(why.clone());
            why
        })
    }

    fn lost(&mut self, part: usize, rows: u64) {
        let series = self.series[part];
        if let Some(trial) = self.writer.trial(series) {
            trial.dropped = rows;
        }
        if rows > 0 {
            let name = &self.writer.recording().series[series].name;
            self.progress.say(&format!("  {rows} samples of {name} were lost for want of room"));
        }
    }

    fn profile(&mut self, text: &str) -> Result<(), String> {
        let Some(&series) = self.series.first() else { return Ok(()) };
        self.writer.profile(series, text).map_err(|e| {
            let why = e.to_string();
            self.disk = Some(why.clone());
            why
        })
    }

    fn effective(&mut self, setting: &str, effective: Effective) {
        self.every_trial(|trial| {
            trial.effective.insert(setting.to_owned(), effective.clone());
        });
    }

    fn fact(&mut self, name: &str, value: f64) {
        self.every_trial(|trial| {
            trial.facts.insert(name.to_owned(), value);
        });
    }

    fn progress(&mut self, done: f64) {
        self.progress.update(done);
    }
}
