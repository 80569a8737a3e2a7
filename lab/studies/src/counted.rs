//! Figures of a trial that are no statistic of its samples: the share of datagrams that did not arrive and the memory of a task, from two
//! columns of the series, and from what was counted beside it the flushes of the host's disk for each sync, and how much of the time was
//! found in functions.

use kizami_recording::folder::{Column, HOST_FLUSHES, Loaded};
use kizami_recording::stats::Samples;

use crate::words::Statistic;

/// Whether series with such columns can have that figure.
pub(crate) fn can_have(statistic: Statistic, columns: &[Column]) -> bool {
    let has = |name: &&str| columns.iter().any(|c| c.name == *name);
    match statistic {
        Statistic::Loss => ["sent", "lost"].iter().all(has),
        Statistic::PerTask => ["free", "groups"].iter().all(has),
        _ => true,
    }
}

/// The figure in each trial that has one. `None` where nothing of the kind is counted.
pub fn of_trials(statistic: Statistic, loaded: Loaded<'_>) -> Option<Vec<f64>> {
    match statistic {
        Statistic::Loss => losses(loaded),
        Statistic::Flushes => flushes(loaded),
        Statistic::PerTask => per_task(loaded),
        Statistic::Accounted => accounted(loaded).map(|share| vec![share]),
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

/// What was free before the first group, less the least while the most groups ran, for each of their tasks.
fn per_task(loaded: Loaded<'_>) -> Option<Vec<f64>> {
    let number = |name: &str| loaded.series.params.get(name)?.parse::<f64>().ok();
    let tasks = number("senders")? + number("receivers")?;
    let (free, groups) = (loaded.series.column("free")?, loaded.series.column("groups")?);
    let of_trial = |(free, groups): (&dyn Samples, &dyn Samples)| {
        let (free, groups) = (cells(free), cells(groups));
        let most = *groups.iter().max().filter(|most| **most > 0)?;
        let least = free.iter().zip(&groups).filter(|(_, groups)| **groups == most).map(|(free, _)| *free).min()?;
        Some(free.first()?.saturating_sub(least) as f64 / (most as f64 * tasks))
    };
    let (free, groups) = (loaded.trials_of(free), loaded.trials_of(groups));
    let each: Vec<f64> = free.iter().zip(&groups).filter_map(|(free, groups)| of_trial((free, groups))).collect();
    (!each.is_empty()).then_some(each)
}

/// All instructions of a profile as time, of the time that the clock says.
fn accounted(loaded: Loaded<'_>) -> Option<f64> {
    let (trial, profile) = loaded.profile()?.ok()?;
    let fact = |name: &str| trial.facts.get(name).copied().filter(|value| *value > 0.0);
    Some(profile.total() as f64 * fact("instruction_ns")? / fact("profiled_ns")?)
}

fn cells(view: &dyn Samples) -> Vec<u64> {
    let mut cells = Vec::with_capacity(view.len() as usize);
    view.visit(0, view.len(), &mut |piece| cells.extend_from_slice(piece));
    cells
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
