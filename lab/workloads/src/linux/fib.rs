//! The recursion of the Nerves study: Fibonacci numbers.

use std::hint::black_box;

use super::flow;
use crate::portable;
use crate::spec::{Kind, Param, Workload};

pub static WORKLOAD: Workload = Workload {
    name: "fib",
    title: "naive Fibonacci number of n, in the Nerves study's flow",
    about: "Pauses, reads the clock, computes the Fibonacci number of n by double recursion (fib(20) is 21,891 calls), \
            reads the clock, records the difference, and pauses again. It is a load of function calls that touches \
            little memory. The call comes just after a wake-up, with caches and clock rate as the pause left them. Not \
            in the figure: the pauses. Not in the figure of an Erlang VM: the message that takes the row to the process \
            that collects.",
    reference: "nerves_rt_perf",
    params: &flow::params(Param {
        name: "n",
        about: "which Fibonacci number",
        kind: Kind::count(0, 45),
        default: "20",
    }),
    parts: flow::parts,
    seconds: |params| {
        let each = if params.choice("lang") == "native" { 2e-9 } else { 10e-9 };
        // The naive recursion makes about 1.618^n calls times 1.45.
        flow::seconds(params, 1.45 * 1.618f64.powi(params.number("n") as i32) * each)
    },
    linux: Some(|params, bench| {
        flow::run(params, bench, |n| {
            black_box(portable::fib(n));
            Ok(true)
        })
    }),
    beam: Some("fib"),
};
