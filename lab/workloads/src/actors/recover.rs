//! Recovery: the time from the failure of an actor until its replacement answers.

use crate::spec::{Kind, Param, Part, Workload};

pub static WORKLOAD: Workload = Workload {
    name: "recover",
    title: "recover: from a panic until the replacement answers",
    about: "An actor is told to panic (in Erlang: to end with an error), by the means of the system its replacement is \
            started, and it is asked until it answers; a sample is the time from before the message that kills until the \
            first answer of the replacement. What replaces it is the system's own supervision where there is one that \
            survives a panic. Reports of the crash are switched off. Checked: each answer is of the next incarnation.",
    reference: "",
    params: &[Param { name: "crashes", about: "how often", kind: Kind::count(1, 1_000_000), default: "200" }],
    parts: |params, _| vec![Part::times(params.number("crashes"))],
    seconds: |params| params.number("crashes") as f64 * 200e-6,
    linux: None,
    beam: None,
};
