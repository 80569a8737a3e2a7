//! The clock pair with nothing between: the cost of taking a sample.
//!
//! A sample is the difference of two successive clock readings. Every other figure contains this cost once; it is
//! reported beside the figures and never subtracted. The fact `clock_ns` is the time of a lone reading, and
//! `recording_ns` is the cost of a sample beyond the clock pair: an iteration of the whole loop minus two lone
//! readings, and 0 where that is less than the readings themselves vary.

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

/// How many iterations are timed together for the two costs.
const BLOCK: u64 = 1000;
/// So many blocks are each followed by one of lone readings. A machine has faster and slower phases, and only what was
/// timed in the same one may be subtracted; the median of the differences is what recording costs.
const COMPARED: usize = 200;

fn run(params: &Params, bench: &mut Bench<'_>) -> Result<(), Failure> {
    let mut recorder = bench.recorder(0)?;
    let samples = params.number("samples");
    let (mut lone, mut beyond) = ([0.0; COMPARED], [0.0; COMPARED]);
    let mut compared = 0;
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
            let with_recording = (clock_ns() - begin) as f64 / block as f64;
            left -= block;
            if compared < COMPARED {
                let begin = clock_ns();
                for _ in 0..BLOCK {
                    std::hint::black_box(clock_ns());
                }
                lone[compared] = (clock_ns() - begin) as f64 / BLOCK as f64;
                beyond[compared] = with_recording - 2.0 * lone[compared];
                compared += 1;
            }
        }
    });
    if compared > 0 {
        bench.fact("clock_ns", median(&mut lone[..compared]));
        bench.fact("recording_ns", cost_of_recording(&mut beyond[..compared]));
    }
    Ok(())
}

/// What recording costs, of what the loop took beyond two lone readings in each block. A difference of two times may come
/// out below nothing where the cost is less than they vary; a cost does not.
fn cost_of_recording(beyond: &mut [f64]) -> f64 {
    median(beyond).max(0.0)
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recording_never_costs_less_than_nothing() {
        assert_eq!(cost_of_recording(&mut [-3.5, -1.25, 2.0]), 0.0);
        assert_eq!(cost_of_recording(&mut [1.5, -1.0, 2.5]), 1.5);
    }
}
