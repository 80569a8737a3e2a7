//! The empty function of the Nerves study: the flow and the clock pair, without work.

use super::flow;
use crate::spec::{Kind, Param, Workload};

pub static WORKLOAD: Workload = Workload {
    name: "nothing",
    title: "no work, in the Nerves study's flow",
    about: "Pauses, reads the clock twice, records the difference, and pauses again. Unlike empty, whose loop keeps \
            everything hot, each pair is taken just after a wake-up, with caches and clock rate as the pause left them: \
            this is what the other three functions of the study contain beside their work. Not in the figure: the \
            pauses, and what wakes the process from them.",
    reference: "nerves_rt_perf",
    params: &flow::params(Param {
        name: "n",
        about: "not used: there so that the study's four functions have the same parameters",
        kind: Kind::count(0, 0),
        default: "0",
    }),
    parts: flow::parts,
    seconds: |params| flow::seconds(params, 0.0),
    linux: Some(|params, bench| flow::run(params, bench, |_| Ok(true))),
    beam: Some("nothing"),
};
