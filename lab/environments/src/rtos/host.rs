//! The real-time kernel as a process of this machine, with a thread for each processor: the probe `kizami-rtos`.

use std::io::Write;
use std::process::{Command, Stdio};

use kizami_protocol::Request;
use kizami_settings::{Scope, Settings, process};
use kizami_workloads::{Params, Part, Workload, rtos};

use crate::environment::{Environment, Job, Place};
use crate::error::Error;
use crate::launch::{self, Started};
use crate::locate;

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
        let mut command = Command::new(locate::ours(PROBE).map_err(Error::Unusable)?);
        command.stdin(Stdio::piped());
        let request = Request {
            workload: job.workload().name.to_owned(),
            params: job.params.written(),
            settings: job.settings.of(Scope::Process).written(),
            columns: place.parts.iter().map(Part::column_names).collect(),
            scratch: place.scratch.to_owned(),
        };
        let unusable = |_| format!("the folder {} is no text: choose another with --out", place.scratch.display());
        let request = serde_json::to_vec(&request).map_err(|e| Error::Unusable(unusable(e)))?;
        let joining = process::InChild::new(&Settings::default()).joining(place.cgroup);
        let lines = Box::new(launch::report_lines);
        let mut started = launch::start(command, Some(place.arena.fd()), lines, move || joining.apply())?;
        if let Some(mut stdin) = started.child.stdin.take() {
            // A probe that is gone already says why in its reports and exit status.
            let _ = stdin.write_all(&request);
        }
        Ok(started)
    }
}
