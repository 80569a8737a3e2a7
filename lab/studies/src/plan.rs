//! The plan: the jobs of some studies, the number of their trials, and the order.
//!
//! Invariants: no two jobs of a plan would fill the same series; the names of its series are unique and plain file names;
//! the same studies, size, overrides, machine and seed give the same plan.

use std::collections::BTreeMap;
use std::fmt;

use kizami_environments::Job;
use kizami_workloads::Machine;

use crate::cell::Cell;
use crate::claim::Claim;
use crate::limits::{MOST_JOBS, MOST_STARTS};
use crate::names;
use crate::planned::Planned;
use crate::problem::suggest;
use crate::study::Study;
use crate::tree::At;
use crate::words::{Missing, Size};

/// Every job of some studies, and the order of their trials.
#[derive(Debug, Clone)]
pub struct Plan {
    pub studies: Vec<String>,
    pub seed: u64,
    pub jobs: Vec<Planned>,
    /// Trial 0 of every job, then trial 1 of those that have one, and so on; each time in random order, but those of one workload
    /// in one group one after the other.
    pub order: Vec<Start>,
}

/// One fresh start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Start {
    /// Index in [`Plan::jobs`].
    pub job: usize,
    pub trial: usize,
}

/// Why there is no plan: an override that means nothing, or that makes a job impossible.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    /// The name that was overridden.
    pub name: String,
    pub why: String,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.why)
    }
}

impl std::error::Error for Refused {}

/// Values that the user gives instead of the study's: parameters, settings, and `load`. Several values of a name make
/// several jobs of each one. `default` leaves alone.
pub type Overrides = BTreeMap<String, Vec<String>>;

impl Plan {
    /// Plans `studies` in that size; `trials` is how many each series gets, if not what the study says.
    ///
    /// # Errors
    /// When an override is meaningless to every job, or makes one impossible.
    pub fn new(
        studies: &[Study],
        size: Size,
        trials: Option<usize>,
        overrides: &Overrides,
        seed: u64,
        machine: &Machine,
    ) -> Result<Self, Refused> {
        let mut jobs: Vec<Planned> = Vec::new();
        let mut known: Vec<&str> = Vec::new();
        let mut combined: usize = 0;
        for study in studies {
            for group in study.groups.iter().filter(|g| g.trials(size) > 0) {
                for cell in group.cells(size) {
                    known.extend(overrides.keys().map(String::as_str).filter(|name| cell.kind_of(name).is_some()));
                    // Counted before they are made: what is refused must not be what fills the memory.
                    combined = combined.saturating_add(combinations(&cell, overrides));
                    if combined > MOST_JOBS {
                        return Err(too_many_jobs(combined, overrides));
                    }
                    for cell in overridden(&cell, overrides) {
                        let job = cell.job().map_err(|(name, why)| refused(&cell, name, &why, overrides))?;
                        let trials = trials.unwrap_or_else(|| group.trials(size)).max(1);
                        add(&mut jobs, job, trials, format!("{}/{}", study.name, group.id), group.missing);
                    }
                }
            }
        }
        if let Some(name) = overrides.keys().find(|name| !known.contains(&name.as_str())) {
            return Err(unknown(name, &jobs));
        }
        for planned in &mut jobs {
            let machine = planned.job.environment.machine(&planned.job.settings, machine);
            planned.parts = (planned.job.workload().parts)(&planned.job.params, &machine);
            planned.seconds = planned.job.seconds();
        }
        let starts = jobs.iter().fold(0, |sum: usize, job| sum.saturating_add(job.trials));
        if starts > MOST_STARTS {
            return Err(too_many_starts(starts, &jobs));
        }
        names::give(&mut jobs);
        let order = order(&jobs, &vec![0; jobs.len()], seed);
        Ok(Self { studies: studies.iter().map(|s| s.name.clone()).collect(), seed, jobs, order })
    }

    /// Plans more rounds after all others: twice those that both sides of each of `claims` have. Gives how many starts that adds;
    /// none where the run would have more than can be recorded.
    pub fn go_on(&mut self, claims: &[&Claim]) -> usize {
        let had: Vec<usize> = self.jobs.iter().map(|job| job.trials).collect();
        let mut wanted = had.clone();
        for claim in claims {
            let sides = || self.jobs.iter().enumerate().filter(|(_, planned)| claim.is_about(planned));
            let rounds = sides().map(|(_, planned)| planned.trials).min().unwrap_or(0);
            sides().for_each(|(job, _)| wanted[job] = wanted[job].max(rounds.saturating_mul(2)));
        }
        if wanted.iter().fold(0, |sum: usize, trials| sum.saturating_add(*trials)) > MOST_STARTS {
            return 0;
        }
        self.jobs.iter_mut().zip(wanted).for_each(|(job, trials)| job.trials = trials);
        let before = self.order.len();
        self.order.extend(order(&self.jobs, &had, self.seed.wrapping_add(before as u64)));
        self.order.len() - before
    }

    /// About how long all of it takes.
    pub fn seconds(&self) -> f64 {
        let mut boots: Vec<(f64, _)> = Vec::new();
        for first in self.jobs.iter().map(|planned| planned.job.at_first()) {
            if first.0 > 0.0 && !boots.iter().any(|(_, of)| *of == first.1) {
                boots.push(first);
            }
        }
        let trials: f64 = self.jobs.iter().map(|job| job.seconds * job.trials as f64).sum();
        trials + boots.iter().map(|(seconds, _)| seconds).sum::<f64>()
    }
}

