//! Contention for the lock between processors: the cost of a service when two processors want the lock.

use crate::spec::{Kind, Param, Part, Workload};

pub static WORKLOAD: Workload = Workload {
    name: "rtos-contention",
    title: "the real-time kernel, two processors at once",
    about: "Two processors of the kernel, each a thread of this machine. One calls sig_sem of a semaphore without a waiter, \
            back to back; a sample is the time of that call. The other signals and takes a semaphore of its own with a pause \
            between, so that the two have nothing in common but the lock between processors. With object=pinned the \
            measured semaphore belongs to its processor alone, and no lock is taken for it. The fact other_calls says how \
            often the other came by. A sample holds a pair of readings of the time-stamp counter, as in rtos-time.",
    reference: "",
    params: &[
        Param {
            name: "pause_ns",
            about: "how long the other processor does something else between two calls, in nanoseconds",
            kind: Kind::count(0, 1_000_000_000),
            default: "0",
        },
        Param {
            name: "object",
            about: "whom the measured semaphore belongs to",
            kind: Kind::Choice(&["shared", "pinned"]),
            default: "shared",
        },
        Param {
            name: "samples",
            about: "how many calls, each of which is a sample",
            kind: Kind::count(1, 100_000_000),
            default: "1000000",
        },
    ],
    parts: |params, _| vec![Part::times(params.number("samples"))],
    seconds: |params| params.number("samples") as f64 * 0.5e-6,
    linux: None,
    beam: None,
};
