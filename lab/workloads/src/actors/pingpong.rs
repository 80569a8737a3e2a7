//! Ping-pong: two actors and one message; the cost of a message and of the switch from one actor to the other.

use super::common::{SAVINA, messages, whole};
use crate::spec::Workload;

pub static WORKLOAD: Workload = Workload {
    name: "pingpong",
    title: "PingPong: two actors send a number to and fro",
    about: "Two actors send each other n, n-1, … down to 0; a sample is the time from before the two are made until \
            whoever got the 0 has said so. At any time there is one message, so one actor waits for the other: where both \
            run on one thread it is the way through a mailbox, where they do not it is also a thread's wake-up. Checked: \
            who gets the 0 has had every second of the messages.",
    reference: SAVINA,
    params: &[messages("where the count begins", "1000000")],
    parts: |_, _| whole(),
    seconds: |params| params.number("n") as f64 * 2e-6,
    linux: None,
    beam: None,
};
