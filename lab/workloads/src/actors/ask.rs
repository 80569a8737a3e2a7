//! Request and reply under load: the latency that one client of a server sees while other clients ask too.

use crate::spec::{Kind, Param, Part, Workload};

pub static WORKLOAD: Workload = Workload {
    name: "ask",
    title: "ask: a request and its reply, while others ask too",
    about: "A client asks a server, waits for the reply and asks again; a sample is the time of one round trip, as the \
            client takes it. Meanwhile `others` clients do the same without taking the time. What is asked is the system's \
            own call (ask, call, gen_server:call); the server answers at once. Checked: each reply is the request plus \
            one.",
    reference: "",
    params: &[
        Param { name: "asks", about: "round trips", kind: Kind::count(1, 100_000_000), default: "100000" },
        Param { name: "others", about: "clients beside the one that is timed", kind: Kind::count(0, 100_000), default: "8" },
    ],
    parts: |params, _| vec![Part::times(params.number("asks"))],
    seconds: |params| params.number("asks") as f64 * (params.number("others") + 1) as f64 * 2e-6,
    linux: None,
    beam: None,
};
