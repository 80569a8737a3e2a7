//! What other tools measure and no workload here does: descriptions for the reports of imported samples. No environment runs
//! them.

use crate::spec::Workload;

/// A description; whoever measured it knows the rest.
const fn measured(name: &'static str, title: &'static str, about: &'static str, reference: &'static str) -> Workload {
    Workload {
        name,
        title,
        about,
        reference,
        params: &[],
        parts: |_, _| Vec::new(),
        seconds: |_| 0.0,
        linux: None,
        beam: None,
    }
}

static ALL: [Workload; 5] = [
    measured(
        "run-time",
        "run time of a command",
        "A command is started and waited for; a sample is the time from its start to its end.",
        "hyperfine",
    ),
    measured(
        "io-latency",
        "latency of input and output",
        "A sample is the time from the submission of one request to its completion, as fio counts it.",
        "fio",
    ),
    measured(
        "busy-loop",
        "iterations of a busy loop",
        "A thread reads the clock without a pause; a sample is the time of one iteration, so the long ones are what took the \
         processor away from it.",
        "oslat",
    ),
    measured(
        "timerlat",
        "latency of a timer in the kernel",
        "A sample is the time from the planned end of a timer to its interrupt, to the thread that it wakes, or to user space.",
        "rtla timerlat",
    ),
    measured(
        "noise",
        "noise of the operating system",
        "A thread looks for what takes its processor away; a sample is one such time.",
        "rtla osnoise",
    ),
];

/// The description named `name`.
pub fn find(name: &str) -> Option<&'static Workload> {
    ALL.iter().find(|workload| workload.name == name)
}
