//! Comparison of one statistic of two series.
//!
//! The statistic is taken of every trial, and what is compared are these figures, as
//! [`stats::compare`](kizami_recording::stats::compare) defines it: with fewer than five fresh starts a side there is a ratio, but
//! nothing that supports it.

use kizami_recording::folder::Loaded;
use kizami_recording::stats::{Comparison, Options, Samples, Summary, compare_figures};

use crate::counted;
use crate::words::Statistic;

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
        if statistic.is_counted() {
            let nothing = || format!("nothing was counted in {}", side.series.name);
            return counted::of_trials(statistic, side).ok_or_else(nothing);
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
