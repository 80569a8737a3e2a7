//! Probes in Rust: the request that they read, and their start as children of the lab. And what those for Linux do,
//! wherever their process is.

use std::io::Write;
use std::path::Path;
use std::process::Command;

use kizami_protocol::{Request, Start};
use kizami_recording::folder::Effective;
use kizami_settings::{Scope, Settings, process};
use kizami_workloads::{Params, Part, Workload};

use crate::environment::{Job, Place};
use crate::error::Error;
use crate::launch::{self, Started};

/// What a probe is asked to do. Its folder for files is `scratch`, as the probe sees it.
pub(crate) fn request(job: &Job, place: &Place<'_>, scratch: &Path) -> Request {
    Request {
        workload: job.workload().name.to_owned(),
        params: job.params.written(),
        settings: job.settings.of(Scope::Process).written(),
        columns: place.parts.iter().map(Part::column_names).collect(),
        scratch: scratch.to_owned(),
        start: Start { began: place.began, machine: None },
        partner: None,
        loads: job.loads_there().iter().map(|load| load.name.to_owned()).collect(),
    }
}

/// The same as text.
pub(crate) fn written(request: &Request) -> Result<Vec<u8>, Error> {
    // Of all that it holds, a path alone may be what JSON cannot write.
    let folder = request.scratch.display();
    serde_json::to_vec(request)
        .map_err(|_| Error::Unusable(format!("the folder {folder} is no text: choose another with --out")))
}

/// Starts `command`, which is such a probe, as a child that inherits the arena.
pub(crate) fn start(command: Command, job: &Job, place: &Place<'_>) -> Result<Started, Error> {
    let request = written(&request(job, place, place.scratch))?;
    let lines = Box::new(launch::report_lines);
    // The probe applies its settings itself; only joining a group has to come before it has memory of its own.
    let joining = process::InChild::new(&Settings::default()).joining(place.cgroups);
    let mut started =
        launch::start(command, launch::Input::Piped, &[place.arena.descriptor()], lines, move || joining.apply())?;
    if let Some(mut stdin) = started.stdin.take() {
        // A probe that is gone already says why in its reports and exit status.
        let _ = stdin.write_all(&request);
    }
    Ok(started)
}

/// What is in force of a setting, as it was read with a remark or why it was not, beside what was asked for.
pub(crate) fn compared(asked: Option<&str>, read: Result<(String, String), String>) -> Effective {
    let (value, why) = read.unwrap_or_else(|why| ("unknown".into(), format!("it cannot be read: {why}")));
    let as_requested = asked.is_none_or(|asked| asked == value);
    let why = match asked {
        Some(asked) if !as_requested && why.is_empty() => format!("{asked} was asked for and did not take effect"),
        _ => why,
    };
    Effective { value, as_requested, why }
}

/// Whether a Linux process does `workload`.
pub(crate) fn does(workload: &Workload) -> bool {
    workload.linux.is_some()
}

/// Whether a Linux process does its workload with these parameters.
pub(crate) fn supports(params: &Params) -> Result<(), String> {
    match params.written().get("lang").map(String::as_str) {
        None | Some("native") => Ok(()),
        Some(_) => {
            Err("a Linux process runs the native language only: set lang = \"native\", or use the environment beam"
                .into())
        }
    }
}
