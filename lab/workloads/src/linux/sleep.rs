//! The sleep of the Nerves study: its real duration.

use super::flow;
use crate::os::sys;
use crate::bench::{Bench, Failure};
use crate::spec::{Kind, Param, Params, Workload};

pub static WORKLOAD: Workload = Workload {
    name: "sleep",
    title: "sleep of n milliseconds, in the Nerves study's flow",
    about: "Pauses, reads the clock, sleeps for n milliseconds, reads the clock, records the difference, and pauses \
            again. A Linux process sleeps with clock_nanosleep for a relative time; an Erlang VM with timer:sleep, \
            whose timers end on a tick of a millisecond and never early, so that 5 ms take up to 6. The figure is the \
            whole sleep and not what it was too long: for that there are wakeup and os-latency. Not in the figure: the \
            pauses.",
    reference: "nerves_rt_perf",
    params: &flow::params(Param {
        name: "n",
        about: "milliseconds to sleep",
        kind: Kind::count(0, 60_000),
        default: "5",
    }),
    parts: flow::parts,
    seconds: |params| flow::seconds(params, params.number("n") as f64 * 1e-3 + 60e-6),
    linux: Some(run),
    beam: Some("sleep"),
};

fn run(params: &Params, bench: &mut Bench<'_>) -> Result<(), Failure> {
    let stop = bench.stop();
    flow::run(params, bench, |n| sys::sleep_for(sys::Via::Library, n * 1_000_000, stop))
}
