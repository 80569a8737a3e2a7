//! The one change that would help most: a series of the same run that differs in one setting, or in its environment, and does
//! better.
//!
//! It is a fact of two measured series, and not advice: that the other one meets the deadline is its own decision. That fewer
//! are late in it is a difference, which one start a side does not support.

use kizami_recording::stats::Decision;
use kizami_recording::stats::compare::ENOUGH_TRIALS;

use super::decided::{Change, Decided};
use super::words::{least, most};
use crate::names::{LOAD, TOOLS};
use crate::settings;

/// The change with which the least are late, as far as the samples tell; one that meets the deadline before all others.
pub(super) fn most_helpful(one: &Decided, all: &[Decided]) -> Option<Change> {
    // Where more samples would tell, they are what helps.
    if !matches!(one.decision, Some(Decision::DoesNot | Decision::Open { .. })) {
        return None;
    }
    let helpful = all.iter().filter_map(|other| {
        let meets = other.decision == Some(Decision::Meets);
        let effect = if meets { "meets it".to_owned() } else { fewer(one, other)? };
        Some((!meets, highest(other)?, Change { change: differs(one, other)?, effect }))
    });
    helpful.min_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1))).map(|(.., change)| change)
}

/// The share that is late at most.
fn highest(one: &Decided) -> Option<f64> {
    Some(one.deadline.as_ref()?.interval.ok()?.high)
}

/// That fewer are late in `other`: where the intervals do not touch, and each of enough starts was late less often than any here.
fn fewer(one: &Decided, other: &Decided) -> Option<String> {
    other.decision?;
    let here = one.deadline.as_ref()?.interval.ok()?.low;
    let there = highest(other)?;
    // Starts differ from each other in ways that no interval of their samples shows: all of one side have to be better.
    let shares = |decided: &Decided| -> Vec<f64> {
        decided.starts.iter().map(|start| start.late as f64 / start.samples.max(1) as f64).collect()
    };
    let (mine, theirs) = (shares(one), shares(other));
    let enough = mine.len() >= ENOUGH_TRIALS && theirs.len() >= ENOUGH_TRIALS;
    let least_here = mine.iter().copied().fold(f64::INFINITY, f64::min);
    let supported = there < here && enough && theirs.iter().all(|share| *share < least_here);
    supported.then(|| format!("fewer are late: at most {}, and here at least {}", most(there), least(here)))
}

/// The one thing in which `other` differs, if whoever builds a system can change it.
fn differs(one: &Decided, other: &Decided) -> Option<String> {
    let (mine, theirs) = (&one.series, &other.series);
    let is_tool = |environment: &str| TOOLS.contains(&environment);
    if mine.environment != theirs.environment && (is_tool(&mine.environment) || is_tool(&theirs.environment)) {
        return None;
    }
    if one.period != other.period || mine.params != theirs.params || mine.part != theirs.part {
        return None;
    }
    let mut names: Vec<&String> = mine.requested.keys().chain(theirs.requested.keys()).collect();
    names.sort();
    names.dedup();
    let differing = names.into_iter().filter(|name| settings::one(mine, name) != settings::one(theirs, name));
    let settings = differing.map(|name| (name.as_str(), settings::one(theirs, name)));
    let environment = Some(("environment", Some(theirs.environment.as_str())));
    let environment = environment.filter(|_| mine.environment != theirs.environment);
    let all: Vec<(&str, Option<&str>)> = environment.into_iter().chain(settings).collect();
    match all[..] {
        // Less load is no change that whoever builds a system can make.
        [(name, _)] if name == LOAD => None,
        [(name, Some(value))] => Some(format!("{name}={value}")),
        [(name, None)] => Some(format!("{name} left as it is")),
        _ => None,
    }
}
