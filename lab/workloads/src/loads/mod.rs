//! Background loads: work that stands beside a measurement and is not measured itself.
//!
//! What holds for every load: it runs until the stop flag is raised and returns within about 100 ms of that; it counts
//! its work, so that whoever started it can tell that it really ran; its processes die with it; and it leaves no file
//! behind. It returns early only with a [`Failure`].

use std::fmt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::bench::Failure;
use crate::linux::cpus;

mod cpu;
mod disk;
mod memory;
mod network;
mod scheduler;

/// What a load is given.
#[derive(Debug, Clone, Copy)]
pub struct LoadBench<'a> {
    /// Raised when the load should end.
    pub stop: &'a AtomicBool,
    /// How many operations were done so far; what one is, [`Load::about`] says.
    pub work: &'a AtomicU64,
    /// A folder for files of the load's own.
    pub scratch: &'a Path,
}

impl LoadBench<'_> {
    fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    fn did(&self, operations: u64) {
        self.work.fetch_add(operations, Ordering::Relaxed);
    }
}

/// A background load.
pub struct Load {
    /// The name in studies and on the command line.
    pub name: &'static str,
    /// What it does, and what one operation is.
    pub about: &'static str,
    /// Runs it until it is stopped.
    pub run: fn(&LoadBench<'_>) -> Result<(), Failure>,
}

impl fmt::Debug for Load {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Load").field(&self.name).finish()
    }
}

/// Every load, in the order in which they are listed to users.
pub static ALL: &[&Load] = &[&cpu::LOAD, &memory::LOAD, &network::LOAD, &disk::LOAD, &scheduler::LOAD];

/// The load named `name`.
pub fn find(name: &str) -> Option<&'static Load> {
    ALL.iter().copied().find(|load| load.name == name)
}

/// The processors that this thread may use, at least one.
fn allowed_cpus() -> Result<Vec<usize>, Failure> {
    let cpus = cpus::allowed().map_err(Failure::os("learn which processors may be used"))?;
    if cpus.is_empty() { Err(Failure::Impossible("no processor may be used".into())) } else { Ok(cpus) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn names_are_unique_and_found() {
        let names: BTreeSet<_> = ALL.iter().map(|load| load.name).collect();
        assert_eq!(names.len(), ALL.len());
        assert!(ALL.iter().all(|load| find(load.name).is_some_and(|found| found.name == load.name)));
        assert!(find("nothing").is_none());
    }
}
