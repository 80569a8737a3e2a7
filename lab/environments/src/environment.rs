//! Environments and their jobs. A job is a workload with its parameters, under settings and background loads.
//!
//! The two types stand in one file because each names the other: a job names its environment, and an environment is
//! given the job that it starts. A job is valid: its names were found and its values checked when it was made.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use kizami_protocol::{Arena, PartSize};
use kizami_settings::{Scope, Setting, Settings};
use kizami_workloads::linux::boot;
use kizami_workloads::loads::{self, Load};
use kizami_workloads::{Machine, Params, Part, Workload};

use crate::error::Error;
use crate::launch::Started;

/// The name under which background loads are asked for, beside the settings.
pub const LOAD: &str = "load";
/// The written form of no load.
pub const NO_LOAD: &str = "none";

/// The setting that says where files lie, in environments that have a choice.
pub(crate) const FILES_ON: &str = "files_on";
/// Settings that control groups are made for.
pub(crate) const MEMORY_LIMIT: &str = "memory_limit";
pub(crate) const CGROUP_DEPTH: &str = "cgroup_depth";

/// A kind of place in which probes run.
pub trait Environment: Sync {
    /// The name in studies, on the command line and in recordings.
    fn name(&self) -> &'static str;

    /// What it is, in a few words.
    fn title(&self) -> &'static str;

    /// Whether its times under these settings are an emulator's.
    fn emulated(&self, settings: &Settings) -> bool {
        let _ = settings;
        false
    }

    /// Whether what it takes is on this machine; quickly, because every list of environments asks.
    ///
    /// # Errors
    /// A sentence that says what is missing and how to get it.
    fn available(&self) -> Result<(), String>;

    /// What it cannot do here that it could elsewhere, and what would bring that, or what is not known of it: a sentence each.
    fn lacks(&self) -> Vec<String> {
        Vec::new()
    }

    /// Whether [`Self::tried`] starts something, which takes a moment.
    fn starts_first(&self) -> bool {
        false
    }

    /// Makes what all its starts are made of. The first time on a machine that may take minutes, so that only a run does it.
    ///
    /// # Errors
    /// A sentence that says what went wrong.
    fn prepared(&self) -> Result<(), String> {
        Ok(())
    }

    /// Starts it once, where only that tells whether it works here; as the first job has it, so that this may go on with it.
    ///
    /// # Errors
    /// A sentence that says what went wrong.
    fn tried(&self, first: &Settings, interrupt: &AtomicBool) -> Result<(), String> {
        let _ = (first, interrupt);
        Ok(())
    }

    /// Whether it does this workload, with some parameters at least.
    fn does(&self, workload: &Workload) -> bool;

    /// Whether it does its workload with these parameters.
    ///
    /// # Errors
    /// A sentence that says why not.
    fn supports(&self, params: &Params) -> Result<(), String>;

    /// Whether a setting means something here.
    fn has(&self, setting: &Setting) -> bool {
        matches!(setting.scope, Scope::Process | Scope::System)
    }

    /// Whether settings that mean something here are possible, each and together.
    ///
    /// # Errors
    /// The name of a setting that is not, and a sentence that says why and what is.
    fn takes(&self, settings: &Settings) -> Result<(), (String, String)> {
        let _ = settings;
        Ok(())
    }

    /// The processors that a probe has under these settings, if the lab may use those of `host`.
    fn machine(&self, settings: &Settings, host: &Machine) -> Machine {
        let _ = settings;
        host.clone()
    }

    /// The settings for which the probe joins control groups that the lab makes. Of others that it has it makes them itself.
    fn joins_groups_for(&self) -> &'static [&'static str] {
        &[MEMORY_LIMIT]
    }

    /// The loads that its probe runs beside its work, where those of this machine would not be noticed: where instructions are the clock,
    /// whatever else runs here takes no time. `None` where the lab runs them here.
    fn own_loads(&self, settings: &Settings) -> Option<&'static [&'static str]> {
        let _ = settings;
        None
    }

    /// Seconds that starting and ending a probe takes, about.
    fn starting(&self) -> f64 {
        0.03
    }

    /// The same when what it starts it in is not up.
    fn booting(&self) -> f64 {
        self.starting()
    }

    /// Seconds that work takes in it beyond those that it takes as a process of this machine, about.
    fn beyond(&self, _: &Params, _: &Settings) -> f64 {
        0.0
    }

    /// Programs that take part, with their versions.
    fn versions(&self) -> Vec<(String, String)>;

    /// How many first rows of a trial of `part` are cold here: as the workload says, unless its rows are of another kind.
    fn cold_rows(&self, part: &Part) -> u64 {
        part.cold_rows
    }

    /// Whether its rows are a histogram: a sample, and how often it was measured, in no order.
    fn counts(&self) -> bool {
        false
    }

    /// The memory for the samples of a trial, which may be part of what the environment shares with its probes.
    ///
    /// # Errors
    /// When there is not that much.
    fn arena(&self, job: &Job, sizes: &[PartSize]) -> io::Result<Arena> {
        let _ = job;
        Arena::create(sizes)
    }

    /// Starts a fresh probe for `job`.
    ///
    /// # Errors
    /// When the probe could not be started.
    fn start(&self, job: &Job, place: &Place<'_>) -> Result<Started, Error>;

    /// The run is over: ends what served several probes.
    fn end(&self) {}
}

