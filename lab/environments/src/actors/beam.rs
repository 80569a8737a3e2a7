//! Actor systems of the Erlang VM: `kizami_actors.erl`, and for each system a callback module that has the programs.
//!
//! The modules that come with this program are compiled once for each release of the VM into the user's cache. The
//! entry of a system that is built elsewhere (an application with a library of its own) names the folder of its modules
//! in `folder`.

use std::path::PathBuf;
use std::process::Command;

use kizami_settings::{Scope, process};
use kizami_workloads::{Params, Workload};

use super::programs::{is_of_some, is_program};
use crate::environment::{Environment, Job, Place};
use crate::erlang::{self, Sources};
use crate::error::Error;
use crate::launch::{self, Started};
use crate::locate;

macro_rules! sources {
    ($($name:literal from $path:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../../../probes/", $path, "/", $name)))),*]
    };
}

const BUILD: &str = include_str!("../../../probes/actors/erlang/build");
const SOURCES: Sources = sources![
    "kizami_report.erl" from "beam/src",
    "kizami_actors.erl" from "actors/erlang",
    "kizami_actors_otp.erl" from "actors/erlang",
    "kizami_actors_plain.erl" from "actors/erlang",
    "kizami_actors_server.erl" from "actors/erlang",
    "kizami_actors_supervised.erl" from "actors/erlang",
    "kizami_actors_supervisor.erl" from "actors/erlang",
];

/// An actor system of the Erlang VM.
#[derive(Debug)]
pub struct BeamSystem {
    name: &'static str,
    title: &'static str,
    /// The callback module of `kizami_actors`.
    module: &'static str,
    /// Where the message queues of the actors are.
    queue: &'static str,
    /// The folder of compiled modules that the callback module is in, if it is not one of ours; or what to do to have it.
    folder: Option<fn() -> Result<PathBuf, String>>,
}

pub static ERLANG: BeamSystem = BeamSystem {
    name: "erlang",
    title: "processes of the Erlang VM, without OTP",
    module: "kizami_actors_plain",
    queue: "on_heap",
    folder: None,
};

pub static GEN_SERVER: BeamSystem = BeamSystem {
    name: "gen-server",
    title: "gen_servers in Erlang",
    module: "kizami_actors_server",
    queue: "on_heap",
    folder: None,
};

pub static GEN_SERVER_OFF_HEAP: BeamSystem = BeamSystem {
    name: "gen-server-off-heap",
    title: "gen_servers in Erlang, their message queues off the heap",
    queue: "off_heap",
    ..GEN_SERVER
};

pub static GEN_SERVER_SUPERVISED: BeamSystem = BeamSystem {
    name: "gen-server-supervised",
    title: "gen_servers in Erlang; those that are made are started by a supervisor",
    module: "kizami_actors_supervised",
    ..GEN_SERVER
};

pub static OTP: BeamSystem = BeamSystem {
    name: "otp",
    title: "gen_servers in Rust, with the library otp",
    module: "kizami_actors_otp",
    folder: Some(super::otp::folder),
    ..GEN_SERVER
};

impl Environment for BeamSystem {
    fn name(&self) -> &'static str {
        self.name
    }

    fn title(&self) -> &'static str {
        self.title
    }

    fn available(&self) -> Result<(), String> {
        for program in ["erl", "erlc"] {
            locate::program(program, "erlang-base")?;
        }
        self.folder.map_or(Ok(()), |folder| folder().map(drop))
    }

    fn does(&self, workload: &Workload) -> bool {
        is_program(workload) || (self.name == OTP.name && is_of_some(workload))
    }

    fn supports(&self, _: &Params) -> Result<(), String> {
        Ok(())
    }

    fn versions(&self) -> Vec<(String, String)> {
        erlang::shown_version().into_iter().collect()
    }

    fn start(&self, job: &Job, place: &Place<'_>) -> Result<Started, Error> {
        let compiled = erlang::compiled("actors", SOURCES, BUILD).map_err(Error::Unusable)?;
        let mut command = Command::new(locate::program("erl", "erlang-base").map_err(Error::Unusable)?);
        command.env("ERL_CRASH_DUMP_BYTES", "0");
        // More processes than the VM admits by default, for those who make many.
        command.args(["+Bi", "+P", "16777216", "-noshell", "-noinput", "-pa"]).arg(&compiled);
        if let Some(folder) = self.folder {
            command.arg("-pa").arg(folder().map_err(Error::Unusable)?);
        }
        command.args(["-s", "kizami_actors", "main", "-extra"]);
        command.arg(format!("system={}", self.module)).arg(format!("program={}", job.workload().name));
        command.arg(format!("queue={}", self.queue));
        command.args(job.params.written().iter().map(|(name, value)| format!("{name}={value}")));
        let asked = job.settings.of(Scope::Process);
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
