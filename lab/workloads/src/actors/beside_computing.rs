//! Wake-up latency of a process while others compute: whether long native work gives its scheduler back in time.

use crate::spec::{Kind, Param, Part, Workload};

pub static WORKLOAD: Workload = Workload {
    name: "beside-computing",
    title: "beside computing: a process that wakes up every millisecond, while others compute",
    about: "As many actors as are said compute without an end. Another one is woken every period_us microseconds; a sample \
            is how much later than due it runs. In OTP it waits for a timer of the kernel in the VM's poll set, and those \
            who compute are native code that asks in its loop whether its slice is over, and yields then; tasks of tokio \
            do the same with tokio's timer. Threads sleep and compute, and the kernel takes turns with them: what comes to \
            them on this machine, nobody on it is spared.",
    reference: "",
    params: &[
        Param { name: "wakeups", about: "how often", kind: Kind::count(1, 100_000_000), default: "10000" },
        Param {
            name: "period_us",
            about: "microseconds between them",
            kind: Kind::count(50, 1_000_000),
            default: "1000",
        },
        Param { name: "computing", about: "actors that compute", kind: Kind::count(0, 1000), default: "2" },
    ],
    parts: |params, _| vec![Part::times(params.number("wakeups"))],
    seconds: |params| params.number("wakeups") as f64 * params.number("period_us") as f64 * 1e-6,
    linux: None,
    beam: None,
};
