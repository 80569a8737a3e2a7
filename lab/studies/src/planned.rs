//! A planned job: its trials, the groups that ask for it, and the series that it will fill.

use std::fmt;

use kizami_environments::Job;
use kizami_workloads::Part;

use crate::words::Missing;

/// A job of a plan.
#[derive(Clone)]
pub struct Planned {
    pub job: Job,
    /// The most that any group asks for.
    pub trials: usize,
    /// `study/group` of every group that asks for it.
    pub asked_by: Vec<String>,
    pub missing: Missing,
    /// The series of each trial, and their names: unique, and plain file names.
    pub parts: Vec<Part>,
    pub series: Vec<String>,
    /// About how long a trial takes.
    pub seconds: f64,
}

impl fmt::Debug for Planned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Planned").field("series", &self.series).field("trials", &self.trials).finish_non_exhaustive()
    }
}
