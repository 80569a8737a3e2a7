//! The flow of the Nerves study for work in a Linux process: pause, measure one call, pause, repeat.
//!
//! The Erlang VM follows the same flow with `lang=elixir` or `lang=erlang`, and takes the same parameters; each of its
//! rows also has the heap size and the minor collections of the measuring process. Source: the study's program
//! nerves_rt_perf, whose loop pauses before and after each measured call and leaves the first call out; here the first
//! call is the first row, marked as cold.

use std::io;

use kizami_recording::folder::Unit;

use crate::bench::{Bench, Failure, clock_ns};
use crate::os::sys;
use crate::os::watch::Watch;
use crate::spec::{Kind, Machine, Param, Params, Part};

const MILLISECOND: u64 = 1_000_000;

/// The parameters of a workload with this flow, of which `n` is its own.
pub const fn params(n: Param) -> [Param; 4] {
    let iterations = Param {
        name: "iterations",
        about: "measured calls after the first, cold one",
        kind: Kind::count(1, 100_000_000),
        default: "100",
    };
    let pause = Param {
        name: "pause",
        about: "sleep before and after each call, in whole milliseconds",
        kind: Kind::time(0, 60_000 * MILLISECOND),
        default: "5ms",
    };
    let lang = Param {
        name: "lang",
        about: "what it is written in: native for a Linux process, the others for an Erlang VM",
        kind: Kind::Choice(&["native", "elixir", "erlang"]),
        default: "native",
    };
    [iterations, n, pause, lang]
}

pub fn parts(params: &Params, _: &Machine) -> Vec<Part> {
    let part = Part::times(params.number("iterations") + 1);
    match params.choice("lang") {
        "native" => vec![part],
        _ => vec![part.and("heap_size", Unit::Words).and("minor_gcs", Unit::Count)],
    }
}

/// The time of a trial whose measured call takes about `call` seconds.
pub fn seconds(params: &Params, call: f64) -> f64 {
    // A pause lasts until the next tick in an Erlang VM, and a little longer than asked for on Linux.
    let late = if params.choice("lang") == "native" { 60e-6 } else { 1e-3 };
    let pauses = 2.0 * (params.number("pause") as f64 * 1e-9 + late);
    (params.number("iterations") + 1) as f64 * (pauses + call)
}

/// Measures `work(n)`, which says `Ok(false)` when it was stopped.
///
/// # Errors
/// When the parameters are for an Erlang VM, or the system refuses to sleep.
pub fn run(
    params: &Params,
    bench: &mut Bench<'_>,
    mut work: impl FnMut(u64) -> io::Result<bool>,
) -> Result<(), Failure> {
    let (pause, n) = (params.number("pause"), params.number("n"));
    if params.choice("lang") != "native" {
        let lang = params.choice("lang");
        return Err(Failure::Impossible(format!(
            "a Linux process runs lang=native only: for lang={lang} choose an environment with an Erlang VM"
        )));
    }
    if !pause.is_multiple_of(MILLISECOND) {
        return Err(Failure::Impossible(
            "pause must be whole milliseconds, as an Erlang VM can take no other and the two are to be compared".into(),
        ));
    }
    let mut recorder = bench.recorder(0)?;
    let rows = params.number("iterations") + 1;
    let done: io::Result<()> = Watch::during(bench.stop(), 0, |_| {
        bench.window(|bench| {
            for _ in 0..rows {
                if !sys::sleep_for(sys::Via::Library, pause, bench.stop())? {
                    break;
                }
                let before = clock_ns();
                let whole = work(std::hint::black_box(n))?;
                let after = clock_ns();
                if !whole {
                    break;
                }
                recorder.push(after - before);
                if bench.stopped() || !sys::sleep_for(sys::Via::Library, pause, bench.stop())? {
                    break;
                }
            }
            Ok(())
        })
    })?;
    // Between two calls lie the pause after the one and the pause before the other.
    bench.fact("pause_ns", 2.0 * pause as f64);
    done.map_err(Failure::os("sleep"))
}
