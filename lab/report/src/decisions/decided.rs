//! Decisions as data: what was decided of each series of wake-ups.

use kizami_recording::folder::{Requirement, Series};
use kizami_recording::quantity::Quantity;
use kizami_recording::stats::{Deadline, Decision, Start};

use super::costs::Costs;
use crate::names::{INTERVAL, INTERVAL_FACT, WAKEUP};

/// The decisions of a recording, or of a study in it, about one requirement.
pub struct Decisions {
    pub requirement: Requirement,
    /// The title of the study that requires it, of whose wake-ups it is; empty for one of the whole run.
    pub study: String,
    /// In the order of the recording, which is no ranking.
    pub decided: Vec<Decided>,
}

/// A series of wake-ups, and what is decided of it.
pub struct Decided {
    pub series: Series,
    /// From one wake-up to the next, in nanoseconds.
    pub period: u64,
    /// The parameters that tell it apart from others that are decided.
    pub apart: Vec<(String, String)>,
    /// `None` of a series without samples.
    pub deadline: Option<Deadline>,
    /// `None` of a series without samples, and of an emulator's.
    pub decision: Option<Decision>,
    pub starts: Vec<Start>,
    pub costs: Costs,
    /// The one change that would help most, among what was measured in the same run.
    pub change: Option<Change>,
}

/// A change, and what comes of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    /// `policy=fifo:80`, or `environment=bwrap`.
    pub change: String,
    /// What was seen there.
    pub effect: String,
}

/// The period of a series of wake-ups, in nanoseconds. Threads of one process can have different ones.
pub fn period(series: &Series) -> Option<u64> {
    let fact = |name: &str| series.fact(name).filter(|period| *period >= 1.0).map(|period| period as u64);
    fact(&format!("{INTERVAL_FACT}_{}", series.part))
        .or_else(|| fact(INTERVAL_FACT))
        .or_else(|| series.params.get(INTERVAL).and_then(|text| Quantity::Time.parse(text).ok()))
}

/// Whether decisions are about such series.
pub fn is_wake_up(series: &Series) -> bool {
    series.workload == WAKEUP
}
