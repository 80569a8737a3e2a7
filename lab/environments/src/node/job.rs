//! What the probe of a board is told, and the clock that its times are of.

use kizami_workloads::Kind;

use crate::environment::Job;

/// What counts the time.
pub(super) const CLOCK: &str = "icount";
pub(super) const PROFILE: &str = "profile";
/// Each instruction takes 2^5 = 32 ns: 31 million a second, where the study's ARM7TDMI ran at 55 MHz.
const SHIFT: u32 = 5;

/// The caches of its kernel that processes, pipes and files move, sorted. What others take is told together.
pub(super) const CACHES: [&str; 20] = [
    "cred_jar",
    "dentry",
    "files_cache",
    "inode_cache",
    "kmalloc-128",
    "kmalloc-192",
    "kmalloc-1k",
    "kmalloc-256",
    "kmalloc-4k",
    "kmalloc-512",
    "kmalloc-64",
    "kmalloc-96",
    "maple_node",
    "others",
    "pid",
    "radix_tree_node",
    "sighand_cache",
    "signal_cache",
    "task_struct",
    "vm_region",
];

/// The settings of a wire to a second board.
pub(super) const WIRE: &str = "wire";
pub(super) const WIRE_DELAY: &str = "wire_delay";

/// Which of two boards at the ends of a wire it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Own,
    Other,
}

/// How long an instruction takes: 2 to that power, in nanoseconds. `None` where it takes what it takes.
pub(super) fn shift(job: &Job) -> Option<u32> {
    match job.settings.get(CLOCK) {
        None => Some(SHIFT),
        Some(shift) => shift.parse().ok(),
    }
}

/// What the probe is told: a word a line, numbers as such.
pub(super) fn words(job: &Job, trial: usize, (memory, flash): (u32, usize), wire: Option<Side>) -> String {
    let mut text = format!("workload={}\ntrial={trial}\n", job.workload().name);
    for load in &job.loads {
        text.push_str(&format!("load={}\n", load.name));
    }
    if let Some(side) = wire {
        text.push_str(if side == Side::Own { "wire=own\n" } else { "wire=other\n" });
    }
    if job.settings.get(PROFILE) == Some("on") {
        text.push_str("profile=on\n");
        if let Some(shift) = shift(job) {
            text.push_str(&format!("instruction_ns={}\n", 1u64 << shift));
        }
    }
    text.push_str(&format!("caches={}\nmemory={memory}\nflash={flash}\n", CACHES.join(",")));
    for param in job.workload().params {
        match param.kind {
            Kind::Number { .. } => text.push_str(&format!("{}={}\n", param.name, job.params.number(param.name))),
            Kind::Choice(_) => text.push_str(&format!("{}={}\n", param.name, job.params.choice(param.name))),
        }
    }
    text
}
