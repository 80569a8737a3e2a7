//! Starting a probe somewhere, and bringing back its samples.
//!
//! - [`Job`]: one workload with its parameters, in one environment, under one set of settings.
//! - [`Environment`]: knows how to start a probe in one kind of place, and nothing of what becomes of the samples.
//! - [`run_trial`]: follows a started probe to its end, whatever that is: done, failed, killed, hung, interrupted.
//!
//! A new environment is one file with a type that is an [`Environment`], and a line in [`ALL`].

mod actors;
mod beam;
mod erlang;
mod error;
mod host;
mod job;
mod launch;
mod loads;
mod locate;
mod reference;
mod rtos;
mod trial;

pub use error::Error;
pub use job::{Job, LOAD, NO_LOAD, load_names};
pub use launch::Started;
pub use trial::{Sink, TrialEnd, run_trial};

use std::path::Path;

use kizami_protocol::Arena;
use kizami_workloads::{Params, Part, Workload};

/// A kind of place in which probes run.
pub trait Environment: Sync {
    /// The name in studies, on the command line and in recordings.
    fn name(&self) -> &'static str;

    /// What it is, in a few words.
    fn title(&self) -> &'static str;

    /// Whether its times are an emulator's.
    fn emulated(&self) -> bool {
        false
    }

    /// Whether it can run at all on this machine.
    ///
    /// # Errors
    /// A sentence that says what is missing and how to get it.
    fn available(&self) -> Result<(), String>;

    /// Whether it does this workload, with some parameters at least.
    fn does(&self, workload: &Workload) -> bool;

    /// Whether it does its workload with these parameters.
    ///
    /// # Errors
    /// A sentence that says why not.
    fn supports(&self, params: &Params) -> Result<(), String>;

    /// Programs that take part, with their versions.
    fn versions(&self) -> Vec<(String, String)>;

    /// How many first rows of a trial of `part` are cold here: as the workload says, unless its rows are of another kind.
    fn cold_rows(&self, part: &Part) -> u64 {
        part.cold_rows
    }

    /// Starts a fresh probe for `job`.
    ///
    /// # Errors
    /// When the probe could not be started.
    fn start(&self, job: &Job, place: &Place<'_>) -> Result<Started, Error>;
}

/// What a trial has ready for its probe.
#[derive(Debug, Clone, Copy)]
pub struct Place<'a> {
    /// What the workload says that it will fill.
    pub parts: &'a [Part],
    /// For the samples of a probe that can map memory.
    pub arena: &'a Arena,
    /// An empty folder of this trial.
    pub scratch: &'a Path,
    /// A control group for the probe to join, where its memory is limited.
    pub cgroup: Option<&'a Path>,
}

/// Every environment, in the order in which they are listed to users.
pub static ALL: &[&dyn Environment] = &[
    &host::Host,
    &beam::Beam,
    &actors::OTP,
    &actors::ERLANG,
    &actors::GEN_SERVER,
    &actors::GEN_SERVER_OFF_HEAP,
    &actors::GEN_SERVER_SUPERVISED,
    &actors::ACTIX,
    &actors::ACTIX_SPREAD,
    &actors::RACTOR,
    &actors::KAMEO,
    &actors::TOKIO,
    &actors::THREADS,
    &rtos::RtosHost,
    &rtos::CORTEX_M33,
    &rtos::CORTEX_A9,
    &rtos::RP2040,
    &reference::CYCLICTEST,
    &reference::HACKBENCH,
    &reference::PERF,
    &reference::NUTTCP,
    &reference::IPERF3,
    &reference::FIO,
];

/// The environment named `name`.
pub fn find(name: &str) -> Option<&'static dyn Environment> {
    ALL.iter().copied().find(|e| e.name() == name)
}
