//! Comparison of one statistic of two series.
//!
//! The statistic is taken of every trial, and what is compared are these figures, as
//! [`stats::compare`](kizami_recording::stats::compare) defines it: with fewer than five fresh starts a side there is a ratio, but
//! nothing that supports it.

use kizami_recording::folder::Loaded;
use kizami_recording::stats::{Comparison, Options, Samples, Summary, compare_figures};

use crate::loss;
use crate::words::Statistic;

/// The share that was lost: the median of the trials.
pub(crate) fn loss_of(loaded: Loaded<'_>) -> Option<f64> {
    let mut shares = loss::of_trials(loaded)?;
    shares.sort_by(f64::total_cmp);
    shares.get(shares.len() / 2).copied()
}

/// Compares that statistic of two series, with an interval of that confidence.
///
/// # Errors
/// Why there is nothing to compare.
pub(crate) fn compared(
    statistic: Statistic,
    a: Loaded<'_>,
    b: Loaded<'_>,
    options: &Options,
    confidence: f64,
) -> Result<Comparison, String> {
    let figures = |side: Loaded<'_>| -> Result<Vec<f64>, String> {
        if statistic == Statistic::Loss {
            return loss::of_trials(side).ok_or_else(|| format!("nothing was sent in {}", side.series.name));
        }
        side.trial_values().iter().map(|trial| figure(statistic, &**trial, options)).collect()
    };
    compare_figures(&figures(a)?, &figures(b)?, a.design_with(&b), confidence).map_err(|why| why.to_string())
}

/// The statistic of one trial.
fn figure(statistic: Statistic, trial: &dyn Samples, options: &Options) -> Result<f64, String> {
    let missing = trial.unrecorded();
    if missing.lost > 0 {
        return Err(format!("a trial has lost {} samples for want of room", missing.lost));
    }
    let summary = Summary::of(trial, options).ok_or("a trial has no samples")?;
    let figure = statistic.of(&summary).ok_or_else(|| format!("a trial has too few samples for the {statistic}"))?;
    let beyond = || format!("the {statistic} of a trial lies among samples that are only known to be beyond a limit");
    figure.exactly().ok_or_else(beyond)
}
