//! Execution time of a service on this machine.

use super::services::{MODEL, SERVICES, with};
use crate::spec::{Kind, Param, Part, Workload};

pub static WORKLOAD: Workload = Workload {
    name: "rtos-time",
    title: "services of the real-time kernel",
    about: "Calls one service of the kernel, which runs as a process of this machine, again and again. A sample is the time \
            from before the call to the first instruction of the task that runs because of it, where the name ends in \
            switch, or until the call has returned. act_in_handler begins in the handler of an interrupt and ends in the \
            task. act_remote activates a task of the other processor and returns; act_remote_start ends where that task \
            begins, and holds the interrupt between processors, which is a signal here. Times are read from the processor's \
            time-stamp counter, because a system's clock may count in tens of nanoseconds; a sample holds one pair of \
            readings, and the fact clock_pair_ns says what that takes alone.",
    reference: "",
    params: &[
        Param {
            name: "service",
            about: "which service",
            kind: Kind::Choice(&with(SERVICES, "act_remote_start")),
            default: "act_switch",
        },
        MODEL,
        Param {
            name: "samples",
            about: "how many calls, each of which is a sample",
            kind: Kind::count(1, 100_000_000),
            default: "1000000",
        },
    ],
    parts: |params, _| vec![Part::times(params.number("samples"))],
    seconds: |params| params.number("samples") as f64 * 1e-6,
    linux: None,
    beam: None,
};
