//! The loss of datagrams: the share that did not arrive, from two columns of a series. The summary of a single column
//! does not have it.

use kizami_recording::folder::{Column, Loaded};
use kizami_recording::stats::Samples;

/// Whether series with such columns count what was lost.
pub(crate) fn is_counted(columns: &[Column]) -> bool {
    ["sent", "lost"].iter().all(|name| columns.iter().any(|c| c.name == *name))
}

/// The share that was lost in each trial, 0 to 1; a trial that sent nothing is left out. `None` where nothing is counted.
pub fn of_trials(loaded: Loaded<'_>) -> Option<Vec<f64>> {
    let (sent, lost) = (loaded.series.column("sent")?, loaded.series.column("lost")?);
    let pairs = sums(loaded, lost).into_iter().zip(sums(loaded, sent));
    Some(pairs.filter(|(_, sent)| *sent > 0.0).map(|(lost, sent)| lost / sent).collect())
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
