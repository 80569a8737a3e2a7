//! The probe of the actor systems in Rust: runs one program of the comparison in one of them.
//!
//! `kizami-actors SYSTEM` reads a request on its standard input, finds the arena for its samples as descriptor 3, and
//! reports on its standard output. The lab starts it; a person has no use for it. `lab/workloads/src/actors` describes
//! the programs; each system has a module here with the programs written for it.
//!
//! All systems have the same conditions: the allocator of the C library, the optimisation of the profile `tuned`, as
//! many worker threads as the runtime takes by default, and no subscriber for logs.

mod actix;
mod beside;
mod clients;
mod kameo;
mod on_tokio;
mod program;
mod ractor;
mod tasks;
mod threads;

use std::io::{Read, Write};
use std::process::ExitCode;

use kizami_protocol::{ARENA_FD, Arena, Report, Request};
use kizami_recording::folder::Effective;
use kizami_settings::{Settings, process};
use kizami_workloads::{Params, clock_ns};

use program::{Outcome, Program};

/// How a system runs a program.
type Run = fn(&Program) -> Result<Outcome, String>;

/// Every system: its name, and how it runs a program.
const SYSTEMS: &[(&str, Run)] = &[
    ("actix", |program| actix::run(program, actix::Placement::OneArbiter)),
    ("actix-spread", |program| actix::run(program, actix::Placement::Spread)),
    ("ractor", ractor::run),
    ("kameo", kameo::run),
    ("threads", threads::run),
    ("tokio", tasks::run),
];

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if args == ["--version"] {
        println!("{}", version());
        return ExitCode::SUCCESS;
    }
    let system = match args.as_slice() {
        [name] => SYSTEMS.iter().find(|(known, _)| known == name),
        _ => None,
    };
    let Some((_, run)) = system else {
        eprintln!("kizami-actors is started by kizami. To compare actor systems: kizami bench actors");
        return ExitCode::from(2);
    };
    let result = measure(*run);
    let failed = result.is_err();
    say(&result.map_or_else(|why| Report::Failed { why }, |()| Report::Done {}));
    // Threads and tasks that still wait for messages are not waited for: the lab wants the memory back, and nothing else.
    std::process::exit(i32::from(failed));
}

/// What was built, and how: `0.1.0 (profile tuned; actix 0.13.5, …)`.
fn version() -> String {
    let lock = include_str!("../../../../Cargo.lock");
    let of = |name: &str| {
        let version = lock.split_once(&format!("name = \"{name}\"\nversion = \"")).map(|(_, rest)| rest);
        format!("{name} {}", version.and_then(|rest| rest.split('"').next()).unwrap_or("of unknown version"))
    };
    let systems = ["actix", "kameo", "ractor", "tokio"].map(of).join(", ");
    format!("{} (profile {}; {systems})", env!("CARGO_PKG_VERSION"), env!("KIZAMI_PROFILE"))
}

/// One line on standard output. A lab that is gone needs no reports.
fn say(report: &Report) {
    let mut out = std::io::stdout().lock();
    let _ = writeln!(out, "{}", report.line()).and_then(|()| out.flush());
}

fn say_effective(setting: String, Effective { value, as_requested, why }: Effective) {
    say(&Report::Effective { setting, value, as_requested, why });
}

fn measure(run: Run) -> Result<(), String> {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text).map_err(|e| format!("could not read the request: {e}"))?;
    let request: Request = serde_json::from_str(&text).map_err(|e| format!("the request is not one: {e}"))?;
    let workload = kizami_workloads::find(&request.workload)
        .ok_or_else(|| format!("this probe does not know the workload {:?}", request.workload))?;
    let params = Params::new(workload, &request.params).map_err(|(_, why)| why)?;
    let program = Program::of(&params)?;
    let settings = Settings::new(&request.settings).map_err(|(_, why)| why)?;
    let arena = Arena::attach(ARENA_FD).map_err(|e| format!("could not map the memory for the samples: {e}"))?;

    for (setting, effective) in process::apply(&settings) {
        say_effective(setting, effective);
    }
    say(&Report::Fact { name: "clock_pair_ns".into(), value: clock_pair() });
    say(&Report::Ready {});
    let outcome = run(&program)?;
    for (part, values) in outcome.parts.iter().enumerate() {
        let recorder = (part < arena.parts()).then(|| arena.recorder(part)).flatten();
        let mut recorder = recorder.ok_or_else(|| format!("there is no memory for the samples of part {part}"))?;
        values.iter().for_each(|value| recorder.push(*value));
    }
    let placement = Effective { value: outcome.placement, as_requested: true, why: String::new() };
    say_effective("placement".into(), placement);
    Ok(())
}

/// The median of a thousand clock pairs: what taking the time costs, here and now.
fn clock_pair() -> f64 {
    let mut pairs = [0u64; 1001];
    for pair in &mut pairs {
        let before = clock_ns();
        *pair = clock_ns() - before;
    }
    pairs.sort_unstable();
    pairs[pairs.len() / 2] as f64
}