/// The overrides that mean something to `cell`.
fn meant<'o>(cell: &Cell, overrides: &'o Overrides) -> impl Iterator<Item = (&'o String, &'o Vec<String>)> {
    overrides.iter().filter(|(name, values)| cell.kind_of(name).is_some() && !values.is_empty())
}

/// How many cells [`overridden`] would make of `cell`.
fn combinations(cell: &Cell, overrides: &Overrides) -> usize {
    meant(cell, overrides).fold(1, |product: usize, (_, values)| product.saturating_mul(values.len()))
}

/// `cell` with every combination of the overrides that mean something to it.
fn overridden(cell: &Cell, overrides: &Overrides) -> Vec<Cell> {
    let mut cells = vec![cell.clone()];
    for (name, values) in meant(cell, overrides) {
        let with = |cell: &Cell| {
            let cell = cell.clone();
            values.iter().map(move |value| {
                let mut cell = cell.clone();
                cell.set(name, &At::new(value.clone(), 0));
                cell
            })
        };
        cells = cells.iter().flat_map(with).collect();
    }
    cells
}

fn refused(cell: &Cell, name: String, why: &str, overrides: &Overrides) -> Refused {
    // What the study itself says was checked when it was read, so it is an override that does not fit.
    let place = format!("{} in {}", cell.workload.name, cell.environment.name());
    let given: Vec<_> = overrides.iter().map(|(name, values)| format!("{name}={}", values.join(","))).collect();
    let with = if given.is_empty() { String::new() } else { format!(" with {}", given.join(" ")) };
    Refused { name, why: format!("{place}{with}: {why}") }
}

fn too_many_jobs(jobs: usize, overrides: &Overrides) -> Refused {
    let count = |(name, values): (&String, &Vec<String>)| format!("{} of {name}", values.len());
    let given: Vec<String> = overrides.iter().filter(|(_, values)| values.len() > 1).map(count).collect();
    let by = if given.is_empty() { String::new() } else { format!(" (with {})", given.join(", ")) };
    let why = format!(
        "at least {jobs} combinations of values would be measured{by}, and a run has at most {MOST_JOBS}: each is a series \
         with a file of its own. Give fewer values, or measure them in several runs"
    );
    Refused { name: overrides.keys().next().cloned().unwrap_or_default(), why }
}

fn too_many_starts(starts: usize, jobs: &[Planned]) -> Refused {
    let most = jobs.iter().map(|job| job.trials).max().unwrap_or(0);
    let why = format!(
        "{starts} fresh starts were asked for (up to {most} trials of each of {} jobs), and a run has at most \
         {MOST_STARTS}: recording.json lists every one of them, and is written anew after each. Ask for fewer trials, or \
         measure in several runs; more samples of one start come from the workload's own parameters",
        jobs.len()
    );
    Refused { name: "trials".to_owned(), why }
}

fn unknown(name: &str, jobs: &[Planned]) -> Refused {
    let params = jobs.iter().flat_map(|j| j.job.workload().params).map(|p| p.name);
    let names: Vec<_> = params.chain(crate::cell::setting_names()).collect();
    let hint = suggest(name, &names);
    let hint = if hint.is_empty() || hint.contains(&format!("{name:?}")) { String::new() } else { format!("; {hint}") };
    let why = if crate::cell::is_setting(name) {
        format!("the setting {name:?} reaches nothing that is measured here")
    } else {
        format!("{name:?} is no setting, and no parameter of a workload that is measured here")
    };
    Refused { name: name.to_owned(), why: format!("{why}{hint}") }
}

fn add(jobs: &mut Vec<Planned>, job: Job, trials: usize, asked_by: String, missing: Missing) {
    let Some(same) = jobs.iter_mut().find(|planned| planned.job.same_as(&job)) else {
        let asked_by = vec![asked_by];
        let (parts, series) = (Vec::new(), Vec::new());
        jobs.push(Planned { job, trials, asked_by, missing, parts, series, seconds: 0.0 });
        return;
    };
    same.trials = same.trials.max(trials);
    // Who is content with the machine as it is gets it, whatever others want.
    same.missing = same.missing.max(missing);
    if !same.asked_by.contains(&asked_by) {
        same.asked_by.push(asked_by);
    }
}

/// What is compared stands in one group, and is of one workload. These jobs run one after the other, so that a machine that
/// changes within seconds changes between two comparisons and not between the two sides of one. Each job had so many trials before.
fn order(jobs: &[Planned], had: &[usize], seed: u64) -> Vec<Start> {
    let mut random = fastrand::Rng::with_seed(seed);
    let most = jobs.iter().map(|job| job.trials).max().unwrap_or(0);
    let mut order = Vec::new();
    for trial in 0..most {
        let mut together: Vec<((&str, &str), Vec<Start>)> = Vec::new();
        let starts = jobs.iter().enumerate().filter(|(job, planned)| (had[*job]..planned.trials).contains(&trial));
        for (job, planned) in starts {
            let what = (planned.asked_by.first().map_or("", String::as_str), planned.job.workload().name);
            match together.iter_mut().find(|(other, _)| *other == what) {
                Some((_, starts)) => starts.push(Start { job, trial }),
                None => together.push((what, vec![Start { job, trial }])),
            }
        }
        random.shuffle(&mut together);
        for (_, starts) in &mut together {
            random.shuffle(starts);
            order.append(starts);
        }
    }
    order
}