/// The resources of a trial that its probe uses.
#[derive(Debug, Clone, Copy)]
pub struct Place<'a> {
    /// The parts that the workload declared.
    pub parts: &'a [Part],
    /// For the samples of a probe that can map memory.
    pub arena: &'a Arena,
    /// Which start of its job this is, from 0.
    pub trial: usize,
    /// An empty folder of this trial.
    pub scratch: &'a Path,
    /// Control groups for the probe to join, see [`Environment::joins_groups_for`].
    pub cgroups: &'a [PathBuf],
    /// When the start began: nanoseconds of this machine's CLOCK_MONOTONIC.
    pub began: i64,
    /// Raised when the run should end: what waits looks at it.
    pub interrupt: &'a AtomicBool,
}

/// One job. Everything in it is valid: names were found, values checked.
#[derive(Clone)]
pub struct Job {
    pub environment: &'static dyn Environment,
    pub params: Params,
    pub settings: Settings,
    pub loads: Vec<&'static Load>,
}

impl Job {
    /// Checks names and values. `settings` may hold [`LOAD`].
    ///
    /// # Errors
    /// The name that is wrong (`workload`, `environment`, a parameter, a setting) and a sentence about it.
    pub fn new(
        environment: &'static dyn Environment,
        workload: &'static Workload,
        params: &BTreeMap<String, String>,
        settings: &BTreeMap<String, String>,
    ) -> Result<Self, (String, String)> {
        let params = Params::new(workload, params)?;
        let mut settings = settings.clone();
        let loads = match settings.remove(LOAD) {
            Some(names) => load_names(&names).map_err(|why| (LOAD.to_owned(), why))?,
            None => Vec::new(),
        };
        let settings = Settings::new(&settings)?;
        if !environment.does(workload) {
            let does = kizami_workloads::ALL.iter().filter(|w| environment.does(w)).map(|w| w.name);
            let does = does.collect::<Vec<_>>().join(", ");
            let why = format!("{} does not do the workload {}, but {does}", environment.name(), workload.name);
            return Err(("environment".to_owned(), why));
        }
        environment.supports(&params).map_err(|why| ("environment".to_owned(), why))?;
        environment.takes(&settings)?;
        if let Some(own) = environment.own_loads(&settings)
            && let Some(load) = loads.iter().find(|load| !own.contains(&load.name))
        {
            let name = environment.name();
            let has =
                if own.is_empty() { "none of its own".to_owned() } else { format!("{} of its own", own.join(", ")) };
            let why = format!(
                "in {name} instructions are the clock, so that no load of this machine is noticed; it has {has}, and not {}",
                load.name
            );
            return Err((LOAD.to_owned(), why));
        }
        Ok(Self { environment, params, settings, loads })
    }

    pub fn workload(&self) -> &'static Workload {
        self.params.workload()
    }

    /// Whether what it measures is the start of its environment, so that none may be used that is there.
    pub fn starts_anew(&self) -> bool {
        self.workload().name == boot::WORKLOAD.name
    }

    /// Seconds that a trial takes, about.
    pub fn seconds(&self) -> f64 {
        self.working() + if self.starts_anew() { self.environment.booting() } else { self.environment.starting() }
    }

    /// Those of them that pass after its probe has started.
    pub fn working(&self) -> f64 {
        (self.workload().seconds)(&self.params) + self.environment.beyond(&self.params, &self.settings)
    }

    /// Seconds that its first trial takes beyond that, and which jobs have that in common: those that run in the same.
    pub fn at_first(&self) -> (f64, (&'static str, Settings)) {
        let more = if self.starts_anew() { 0.0 } else { self.environment.booting() - self.environment.starting() };
        (more, (self.environment.name(), self.settings.of_virtual_machine()))
    }

    /// Whether its times are an emulator's.
    pub fn emulated(&self) -> bool {
        self.environment.emulated(&self.settings)
    }

    /// The settings of the whole machine that the lab changes for this job.
    pub fn of_machine(&self) -> Settings {
        let by_groups = self.environment.joins_groups_for();
        self.settings.only(|setting| match setting.name {
            MEMORY_LIMIT | CGROUP_DEPTH => by_groups.contains(&setting.name),
            _ => setting.scope == Scope::System,
        })
    }

    /// The loads that run on this machine, beside it.
    pub(crate) fn loads_here(&self) -> &[&'static Load] {
        if self.environment.own_loads(&self.settings).is_some() { &[] } else { &self.loads }
    }

    /// The loads that its probe runs.
    pub(crate) fn loads_there(&self) -> &[&'static Load] {
        if self.environment.own_loads(&self.settings).is_some() { &self.loads } else { &[] }
    }

    /// The settings and loads that were asked for, in their written form.
    pub fn requested(&self) -> BTreeMap<String, String> {
        let mut requested = self.settings.written();
        if !self.loads.is_empty() {
            let names: Vec<_> = self.loads.iter().map(|l| l.name).collect();
            requested.insert(LOAD.to_owned(), names.join("+"));
        }
        requested
    }

    /// Whether `other` would fill the same series.
    pub fn same_as(&self, other: &Self) -> bool {
        self.environment.name() == other.environment.name()
            && self.workload().name == other.workload().name
            && self.params.written() == other.params.written()
            && self.requested() == other.requested()
    }
}

/// The loads that `text` names: `none`, or names joined by `+`.
///
/// # Errors
/// A sentence with the names that there are.
pub fn load_names(text: &str) -> Result<Vec<&'static Load>, String> {
    if text == NO_LOAD || text.is_empty() {
        return Ok(Vec::new());
    }
    let known = || loads::ALL.iter().map(|l| l.name).collect::<Vec<_>>().join(", ");
    let find = |name| loads::find(name).ok_or_else(|| format!("there is no load {name:?}: there are {}", known()));
    text.split('+').map(str::trim).map(find).collect()
}
