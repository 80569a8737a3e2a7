//! Fork-join, creation: the time to create actors, and the memory of each.

use kizami_recording::folder::{Column, Unit};

use super::common::{SAVINA, actors};
use crate::spec::{Part, Workload};

pub static WORKLOAD: Workload = Workload {
    name: "fork-join-create",
    title: "Fork-Join, creation: actors are made",
    about: "A parent makes p actors, each of which tells it that it has started. A sample is the time from before the \
            parent is made until it has heard from all. The part memory is what each of them weighs: how much more \
            memory of the process is resident while all live than before the first was made, divided by p; it includes what \
            the allocator holds back and what the runtime keeps for them. Checked: p actors have started, each once.",
    reference: SAVINA,
    params: &[actors("100000")],
    parts: |_, _| {
        let memory = Part { columns: vec![Column::new("memory", Unit::Bytes)], ..Part::times(1).cold(0) };
        vec![Part::times(1).cold(0), memory.named("memory")]
    },
    seconds: |params| params.number("p") as f64 * 5e-6,
    linux: None,
    beam: None,
};
