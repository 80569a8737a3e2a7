//! What a series measured: a time, or a throughput that follows from its columns.
//!
//! A sample is always what was taken. Some are a step on the way: a transfer's row has a time and the bytes that went
//! through, and what is shown and compared is bits per second. That is decided here, once, for tables, figures, claims
//! and comparisons alike.

use crate::quantity::Quantity;
use crate::stats::{Design, Samples};

use super::model::{Outcome, Series, Unit};
use super::read::Loaded;

/// What the values of a series are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Measured {
    /// Nanoseconds, or another unit that is counted for so many operations in each sample.
    Time { operations: u64 },
    /// Bits per second: what arrived, over the time that it took.
    Throughput,
    /// Counts over time, such as the memory while something else is measured: no distribution.
    Watched,
}

impl Series {
    /// What its values are.
    pub fn measured(&self) -> Measured {
        if self.columns.first().is_some_and(|c| c.name == "when") {
            Measured::Watched
        } else if self.column("bytes").is_some() || self.column("received").is_some() {
            Measured::Throughput
        } else {
            Measured::Time { operations: self.operations }
        }
    }

    /// The unit of its values.
    pub fn unit(&self) -> Unit {
        match self.measured() {
            Measured::Throughput => Unit::BitsPerSecond,
            _ => self.columns.first().map_or(Unit::Count, |c| c.unit),
        }
    }

    /// How many operations one of its values is of.
    pub fn operations_of_one(&self) -> f64 {
        match self.measured() {
            Measured::Time { operations } => operations as f64,
            _ => 1.0,
        }
    }
}

impl<'a> Loaded<'a> {
    /// The values of all trials, for summaries and figures: times as they were taken, or a throughput a row.
    pub fn values(&self) -> Box<dyn Samples + 'a> {
        match self.series.measured() {
            Measured::Throughput => {
                let rates: Vec<u64> = self.transfers().iter().flat_map(|t| t.iter().map(|row| row.rate())).collect();
                Box::new(rates)
            }
            _ => Box::new(self.samples()),
        }
    }

    /// The values of each trial by itself, for comparisons. A throughput has one a trial, that of the whole transfer,
    /// because rows of different lengths are not comparable.
    pub fn trial_values(&self) -> Vec<Box<dyn Samples + 'a>> {
        match self.series.measured() {
            Measured::Throughput => {
                let whole = |rows: &Vec<Transfer>| {
                    let sum = |of: fn(&Transfer) -> u64| rows.iter().map(of).fold(0, u64::saturating_add);
                    Transfer { time: sum(|t| t.time), bytes: sum(|t| t.bytes) }.rate()
                };
                let filled = self.transfers().into_iter().filter(|rows| !rows.is_empty());
                filled.map(|rows| Box::new(vec![whole(&rows)]) as Box<dyn Samples>).collect()
            }
            _ => {
                let filled = self.trials().into_iter().filter(|view| !view.is_empty());
                filled.map(|view| Box::new(view) as Box<dyn Samples>).collect()
            }
        }
    }

    /// The throughput of all trials together, in bits per second: all bits over all time. `None` for times.
    pub fn throughput(&self) -> Option<f64> {
        let rows: Vec<Transfer> = self.transfers().into_iter().flatten().collect();
        let sum = |of: fn(&Transfer) -> u64| rows.iter().map(of).map(|v| v as f64).sum::<f64>();
        let time = sum(|t| t.time);
        (time > 0.0).then(|| sum(|t| t.bytes) * 8e9 / time)
    }

    /// How the trials of this series and of `other`, of the same recording, relate: the order interleaves trials, so
    /// those with the same number ran in the same round, unless one of them is missing.
    pub fn design_with(&self, other: &Loaded<'_>) -> Design {
        let whole =
            |series: &Series| series.trials.iter().all(|t| t.outcome == Outcome::Complete && t.rows > t.cold_rows);
        let same = self.series.trials.len() == other.series.trials.len();
        if same && whole(self.series) && whole(other.series) { Design::Rounds } else { Design::Apart }
    }

    /// Time and bytes of every row, by trial.
    fn transfers(&self) -> Vec<Vec<Transfer>> {
        let columns = self.series.column("bytes").map(|column| (column, 1)).or_else(|| {
            let size = self.series.params.get("size").and_then(|text| Quantity::Size.parse(text).ok());
            Some((self.series.column("received")?, size?))
        });
        let Some((column, factor)) = columns else { return Vec::new() };
        let times = self.trials();
        let counts = self.trials_of(column);
        let rows = |(times, counts): (super::View<'_>, super::View<'_>)| {
            let rows = times.to_vec().into_iter().zip(counts.to_vec());
            rows.map(|(time, count)| Transfer { time, bytes: count.saturating_mul(factor) }).collect()
        };
        times.into_iter().zip(counts).map(rows).collect()
    }
}

struct Transfer {
    time: u64,
    bytes: u64,
}

impl Transfer {
    /// Bits per second.
    fn rate(&self) -> u64 {
        let bits = u128::from(self.bytes) * 8 * 1_000_000_000;
        u64::try_from(bits / u128::from(self.time.max(1))).unwrap_or(u64::MAX)
    }
}
