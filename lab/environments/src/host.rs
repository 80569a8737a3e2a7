//! The host: a Linux process directly on the kernel of this machine.

use std::io::Write;
use std::process::{Command, Stdio};

use kizami_protocol::Request;
use kizami_settings::{Scope, Settings, process};
use kizami_workloads::{Params, Part, Workload};

use crate::environment::{Environment, Job, Place};
use crate::error::Error;
use crate::launch::{self, Started};
use crate::locate::{self, LINUX_PROBE};

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
        workload.linux.is_some()
    }

    fn supports(&self, params: &Params) -> Result<(), String> {
        if params.written().get("lang").is_some_and(|lang| lang != "native") {
            return Err(
                "a Linux process runs the native language only: set lang = \"native\", or use the environment \
                        beam"
                    .into(),
            );
        }
        Ok(())
    }

    fn versions(&self) -> Vec<(String, String)> {
        vec![(LINUX_PROBE.to_owned(), env!("CARGO_PKG_VERSION").to_owned())]
    }

    fn start(&self, job: &Job, place: &Place<'_>) -> Result<Started, Error> {
        let mut command = Command::new(locate::ours(LINUX_PROBE).map_err(Error::Unusable)?);
        command.stdin(Stdio::piped());
        let request = Request {
            workload: job.workload().name.to_owned(),
            params: job.params.written(),
            settings: job.settings.of(Scope::Process).written(),
            columns: place.parts.iter().map(Part::column_names).collect(),
            scratch: place.scratch.to_owned(),
        };
        // Of all that it holds, a path alone may be what JSON cannot write.
        let unusable = |_| format!("the folder {} is no text: choose another with --out", place.scratch.display());
        let request = serde_json::to_vec(&request).map_err(|e| Error::Unusable(unusable(e)))?;
        let lines = Box::new(launch::report_lines);
        // The probe applies its settings itself; only joining a group has to come before it has memory of its own.
        let joining = process::InChild::new(&Settings::default()).joining(place.cgroup);
        let mut started = launch::start(command, Some(place.arena.fd()), lines, move || joining.apply())?;
        if let Some(mut stdin) = started.child.stdin.take() {
            // A probe that is gone already says why in its reports and exit status.
            let _ = stdin.write_all(&request);
        }
        Ok(started)
    }
}
