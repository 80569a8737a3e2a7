//! Figures of a trial that are no statistic of its samples: the share of datagrams that did not arrive, from two columns of the
//! series, and the flushes of the host's disk for each sync, from what was counted beside it.

use kizami_recording::folder::{Column, HOST_FLUSHES, Loaded};
use kizami_recording::stats::Samples;

use crate::words::Statistic;

/// Whether series with such columns can have that figure.
pub(crate) fn can_have(statistic: Statistic, columns: &[Column]) -> bool {
    let has = |name: &&str| columns.iter().any(|c| c.name == *name);
    match statistic {
        Statistic::Loss => ["sent", "lost"].iter().all(has),
        _ => true,
    }
}

/// The figure in each trial that has one. `None` where nothing of the kind is counted.
pub fn of_trials(statistic: Statistic, loaded: Loaded<'_>) -> Option<Vec<f64>> {
    match statistic {
        Statistic::Loss => losses(loaded),
        Statistic::Flushes => flushes(loaded),
        _ => None,
    }
}

/// The median of the trials.
pub(crate) fn of(statistic: Statistic, loaded: Loaded<'_>) -> Option<f64> {
    let mut figures = of_trials(statistic, loaded)?;
    figures.sort_by(f64::total_cmp);
    figures.get(figures.len() / 2).copied()
}

/// The share that was lost, 0 to 1; a trial that sent nothing is left out.
fn losses(loaded: Loaded<'_>) -> Option<Vec<f64>> {
    let (sent, lost) = (loaded.series.column("sent")?, loaded.series.column("lost")?);
    let pairs = sums(loaded, lost).into_iter().zip(sums(loaded, sent));
    Some(pairs.filter(|(_, sent)| *sent > 0.0).map(|(lost, sent)| lost / sent).collect())
}

/// Each sample has ended with a sync.
fn flushes(loaded: Loaded<'_>) -> Option<Vec<f64>> {
    let trials = loaded.series.trials.iter().filter(|trial| trial.rows > 0);
    let each: Vec<f64> = trials.filter_map(|trial| Some(trial.facts.get(HOST_FLUSHES)? / trial.rows as f64)).collect();
    (!each.is_empty()).then_some(each)
}

/// The sum of a column in each trial.
fn sums(loaded: Loaded<'_>, column: usize) -> Vec<f64> {
    let sum = |view: &dyn Samples| {
        let mut sum = 0u128;
        view.visit(0, view.len(), &mut |piece| sum += piece.iter().map(|&cell| u128::from(cell)).sum::<u128>());
        sum as f64
    };
    loaded.trials_of(column).iter().map(|view| sum(view)).collect()
}
