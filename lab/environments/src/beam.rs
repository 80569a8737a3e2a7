//! The Erlang VM of this machine, with a probe in Erlang and Elixir inside.
//!
//! [`crate::erlang`] compiles the probe and connects its reports.
//!
//! The study keeps all rows until the end. Here every hundred rows are reported, so that a VM that is killed loses no
//! more than the last of them; the measuring process takes no part in the reports.

use std::fs;
use std::process::Command;

use kizami_settings::{Scope, Setting, process};
use kizami_workloads::{Params, Workload};

use crate::environment::{Environment, Job, Place};
use crate::erlang::{self, Sources};
use crate::error::Error;
use crate::launch::{self, Started};
use crate::locate;

/// The environment `beam`.
#[derive(Debug)]
pub struct Beam;

/// The setting that goes to the VM's command line, and not to the probe.
const VM_FLAGS: &str = "vm_flags";
const NATIVE: &str = "libkizami_beam_native.so";
/// After so many rows they are reported.
const FLUSH_ROWS: &str = "100";

macro_rules! sources {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../../probes/beam/", $name)))),*]
    };
}

const BUILD: &str = include_str!("../../probes/beam/build");
const SOURCES: Sources = sources![
    "src/kizami_native.erl",
    "src/kizami_options.erl",
    "src/kizami_probe.erl",
    "src/kizami_report.erl",
    "src/kizami_settings.erl",
    "src/kizami_signal.erl",
    "src/kizami_start.erl",
    "src/kizami_work.erl",
    "src/kizami_work.ex",
];

impl Environment for Beam {
    fn name(&self) -> &'static str {
        "beam"
    }

    fn title(&self) -> &'static str {
        "the Erlang VM of this machine"
    }

    fn available(&self) -> Result<(), String> {
        for (program, package) in [("erl", "erlang-base"), ("erlc", "erlang-base"), ("elixirc", "elixir")] {
            locate::program(program, package)?;
        }
        Ok(())
    }

    fn does(&self, workload: &Workload) -> bool {
        workload.beam.is_some()
    }

    fn supports(&self, params: &Params) -> Result<(), String> {
        if params.written().get("lang").is_some_and(|lang| lang == "native") {
            return Err("an Erlang VM runs Elixir or Erlang: set lang = \"elixir\" or \"erlang\"".into());
        }
        Ok(())
    }

    fn has(&self, setting: &Setting) -> bool {
        matches!(setting.scope, Scope::Process | Scope::System | Scope::Beam)
    }

    fn starting(&self) -> f64 {
        0.2
    }

    fn versions(&self) -> Vec<(String, String)> {
        let elixir = locate::program("elixir", "elixir").ok();
        let elixir = elixir.and_then(|path| locate::version(&path, &["--short-version"]));
        erlang::shown_version().into_iter().chain(elixir.map(|v| ("elixir".to_owned(), v))).collect()
    }

    fn start(&self, job: &Job, place: &Place<'_>) -> Result<Started, Error> {
        let function = job
            .workload()
            .beam
            .ok_or_else(|| Error::Unusable(format!("{} has no Erlang half", job.workload().name)))?;
        let compiled = erlang::compiled("beam", SOURCES, BUILD).map_err(Error::Unusable)?;
        let elixir = fs::read_to_string(compiled.join("elixir_ebin"))
            .map_err(Error::os(format!("read elixir_ebin in {}", compiled.display())))?;
        let mut command = Command::new(locate::program("erl", "erlang-base").map_err(Error::Unusable)?);
        // A VM that aborts says why on its error output; a dump of its memory is of no use here.
        command.env("ERL_CRASH_DUMP_BYTES", "0").arg("+Bi");
        if let Some(flags) = job.settings.get(VM_FLAGS) {
            command.args(flags.split_whitespace());
        }
        command.args(["-noshell", "-noinput", "-pa"]).arg(&compiled).args(["-pa", elixir.trim()]);
        let mut run = |module: &str, arguments: Vec<String>| {
            command.args(["-s", module, "main", "-extra"]).args(arguments);
        };
        match function {
            // What is measured is the VM itself.
            "boot" => run("kizami_start", vec![function.to_owned(), place.began.to_string()]),
            "footprint" => run("kizami_start", vec![function.to_owned()]),
            _ => {
                let given = keys(job).into_iter().map(|(name, value)| format!("{name}={value}"));
                run("kizami_probe", [format!("workload={function}")].into_iter().chain(given).collect());
            }
        }
        let asked = job.settings.of(Scope::Process);
        if asked.get("lock_memory") == Some("true") {
            let library = locate::ours(NATIVE).map_err(Error::Unusable)?;
            command.arg(format!("nif={}", library.with_extension("").display()));
        }
        let prepared = process::InChild::new(&asked).joining(place.cgroups);
        let in_child = move || {
            prepared.apply();
            erlang::reports_on_three();
        };
        let mut started = launch::start(command, launch::Input::Empty, &[], Box::new(launch::report_lines), in_child)?;
        started.read_back = Some(Box::new(move |pid| process::read_of(pid, &asked)));
        Ok(started)
    }
}

/// The probe's keys for a job: parameters and settings under the probe's names.
fn keys(job: &Job) -> Vec<(String, String)> {
    let mut keys = vec![("flush_rows".to_owned(), FLUSH_ROWS.to_owned())];
    for (name, value) in job.params.written() {
        match name.as_str() {
            "pause" => keys.push(("pause_ms".to_owned(), (job.params.number("pause") / 1_000_000).to_string())),
            _ => keys.push((name, value)),
        }
    }
    let settings = job.settings.of(Scope::Beam).written();
    keys.extend(settings.into_iter().filter(|(name, _)| name != VM_FLAGS));
    if let Some(lock) = job.settings.get("lock_memory") {
        keys.push(("lock_memory".to_owned(), lock.to_owned()));
    }
    keys
}
