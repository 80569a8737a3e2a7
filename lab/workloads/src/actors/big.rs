//! Big: all-to-all messages, with many senders at each mailbox.

use super::common::{SAVINA, actors, whole};
use crate::spec::Workload;

pub static WORKLOAD: Workload = Workload {
    name: "big",
    title: "Big: everybody sends to everybody",
    about: "A parent makes p workers and tells each of them who the others are; each sends a message to every other and \
            tells the parent when it has had the p-1 that are sent to it. A sample is the time from before the parent is \
            made until it has heard from all. Mailboxes are unbounded: with bounded ones all could wait for room at each \
            other. Checked: each worker has counted p-1, and the sum of the senders is the right one.",
    reference: SAVINA,
    params: &[actors("1000")],
    parts: |_, _| whole(),
    seconds: |params| {
        let p = params.number("p") as f64;
        p * (p * 1e-6 + 20e-6)
    },
    linux: None,
    beam: None,
};
