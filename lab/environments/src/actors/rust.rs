//! Actor systems in Rust, all in one probe, `kizami-actors`, whose argument is the name of the system.
//!
//! `./x bench actors` builds the probe with the profile `tuned` and puts it beside this program. A probe of another
//! profile works as well and is slower; the profile is part of the version that the recording keeps.

use std::process::Command;

use kizami_workloads::{Params, Workload};

use super::programs::{is_of_some, is_program};
use crate::environment::{Environment, Job, Place};
use crate::error::Error;
use crate::launch::Started;
use crate::locate;
use crate::probe;

/// The program that holds all of them.
const PROBE: &str = "kizami-actors";

/// More actors than this are not threads: a machine has not so many process numbers.
const MOST_THREADS: u64 = 10_000;

/// An actor system in Rust.
#[derive(Debug)]
pub struct RustSystem {
    /// Its name here and in the probe.
    name: &'static str,
    title: &'static str,
    threads: bool,
    /// Whether it has what only some can be asked for.
    beside: bool,
}

const fn system(name: &'static str, title: &'static str) -> RustSystem {
    RustSystem { name, title, threads: false, beside: false }
}

pub static ACTIX: RustSystem = system("actix", "actix, all actors on one arbiter");
pub static ACTIX_SPREAD: RustSystem = system("actix-spread", "actix, actors spread evenly over an arbiter a processor");
pub static RACTOR: RustSystem = system("ractor", "ractor on tokio's worker threads");
pub static KAMEO: RustSystem = system("kameo", "kameo on tokio's worker threads");
pub static TOKIO: RustSystem =
    RustSystem { beside: true, ..system("tokio", "tasks and channels of tokio, without an actor system") };
pub static THREADS: RustSystem =
    RustSystem { threads: true, beside: true, ..system("threads", "a thread for each actor") };

impl Environment for RustSystem {
    fn name(&self) -> &'static str {
        self.name
    }

    fn title(&self) -> &'static str {
        self.title
    }

    fn available(&self) -> Result<(), String> {
        locate::ours(PROBE).map(drop)
    }

    fn does(&self, workload: &Workload) -> bool {
        is_program(workload) || (self.beside && is_of_some(workload))
    }

    fn supports(&self, params: &Params) -> Result<(), String> {
        let actors = params.written().get("p").map_or(0, |_| params.number("p"));
        if self.threads && actors > MOST_THREADS {
            return Err(format!("{actors} actors would be as many threads; at most {MOST_THREADS} are tried"));
        }
        Ok(())
    }

    fn versions(&self) -> Vec<(String, String)> {
        let probe = locate::ours(PROBE).ok();
        let said = probe.and_then(|path| locate::version(&path, &["--version"]));
        said.map(|version| (PROBE.to_owned(), version)).into_iter().collect()
    }

    fn start(&self, job: &Job, place: &Place<'_>) -> Result<Started, Error> {
        let mut command = Command::new(locate::ours(PROBE).map_err(Error::Unusable)?);
        command.arg(self.name);
        probe::start(command, job, place)
    }
}
