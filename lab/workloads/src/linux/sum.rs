//! The loop of additions of the Nerves study.

use std::hint::black_box;

use super::flow;
use crate::portable;
use crate::spec::{Kind, Param, Workload};

pub static WORKLOAD: Workload = Workload {
    name: "sum",
    title: "sum of 1 to n, in the Nerves study's flow",
    about: "Pauses, reads the clock, adds 1 to n one by one, reads the clock, records the difference, and pauses again. \
            The loop needs no memory in a Linux process; in an Erlang VM the study's Enum.reduce makes it a loop of \
            function calls. The optimiser is kept from replacing the loop by a formula. The call comes just after a \
            wake-up, with caches and clock rate as the pause left them. Not in the figure: the pauses. Not in the \
            figure of an Erlang VM: the message that takes the row to the process that collects.",
    reference: "nerves_rt_perf",
    params: &flow::params(Param {
        name: "n",
        about: "the last number to add",
        kind: Kind::count(1, 1_000_000_000),
        default: "4000",
    }),
    parts: flow::parts,
    seconds: |params| {
        let each = if params.choice("lang") == "native" { 1e-9 } else { 10e-9 };
        flow::seconds(params, params.number("n") as f64 * each)
    },
    linux: Some(|params, bench| {
        flow::run(params, bench, |n| {
            black_box(portable::sum(n));
            Ok(true)
        })
    }),
    beam: Some("sum"),
};
