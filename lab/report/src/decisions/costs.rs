//! What an environment costs: how long it takes to start, and its memory, as the same run measured them.
//!
//! A cost stands beside a decision only if it is of the same place: of the same environment under the same settings of the
//! machine, the container or the VM. What a process asks for itself, such as its policy, does not make another place.

use kizami_recording::folder::{Loaded, Series, Unit};
use kizami_recording::stats::{Known, Options, Summary};
use kizami_settings::Scope;
use serde::Serialize;

use crate::names::{BOOT, BOOT_TOTAL, FOOTPRINT, FOOTPRINT_DISK, FOOTPRINT_GUEST, FOOTPRINT_HOST, LOAD};
use crate::settings;

/// What is known of it; nothing of what the run did not measure.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Costs {
    /// From the start of whatever starts it to the first instruction of the probe, in nanoseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub boot: Option<Cost>,
    /// Memory of all processes on the host that serve it, in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<Cost>,
    /// Memory in use as the environment sees it, in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub guest_memory: Option<Cost>,
    /// What has to be on disk, in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disk: Option<Cost>,
}

/// The median over starts.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Cost {
    /// The series that measured it.
    pub series: String,
    pub median: f64,
    pub starts: u64,
}

/// What the place of `series` costs, among all series of its run.
pub(super) fn of(series: &Series, all: &[Loaded<'_>]) -> Costs {
    let boot = nearest(series, BOOT, all);
    let footprint = nearest(series, FOOTPRINT, all);
    let memory = |column| footprint.and_then(|of| cost(of, column, Unit::Bytes));
    Costs {
        boot: boot.and_then(|of| cost(of, BOOT_TOTAL, Unit::Nanoseconds)),
        memory: memory(FOOTPRINT_HOST),
        guest_memory: memory(FOOTPRINT_GUEST),
        disk: memory(FOOTPRINT_DISK),
    }
}

/// The series of `workload` in the same place as `series`; of several the one that was asked for most alike.
fn nearest<'a>(series: &Series, workload: &str, all: &[Loaded<'a>]) -> Option<Loaded<'a>> {
    let same = all.iter().filter(|other| other.series.workload == workload && is_same_place(series, other.series));
    // Of those alike the first.
    same.min_by_key(|other| unlike(series, other.series, |_| true)).copied()
}

fn is_same_place(a: &Series, b: &Series) -> bool {
    let is_of_place = |name: &str| match kizami_settings::find(name) {
        Some(setting) => setting.scope != Scope::Process,
        None => name != LOAD,
    };
    // What starts under a load says nothing of one without.
    let loaded = b.requested.contains_key(LOAD) && settings::one(a, LOAD) != settings::one(b, LOAD);
    a.environment == b.environment && a.emulated == b.emulated && !loaded && unlike(a, b, is_of_place) == 0
}

/// How many of the settings that either was asked for, and that `counts` takes, were not the same in force.
fn unlike(a: &Series, b: &Series, counts: impl Fn(&str) -> bool) -> usize {
    let mut names: Vec<&String> = a.requested.keys().chain(b.requested.keys()).collect();
    names.sort();
    names.dedup();
    names.into_iter().filter(|name| counts(name) && settings::one(a, name) != settings::one(b, name)).count()
}

fn cost(loaded: Loaded<'_>, column: &str, unit: Unit) -> Option<Cost> {
    let index = loaded.series.column(column).filter(|index| loaded.series.columns[*index].unit == unit)?;
    let summary = Summary::of(&loaded.column(index), &Options::default())?;
    let median = Known::exactly(summary.median)?;
    Some(Cost { series: loaded.series.name.clone(), median, starts: summary.count })
}
