//! The settings of the machine in a run: changed through the guard, read back, and where a file may not be what is in force,
//! measured.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use kizami_environments::Job;
use kizami_recording::folder::Effective;
use kizami_settings::{Guard, Policy, Root};

use crate::doctor::{self, Stops};

const RT_RUNTIME: &str = "rt_runtime";

/// See the module.
pub struct MachineSettings<'a> {
    root: &'a Root,
    guard: &'a mut Guard,
    /// What a busy real-time thread met, by what the file of `rt_runtime` said then.
    throttling: BTreeMap<String, Result<Stops, String>>,
}

impl<'a> MachineSettings<'a> {
    pub fn new(root: &'a Root, guard: &'a mut Guard) -> Self {
        Self { root, guard, throttling: BTreeMap::new() }
    }

    /// Changes what `job` asks for; gives what is in force. `stop` ends a measurement early.
    pub fn change(&mut self, job: &Job, stop: &AtomicBool) -> Vec<(String, Effective)> {
        let settings = job.of_machine();
        let asked = settings.get(RT_RUNTIME).is_some();
        let policy = job.settings.get("policy").map(Policy::parse);
        let real_time = matches!(policy, Some(Ok(Policy::Fifo(_) | Policy::Rr(_))));
        let mut effective = self.guard.change(&settings);
        for (_, read) in effective.iter_mut().filter(|(name, _)| name == RT_RUNTIME) {
            // Two seconds or more, where somebody relies on what the file says.
            if (asked && read.as_requested) || (real_time && read.value == "off") {
                let root = self.root;
                let met = self.throttling.entry(read.value.clone());
                let met = met.or_insert_with(|| doctor::measure_throttling(root, stop));
                *read = doctor::in_force(read.clone(), asked, met, root);
            }
        }
        effective
    }

    /// The control groups that the work has to join for what was asked for to hold.
    pub fn cgroups(&self) -> &[PathBuf] {
        self.guard.cgroups()
    }
}
