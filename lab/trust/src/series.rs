//! Statements about one series: intervals, deadlines and extrapolated maxima, of many series of a kind and a size.

use std::path::Path;

use serde_json::Value;

use crate::cells::{Cell, STATEMENTS};
use crate::kinds::{Kind, Random};
use crate::product::{Product, record};

/// Series of one recording. A recording is written anew with each of its trials, so they are not too many.
const TOGETHER: usize = 50;

/// The cells of one kind and size, in the order of [`STATEMENTS`].
pub type Row = [Cell; STATEMENTS.len()];

/// Judges `repeats` series of `n` samples.
///
/// # Errors
/// What the command did not do.
pub fn judge(product: &Product, kind: &Kind, n: usize, repeats: u64, seed: u64, folder: &Path) -> Result<Row, String> {
    let mut row = Row::default();
    let truth = &kind.truth;
    let deadlines = [truth.quantile(0.99), truth.quantile((1.0 - 1.0 / n as f64).min(0.9999))];
    for first in (0..repeats).step_by(TOGETHER) {
        let seeds = first..repeats.min(first + TOGETHER as u64);
        let all: Vec<_> =
            seeds.map(|repeat| vec![(kind.make)(&mut Random::new(seed.wrapping_add(repeat)), n)]).collect();
        let recording = tempfile::tempdir_in(folder).map_err(|e| e.to_string())?;
        let path = recording.path().join("r");
        record(&path, &all)?;
        for (index, deadline) in deadlines.into_iter().enumerate() {
            let said = product.show(&path, deadline)?;
            if said.len() != all.len() {
                return Err(format!("kizami show told of {} of {} series", said.len(), all.len()));
            }
            for series in &said {
                row[3 + index].count(interval(&series["deadline"]["interval"], truth.misses(deadline)));
                if index == 0 {
                    of_series(series, kind, &mut row);
                }
            }
        }
    }
    Ok(row)
}

fn of_series(said: &Value, kind: &Kind, row: &mut Row) {
    let truth = &kind.truth;
    let summary = &said["summary"];
    let quantile = |share| truth.quantile(share) as f64;
    row[0].count(interval(&summary["mean_interval"], (truth.mean)()));
    row[1].count(interval(&summary["median_interval"], quantile(0.5)));
    row[2].count(interval(&summary["p99_interval"], quantile(0.99)));
    for level in 0..2 {
        let said = &said["extreme"]["levels"][level];
        match kind.maximum {
            Some(expected) => {
                let truth = said["samples"].as_f64().map_or(0.0, expected);
                row[5 + level].count(interval(&said["interval"], truth));
            }
            None if kind.heavy => row[5 + level].count(said["interval"].is_object().then_some(false)),
            None => {}
        }
    }
}

/// Whether an interval holds the truth; `None` if it was refused.
fn interval(said: &Value, truth: f64) -> Option<bool> {
    let low = said["low"].as_f64()?;
    // JSON has no infinity.
    let high = said["high"].as_f64().unwrap_or(f64::INFINITY);
    Some(low <= truth && truth <= high)
}
