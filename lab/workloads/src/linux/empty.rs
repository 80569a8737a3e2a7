//! The clock pair with nothing between: what taking a sample costs.
//!
//! The difference of two successive clock readings. Every other figure contains it once; it is reported beside them and
//! never subtracted. The fact `clock_ns` is the mean time of a lone reading. What recording costs beyond the pair is the fact
//! `recording_ns`: the time of the whole loop an iteration, with its look at the stop flag, minus two lone readings.

use crate::bench::{Bench, Failure, clock_ns};
use crate::spec::{Kind, Param, Params, Part, Workload};

pub static WORKLOAD: Workload = Workload {
    name: "empty",
    title: "clock pair with nothing between",
    about: "Reads CLOCK_MONOTONIC twice in a row and records the difference. It is the part of every other sample that \
            is the measurement itself, and the resolution below which nothing can be told.",
    reference: "",
    params: &[Param { name: "samples", about: "how many pairs", kind: Kind::count(1, 100_000_000), default: "100000" }],
    parts: |params, _| vec![Part::times(params.number("samples"))],
    seconds: |params| params.number("samples") as f64 * 80e-9,
    linux: Some(run),
    beam: None,
};

/// Lone readings, to know what one costs: enough for a mean, and few enough to be no wait.
const LONE: u64 = 200_000;

fn run(params: &Params, bench: &mut Bench<'_>) -> Result<(), Failure> {
    let mut recorder = bench.recorder(0)?;
    let samples = params.number("samples");
    let (mut taken, mut loop_ns, mut clocks_ns) = (0, 0, 0);
    bench.window(|bench| {
        let begin = clock_ns();
        while taken < samples && !bench.stopped() {
            let before = clock_ns();
            let after = clock_ns();
            recorder.push(after - before);
            taken += 1;
        }
        loop_ns = clock_ns() - begin;
        let begin = clock_ns();
        for _ in 0..LONE {
            std::hint::black_box(clock_ns());
        }
        clocks_ns = clock_ns() - begin;
    });
    let (each, reading) = (loop_ns as f64 / taken.max(1) as f64, clocks_ns as f64 / LONE as f64);
    bench.fact("clock_ns", reading);
    bench.fact("recording_ns", each - 2.0 * reading);
    Ok(())
}
