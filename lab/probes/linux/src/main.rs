//! The probe of the Linux environments: runs a workload, or a background load, in this process.
//!
//! `kizami-probe` reads a request on its standard input, finds the arena for its samples as descriptor 3, and reports on
//! its standard output. `kizami-probe load NAME FOLDER` is a background load until its standard input ends. The lab
//! starts it; a person has no use for it.

use std::io::{Read, Write};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use kizami_protocol::{ARENA_FD, Arena, Report, Request};
use kizami_recording::folder::Effective;
use kizami_settings::{Settings, process};
use kizami_workloads::window::CountingAllocator;
use kizami_workloads::{Bench, Params, clock_ns, loads};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    let result = match words.as_slice() {
        [] => measure(),
        ["load", name, folder] => load(name, Path::new(folder)),
        ["--version"] => {
            println!("kizami-probe {}", env!("CARGO_PKG_VERSION"));
            return ExitCode::SUCCESS;
        }
        _ => {
            eprintln!("kizami-probe is started by kizami. To measure something: kizami run <study|workload>");
            return ExitCode::from(2);
        }
    };
    match result {
        Ok(()) => {
            say(&Report::Done {});
            ExitCode::SUCCESS
        }
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

fn say_effective(settings: impl IntoIterator<Item = (String, Effective)>) {
    for (setting, Effective { value, as_requested, why }) in settings {
        say(&Report::Effective { setting, value, as_requested, why });
    }
}

fn measure() -> Result<(), String> {
    // The lab raises the arena's stop flag, which ends the workload in order; the signal is for probes that have none.
    // SAFETY: changes only what this process does with a signal.
    unsafe { libc::signal(libc::SIGTERM, libc::SIG_IGN) };
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text).map_err(|e| format!("could not read the request: {e}"))?;
    let request: Request = serde_json::from_str(&text).map_err(|e| format!("the request is not one: {e}"))?;
    let workload = kizami_workloads::find(&request.workload)
        .ok_or_else(|| format!("this probe does not know the workload {:?}", request.workload))?;
    let params = Params::new(workload, &request.params).map_err(|(_, why)| why)?;
    let settings = Settings::new(&request.settings).map_err(|(_, why)| why)?;
    let body = workload.linux.ok_or_else(|| format!("{} does not run in a Linux process", workload.name))?;
    let arena = Arena::attach(ARENA_FD).map_err(|e| format!("could not map the memory for the samples: {e}"))?;
    let recorders: Option<Vec<_>> = (0..arena.parts()).map(|part| arena.recorder(part)).collect();
    let recorders = recorders.ok_or("the memory for the samples was used before")?;

    say_effective(process::apply(&settings));
    say(&Report::Fact { name: "clock_pair_ns".into(), value: clock_pair() });
    say(&Report::Ready {});
    let mut bench = Bench::new(recorders, request.columns, arena.stop(), &request.scratch);
    let result = body(&params, &mut bench);
    say_effective(bench.effective_settings().iter().cloned());
    for (name, value) in bench.facts() {
        say(&Report::Fact { name: name.clone(), value: *value });
    }
    result.map_err(|e| e.to_string())
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

fn load(name: &str, folder: &Path) -> Result<(), String> {
    let load = loads::find(name).ok_or_else(|| format!("there is no load {name:?}"))?;
    let (stop, work) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
    // The load works on the main thread, because its children are bound to the life of the thread that made them.
    std::thread::spawn({
        let stop = Arc::clone(&stop);
        move || {
            let _ = std::io::stdin().read(&mut [0]);
            stop.store(true, Ordering::Relaxed);
        }
    });
    std::thread::spawn({
        let work = Arc::clone(&work);
        move || {
            while work.load(Ordering::Relaxed) == 0 {
                std::thread::sleep(Duration::from_millis(5));
            }
            say(&Report::Ready {});
        }
    });
    let bench = loads::LoadBench { stop: &stop, work: &work, scratch: folder };
    let result = (load.run)(&bench);
    say(&Report::Fact { name: "operations".into(), value: work.load(Ordering::Relaxed) as f64 });
    result.map_err(|e| e.to_string())
}
