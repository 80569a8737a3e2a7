//! Measured values of a series: times, throughputs that follow from two columns, or counts over time.
//!
//! A sample is always the value that was taken. In some series it is an intermediate value: a row of a transfer holds a
//! time and a number of bytes, and tables, figures, claims and comparisons use bits per second. This module makes that
//! choice once, for all of them.

use crate::quantity::Quantity;
use crate::stats::{Design, Partial, Samples};

use super::model::{Outcome, Series, Trial, Unit};
use super::read::Loaded;
use super::samples::View;

/// The environment of every series that another tool measured: where it really ran, only that tool knows.
pub const IMPORTED: &str = "imported";

/// The kind of values that a series has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Measured {
    /// Nanoseconds, or another unit that is counted for so many operations in each sample.
    Time { operations: u64 },
    /// Bits per second: the bits that arrived, divided by the time of the transfer.
    Throughput,
    /// Counts over time without a distribution, such as the memory of the machine during a measurement.
    Watched,
}

impl Series {
    /// The kind of its values.
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

    /// Whether it is what an emulator counts, which does not vary from run to run: a few samples are then all there is to know.
    pub fn is_exact(&self) -> bool {
        self.emulated && matches!(self.unit(), Unit::Instructions | Unit::Cycles)
    }

    /// Where it was measured, as it is told beside its figures: times of an emulator are named so.
    pub fn place(&self) -> String {
        let named = if self.is_of_an_emulator() { " (emulated)" } else { "" };
        format!("{}{named}", self.environment)
    }

    /// Whether its times say nothing of a machine.
    pub fn is_of_an_emulator(&self) -> bool {
        self.emulated && !self.is_exact()
    }

    /// Whether another tool took its samples: under which settings is known only as far as its file says.
    pub fn is_imported(&self) -> bool {
        self.environment == IMPORTED
    }

    /// The number of operations that one of its values covers.
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
                let recorded: Vec<u64> = self.transfers().iter().flat_map(|t| t.iter().map(|row| row.rate())).collect();
                Box::new(Partial { recorded, unrecorded: self.series.unrecorded() })
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
                let trials = self.transfers().into_iter().zip(&self.series.trials);
                let filled = trials.filter(|(rows, _)| !rows.is_empty());
                let whole = |(rows, trial): (Vec<Transfer>, &Trial)| {
                    let unrecorded = self.series.unrecorded_of(trial);
                    Box::new(Partial { recorded: vec![whole(&rows)], unrecorded }) as Box<dyn Samples>
                };
                filled.map(whole).collect()
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
    /// those with the same number ran in the same round, unless one of them failed or one side went on without the other. What an
    /// emulator counts does not vary.
    pub fn design_with(&self, other: &Loaded<'_>) -> Design {
        if self.series.is_exact() && other.series.is_exact() {
            return Design::Counted;
        }
        let whole =
            |series: &Series| series.trials.iter().all(|t| t.outcome == Outcome::Complete && t.rows > t.cold_rows);
        let rounds = || self.series.trials.iter().zip(&other.series.trials);
        let in_turn = rounds().zip(rounds().skip(1)).all(|((a, b), (next_a, next_b))| {
            // Times of one format, which are ordered as their texts are.
            a.started.as_str().max(&b.started) <= next_a.started.as_str().min(&next_b.started)
        });
        if in_turn && whole(self.series) && whole(other.series) { Design::Rounds } else { Design::Apart }
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
        let rows = |(times, counts): (View<'_>, View<'_>)| {
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
