//! The real-time kernel as a process of this machine, with a thread for each processor: the probe `kizami-rtos`.

use std::process::Command;

use kizami_workloads::{Params, Workload, rtos};

use crate::environment::{Environment, Job, Place};
use crate::error::Error;
use crate::launch::Started;
use crate::locate;
use crate::probe;

/// See the module.
#[derive(Debug)]
pub struct RtosHost;

const PROBE: &str = "kizami-rtos";

impl Environment for RtosHost {
    fn name(&self) -> &'static str {
        "rtos-host"
    }

    fn title(&self) -> &'static str {
        "the real-time kernel as a process of this machine"
    }

    fn available(&self) -> Result<(), String> {
        if cfg!(not(all(target_os = "linux", target_arch = "x86_64"))) {
            return Err("the host port of the kernel runs on x86-64 only".into());
        }
        locate::ours(PROBE).map(drop)
    }

    fn does(&self, workload: &Workload) -> bool {
        [rtos::TIME.name, rtos::CONTENTION.name].contains(&workload.name)
    }

    fn supports(&self, _: &Params) -> Result<(), String> {
        Ok(())
    }

    fn versions(&self) -> Vec<(String, String)> {
        let version = locate::ours(PROBE).ok().and_then(|path| locate::version(&path, &["--version"]));
        version.map(|v| (PROBE.to_owned(), v)).into_iter().collect()
    }

    fn start(&self, job: &Job, place: &Place<'_>) -> Result<Started, Error> {
        let command = Command::new(locate::ours(PROBE).map_err(Error::Unusable)?);
        probe::start(command, job, place)
    }
}
