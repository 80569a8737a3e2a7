//! Settings of a process: applied by the process itself, given to a child before its program starts, or read from
//! outside.
//!
//! All five (`policy`, `nice`, `affinity`, `lock_memory`, `timer_slack`) are always read back and reported, also when
//! none was requested: the series is labelled with the settings that were in force.

mod child;
mod observe;
mod rights;

use std::io;

use kizami_recording::folder::Effective;

use crate::settings::Settings;
use crate::syscalls;

pub use child::InChild;
pub use observe::{read_of, read_of_workers};
pub use rights::Rights;

/// Applies what `settings` ask of a process to the calling one, and reads all of it back.
///
/// To be called before threads are started: they inherit everything except locked memory, which is the process's.
pub fn apply(settings: &Settings) -> Vec<(String, Effective)> {
    rights::raise_limits();
    let mut refused = Vec::new();
    let mut tried = |name: &'static str, result: Option<io::Result<()>>| {
        if let Some(Err(error)) = result {
            refused.push((name, error));
        }
    };
    // Memory before policy, because populating it takes long and should not be done at real-time priority; affinity
    // before policy, because the kernel admits a deadline only for the processors that it may run on.
    let cpus = settings.affinity().map(|cpus| syscalls::cpu_set(&cpus));
    tried("affinity", cpus.map(|set| syscalls::set_affinity(&set)));
    tried("lock_memory", settings.lock_memory().map(rights::lock_memory));
    tried("timer_slack", settings.timer_slack().map(syscalls::set_timer_slack));
    tried("nice", settings.nice().map(syscalls::set_nice));
    tried(
        "policy",
        settings.policy().map(|policy| syscalls::set_attributes(&syscalls::attributes(policy, settings.nice()))),
    );
    observe::report(settings, &[observe::own()], &refused)
}
