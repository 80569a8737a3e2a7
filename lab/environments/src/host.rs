//! The host: a Linux process directly on the kernel of this machine.

use std::process::Command;

use kizami_workloads::{Params, Workload};

use crate::environment::{Environment, Job, Place};
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

    fn versions(&self) -> Vec<(String, String)> {
        vec![("kizami-probe".to_owned(), env!("CARGO_PKG_VERSION").to_owned())]
    }

    fn start(&self, job: &Job, place: &Place<'_>) -> Result<Started, Error> {
        let command = Command::new(locate::ours(LINUX_PROBE).map_err(Error::Unusable)?);
        probe::start(command, job, place)
    }
}
