//! Decisions: whether a periodic task would meet its deadline, in each environment and under each setting that a recording has.
//!
//! A decision is one about the wake-ups that were measured: of the same period, under the settings that were in force. The
//! time that the task itself takes has to be taken off its deadline before. What an emulator measured decides nothing, and is
//! never recommended.

mod change;
mod costs;
mod decided;
mod words;

use kizami_recording::folder::{Loaded, Reader, Requirement, Series};
use kizami_recording::stats::{Deadline, Decision, NoInterval, Samples, Start};

pub use costs::{Cost, Costs};
pub use decided::{Change, Decided, Decisions, is_wake_up, period};
pub use words::{Verdict, required};

use crate::names::{INTERVAL, MODE, SKIP};

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
        Self { requirement, study: String::new(), decided }
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
