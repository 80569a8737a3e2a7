//! The host: a Linux process directly on the kernel of this machine.

use std::process::Command;

use kizami_settings::{Root, Scope, Setting, system};
use kizami_workloads::{Params, Workload};

use crate::environment::{CGROUP_DEPTH, Environment, Job, MEMORY_LIMIT, Place};
use crate::error::Error;
use crate::launch::Started;
use crate::locate::{self, LINUX_PROBE};
use crate::probe;

/// The environment `host`.
#[derive(Debug)]
pub struct Host;

impl Environment for Host {
    fn name(&self) -> &'static str {
        "host"
    }

    fn title(&self) -> &'static str {
        "a Linux process of this machine"
    }

    fn available(&self) -> Result<(), String> {
        locate::ours(LINUX_PROBE).map(drop)
    }

    fn does(&self, workload: &Workload) -> bool {
        probe::does(workload)
    }

    fn supports(&self, params: &Params) -> Result<(), String> {
        probe::supports(params)
    }

    fn has(&self, setting: &Setting) -> bool {
        matches!(setting.scope, Scope::Process | Scope::System) || setting.name == CGROUP_DEPTH
    }

    fn joins_groups_for(&self) -> &'static [&'static str] {
        &[MEMORY_LIMIT, CGROUP_DEPTH]
    }

    fn versions(&self) -> Vec<(String, String)> {
        vec![("kizami-probe".to_owned(), env!("CARGO_PKG_VERSION").to_owned())]
    }

    fn start(&self, job: &Job, place: &Place<'_>) -> Result<Started, Error> {
        let command = Command::new(locate::ours(LINUX_PROBE).map_err(Error::Unusable)?);
        let mut started = probe::start(command, job, place)?;
        let asked = job.settings.get(CGROUP_DEPTH).map(str::to_owned);
        // Where no group could be made the lab has said why.
        if asked.is_none() || !place.cgroups.is_empty() {
            started.read_back = Some(Box::new(move |process| {
                let depth = system::limits_of(&Root::machine(), process).depth;
                vec![(CGROUP_DEPTH.to_owned(), probe::compared(asked.as_deref(), depth.map(|depth| (depth, String::new()))))]
            }));
        }
        Ok(started)
    }
}
