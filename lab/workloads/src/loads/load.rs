//! The definition of a background load, and the bench that it runs on.

use std::fmt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::bench::Failure;
use crate::os::cpus;

/// The stop flag, the counter and the folder that a running load works with.
#[derive(Debug, Clone, Copy)]
pub struct LoadBench<'a> {
    /// Raised when the load should end.
    pub stop: &'a AtomicBool,
    /// The number of operations done so far. [`Load::about`] defines the operation.
    pub work: &'a AtomicU64,
    /// A folder for files of the load's own.
    pub scratch: &'a Path,
}

impl LoadBench<'_> {
    pub(super) fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    pub(super) fn did(&self, operations: u64) {
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

/// The processors that this thread may use, at least one.
pub(super) fn allowed_cpus() -> Result<Vec<usize>, Failure> {
    let cpus = cpus::allowed().map_err(Failure::os("learn which processors may be used"))?;
    if cpus.is_empty() { Err(Failure::Impossible("no processor may be used".into())) } else { Ok(cpus) }
}
