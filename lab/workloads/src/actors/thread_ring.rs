//! Thread ring: actors in a ring pass one message on. As ping-pong, with more actors than fit the caches and the
//! threads.

use super::common::{SAVINA, actors, messages, whole};
use crate::spec::Workload;

pub static WORKLOAD: Workload = Workload {
    name: "thread-ring",
    title: "Thread Ring: a counter goes round",
    about: "A parent makes p actors, each of which knows the next, and a starter, which gives the first one the number n; \
            each passes it on less one, and who gets the 0 tells the parent. A sample is the time from before the parent \
            is made until it has heard. The parent is linked to all of them, or supervises them, where the system has \
            that. Checked: the 0 arrives where n modulo p says.",
    reference: SAVINA,
    params: &[actors("1000"), messages("how often the counter is passed on", "1000000")],
    parts: |_, _| whole(),
    seconds: |params| params.number("n") as f64 * 2e-6 + params.number("p") as f64 * 20e-6,
    linux: None,
    beam: None,
};
