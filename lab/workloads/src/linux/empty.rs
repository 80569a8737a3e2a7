//! The clock pair with nothing between: what taking a sample costs.
//!
//! The difference of two successive clock readings. Every other figure contains it once; it is reported beside them and
//! never subtracted. The fact `clock_ns` is the time of a lone reading, and `recording_ns` what a sample costs beyond the
//! clock pair: an iteration of the whole loop minus two lone readings.

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

/// How many iterations are timed together for the two costs. The quickest such block counts: what else runs on the
/// machine is in the samples, and is not what recording costs.
const BLOCK: u64 = 1000;
/// Blocks of lone readings: enough for a quick one, and few enough to be no wait.
const LONE_BLOCKS: u64 = 100;

fn run(params: &Params, bench: &mut Bench<'_>) -> Result<(), Failure> {
    let mut recorder = bench.recorder(0)?;
    let samples = params.number("samples");
    let (mut recording, mut lone) = (f64::INFINITY, f64::INFINITY);
    bench.window(|bench| {
        let mut left = samples;
        while left > 0 && !bench.stopped() {
            let block = left.min(BLOCK);
            let begin = clock_ns();
            for _ in 0..block {
                let before = clock_ns();
                let after = clock_ns();
                recorder.push(after - before);
            }
            recording = recording.min((clock_ns() - begin) as f64 / block as f64);
            left -= block;
        }
        for _ in 0..LONE_BLOCKS {
            let begin = clock_ns();
            for _ in 0..BLOCK {
                std::hint::black_box(clock_ns());
            }
            lone = lone.min((clock_ns() - begin) as f64 / BLOCK as f64);
        }
    });
    bench.fact("clock_ns", lone);
    if recording.is_finite() {
        bench.fact("recording_ns", recording - 2.0 * lone);
    }
    Ok(())
}
