//! The probe of the real-time kernel: measures its services in this process, on the kernel's host port.
//!
//! `kizami-rtos` reads a request on its standard input, finds the arena for its samples as descriptor 3, and reports on
//! its standard output. The lab starts it; a person has no use for it. The program contains the kernel in every build
//! that the study compares; a process runs one of them, once.

mod clock;
mod job;
mod sample;

macro_rules! builds {
    ($($name:ident: $model:ty),* $(,)?) => {
        $(
            #[path = "."]
            mod $name {
                pub type Model = $model;
                // The same source for each build: that is what is measured.
                #[allow(clippy::duplicate_mod)]
                #[path = "work.rs"]
                pub mod work;
            }
        )*

        /// How each build is run.
        const BUILDS: &[(&str, fn() -> !)] = &[$((stringify!($name), rtos_host::run::<$name::work::App>)),*];
    };
}

builds! {
    uni: rtos::Uni,
    multi: rtos::Multi<2>,
    multi1: rtos::Multi<1>,
    nolocks: rtos::Multi<1, false>,
    noids: rtos::Multi<1, true, false>,
    neither: rtos::Multi<1, false, false>,
}

mod contention;

use std::io::{Read, Write};
use std::process::ExitCode;

use kizami_protocol::{ARENA_FD, Arena, Report, Request};
use kizami_recording::folder::Effective;
use kizami_settings::{Settings, process};
use kizami_workloads::Params;

use job::{Job, Service};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments == ["--version"] {
        let profile = if cfg!(debug_assertions) { "unoptimised" } else { "optimised" };
        println!("{} ({profile})", env!("CARGO_PKG_VERSION"));
        return ExitCode::SUCCESS;
    }
    if !arguments.is_empty() {
        eprintln!("kizami-rtos is started by kizami. To measure the kernel: kizami run rtos");
        return ExitCode::from(2);
    }
    match prepare() {
        Ok(run) => run(),
        Err(why) => {
            say(&Report::Failed { why });
            ExitCode::FAILURE
        }
    }
}

/// One line on standard output. A lab that is gone needs no reports.
fn say(report: &Report) {
    let mut out = std::io::stdout().lock();
    let _ = writeln!(out, "{}", report.line()).and_then(|()| out.flush());
}

/// Reads what is to be done and makes everything ready; what is given then does not come back.
fn prepare() -> Result<fn() -> !, String> {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text).map_err(|e| format!("could not read the request: {e}"))?;
    let request: Request = serde_json::from_str(&text).map_err(|e| format!("the request is not one: {e}"))?;
    let workload = kizami_workloads::find(&request.workload)
        .ok_or_else(|| format!("this probe does not know the workload {:?}", request.workload))?;
    let params = Params::new(workload, &request.params).map_err(|(_, why)| why)?;
    let settings = Settings::new(&request.settings).map_err(|(_, why)| why)?;
    let arena = Arena::attach(ARENA_FD).map_err(|e| format!("could not map the memory for the samples: {e}"))?;
    let arena: &'static Arena = Box::leak(Box::new(arena));
    let recorder = (arena.parts() > 0).then(|| arena.recorder(0)).flatten();
    let recorder = recorder.ok_or("there is no memory for the samples, or it was used before")?;
    sample::set_up(recorder, arena.stop());

    let (run, job): (fn() -> !, Job) = match workload.name {
        "rtos-time" => {
            let model = params.choice("model");
            let build = BUILDS.iter().find(|(name, _)| *name == model);
            let (_, run) = build.ok_or_else(|| format!("there is no build {model:?} here"))?;
            let service = Service::of(params.choice("service"))?;
            (*run, Job { service, samples: params.number("samples"), pause_ns: 0 })
        }
        "rtos-contention" => {
            let pinned = params.choice("object") == "pinned";
            let service = if pinned { Service::SigSemPinnedNoSwitch } else { Service::SigSemNoSwitch };
            let job = Job { service, samples: params.number("samples"), pause_ns: params.number("pause_ns") };
            (rtos_host::run::<contention::App>, job)
        }
        other => return Err(format!("this probe does not know the workload {other:?}")),
    };
    job::set(job);
    for (setting, Effective { value, as_requested, why }) in process::apply(&settings) {
        say(&Report::Effective { setting, value, as_requested, why });
    }
    let of_one = clock::calibrate()?;
    say(&Report::Fact { name: "clock_pair_ns".into(), value: clock::pair(of_one) });
    say(&Report::Ready {});
    Ok(run)
}
