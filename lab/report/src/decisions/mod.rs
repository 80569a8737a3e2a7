//! Decisions: whether a periodic task would meet its deadline, in each environment and under each setting that a recording has.
//!
//! A decision is one about the wake-ups that were measured: of the same period, under the settings that were in force. The
//! time that the task itself takes has to be taken off its deadline before. What an emulator measured decides nothing, and is
//! never recommended.

mod change;
mod costs;
mod words;

use kizami_recording::folder::{Loaded, Reader, Requirement, Series};
use kizami_recording::quantity::Quantity;
use kizami_recording::stats::{Deadline, Decision, NoInterval, Samples, Start};

pub use change::Change;
pub use costs::{Cost, Costs};
pub use words::{Verdict, required};

use crate::names::{INTERVAL, INTERVAL_FACT, MODE, SKIP, WAKEUP};

/// The decisions of a recording, or of a study in it, about one requirement.
pub struct Decisions {
    pub requirement: Requirement,
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

impl Decisions {
    /// Decides about every series of wake-ups that is `chosen`, which is asked with its period.
    pub fn of(reader: &Reader, requirement: Requirement, chosen: impl Fn(&Series, u64) -> bool) -> Self {
        let all: Vec<Loaded<'_>> = reader.series().collect();
        let wake_ups = all.iter().copied().filter(|loaded| is_wake_up(loaded.series));
        let with_period = wake_ups.filter_map(|loaded| Some((loaded, period(loaded.series)?)));
        let mut decided: Vec<Decided> = with_period
            .filter(|(loaded, period)| chosen(loaded.series, *period))
            .map(|(loaded, period)| decide(loaded, period, requirement, &all))
            .collect();
        tell_apart(&mut decided);
        let changes: Vec<_> = decided.iter().map(|one| change::most_helpful(one, &decided)).collect();
        decided.iter_mut().zip(changes).for_each(|(one, change)| one.change = change);
        Self { requirement, decided }
    }
}

fn decide(loaded: Loaded<'_>, period: u64, requirement: Requirement, all: &[Loaded<'_>]) -> Decided {
    let (values, allowed) = (loaded.values(), requirement.miss);
    let deadline = Deadline::of(&*values, requirement.deadline);
    let start = |values: &dyn Samples| {
        let of_start = Deadline::of(values, requirement.deadline)?;
        Some(Start { samples: of_start.count, late: of_start.misses })
    };
    let starts: Vec<Start> = loaded.trial_values().iter().filter_map(|values| start(&**values)).collect();
    let known = deadline.as_ref().filter(|_| !loaded.series.emulated);
    let decision = known.map(|deadline| Decision::of(deadline, allowed).or_by_starts(&starts, allowed));
    let decision = match decision {
        // Those that were left out were late, too.
        Some(Decision::Meets | Decision::NotYet { .. }) if leaves_out(loaded.series, &*values, period) => {
            Some(Decision::Open { why: Some(NoInterval::Unrecorded) })
        }
        decision => decision,
    };
    Decided {
        period,
        apart: Vec::new(),
        deadline,
        decision,
        starts,
        costs: costs::of(loaded.series, all),
        change: None,
        series: loaded.series.clone(),
    }
}

/// Whether wake-ups may be missing because those before them came later than they were planned: a measurement that skips
/// periods which have passed does not take them.
fn leaves_out(series: &Series, values: &dyn Samples, period: u64) -> bool {
    let skips = series.params.get(MODE).is_some_and(|mode| mode == SKIP);
    let passed = || Deadline::of(values, period.saturating_sub(1)).is_some_and(|over| over.misses + over.possible > 0);
    skips && passed()
}

/// Gives each the parameters in which they differ, but for the period, which is told of each.
fn tell_apart(decided: &mut [Decided]) {
    let mut names: Vec<String> = decided.iter().flat_map(|one| one.series.params.keys().cloned()).collect();
    names.sort();
    names.dedup();
    names.retain(|name| {
        let mut values = decided.iter().map(|one| one.series.params.get(name));
        let first = values.next().flatten();
        name != INTERVAL && values.any(|value| value != first)
    });
    for one in decided {
        let value = |name: &String| Some((name.clone(), one.series.params.get(name)?.clone()));
        one.apart = names.iter().filter_map(value).collect();
    }
}

/// What `setting` was in force: as it was asked for, unless that was refused, and as it was found where nobody asked. `None`
/// where that is not known, or changed from start to start.
fn in_force<'s>(series: &'s Series, setting: &str) -> Option<&'s str> {
    let refused = series.refused().iter().any(|(name, ..)| *name == setting);
    if let Some(asked) = series.requested.get(setting).filter(|_| !refused) {
        return Some(asked);
    }
    let mut values = series.trials.iter().filter_map(|trial| trial.effective.get(setting)).map(|e| e.value.as_str());
    let first = values.next()?;
    values.all(|value| value == first).then_some(first)
}
