//! Fork-join, throughput: one sender and many receivers; the cost of sending without waiting for an answer.

use super::common::{SAVINA, actors, messages, whole};
use crate::spec::Workload;

pub static WORKLOAD: Workload = Workload {
    name: "fork-join",
    title: "Fork-Join, throughput: one sends to many",
    about: "A parent makes p workers and sends n messages to each, one to each in turn; a worker tells the parent when it \
            has had its n. A sample is the time from before the parent is made until it has heard from all. Mailboxes are \
            what the system has by default: where they are bounded the parent waits for room. Checked: each worker has \
            counted n.",
    reference: SAVINA,
    params: &[actors("1000"), messages("messages to each worker", "1000")],
    parts: |_, _| whole(),
    seconds: |params| params.number("p") as f64 * (params.number("n") as f64 * 0.5e-6 + 20e-6),
    linux: None,
    beam: None,
};
