//! The start of an environment, in phases: from the start of the program that starts it to the first sample.
//!
//! The one row of a trial adds up: `total` is the sum of the phases. What an environment does not have takes no time. The lab
//! tells when it began, and of a machine with a kernel of its own when that came up ([`crate::bench::Start`]).

use kizami_recording::folder::{Column, Unit};

use crate::bench::{Bench, Failure, Start, clock_ns};
use crate::spec::{Params, Part, Workload};

const PHASES: [&str; 5] = ["monitor", "firmware", "kernel", "init", "probe"];

pub static WORKLOAD: Workload = Workload {
    name: "boot",
    title: "from nothing to the first sample",
    about: "Each trial starts its environment anew, and records how long that took: from the moment at which the lab starts the \
            program that starts it until the probe takes its first sample. The phases are the columns. monitor: until the machine \
            runs its first instruction; of a container and of the host, whose kernel runs already, until the probe does. \
            firmware: until the clock of the machine's kernel begins, so the loader and the unpacking of the kernel are in it. \
            kernel: until its first process begins. init: until the probe begins. probe: from its first instruction to the \
            sample; it is given the work and the memory in that time. Of an Erlang VM, monitor is until it runs, and init until its \
            code is loaded. Not in the figure: what serves several starts, such as \
            a daemon, and the making of an image.",
    reference: "",
    params: &[],
    parts: |_, _| vec![part()],
    seconds: |_| 0.1,
    linux: Some(run),
    beam: Some("boot"),
};

fn part() -> Part {
    let total = Part { columns: vec![Column::new("total", Unit::Nanoseconds)], ..Part::times(1).cold(0) };
    PHASES.into_iter().fold(total, |part, phase| part.and(phase, Unit::Nanoseconds))
}

fn run(_: &Params, bench: &mut Bench<'_>) -> Result<(), Failure> {
    let mut recorder = bench.recorder(0)?;
    bench.window(|bench| recorder.push_row(&row(bench.start(), clock_ns() as i64)));
    Ok(())
}

/// The whole time and its phases, of a start whose first sample is taken at `now`.
fn row(start: Start, now: i64) -> [u64; 6] {
    // The clock of a machine's own kernel begins with it.
    let ends = match start.machine {
        Some([runs, init, agent]) => [runs, 0, init, agent, now],
        None => [start.first, start.first, start.first, start.first, now],
    };
    let mut row = [0; 6];
    let mut reached = start.began;
    for (phase, end) in row[1..].iter_mut().zip(ends) {
        // A phase that ends before the one before it did has taken no time.
        *phase = end.saturating_sub(reached).max(0).cast_unsigned();
        reached = reached.max(end);
    }
    row[0] = row[1..].iter().sum();
    row
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_phases_add_up_to_the_whole() {
        let on_this_kernel = Start { began: 1_000, first: 1_700, machine: None };
        assert_eq!(row(on_this_kernel, 2_000), [1_000, 700, 0, 0, 0, 300]);
        // A machine whose kernel began 900 after the lab did, and ran 500 of those.
        let machine = Start { began: -900, first: 2_900, machine: Some([-500, 2_000, 2_600]) };
        assert_eq!(row(machine, 3_000), [3_900, 400, 500, 2_000, 600, 400]);
        // Two clocks that were compared by a message do not agree to the last nanosecond.
        let late = Start { began: -900, first: 0, machine: Some([20, 2_000, 2_600]) };
        assert_eq!(row(late, 3_000), [3_900, 920, 0, 1_980, 600, 400]);
    }
}
