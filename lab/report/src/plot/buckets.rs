//! The data of a histogram: counted samples in buckets, for the page and the terminal.
//!
//! The buckets are finer than the bins that are drawn from them.

use super::axis::Scale;
use super::limit::Limit;
use super::tone::Tone;
use super::units::Unit;

/// Samples in `low..high`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bucket {
    pub low: u64,
    /// Exclusive.
    pub high: u64,
    pub count: u64,
}

#[derive(Clone, Debug, Default)]
pub struct Series {
    pub label: String,
    pub tone: Tone,
    /// In rising order, without overlap; empty ones may be left out.
    pub buckets: Vec<Bucket>,
    /// The largest sample, exact.
    pub max: u64,
    /// What stands before it where it is only a bound of the largest: `≥ `.
    pub bound: &'static str,
}

impl Series {
    /// "worst 2.92 ms".
    pub(super) fn worst(&self, unit: Unit) -> String {
        format!("worst {}{}", self.bound, unit.value(self.max as f64))
    }

    /// How many samples it has.
    pub(super) fn count(&self) -> u64 {
        self.buckets.iter().map(|b| b.count).sum()
    }
}

#[derive(Clone, Debug)]
pub struct Histogram {
    pub title: String,
    pub subtitle: String,
    pub quantity: String,
    pub unit: Unit,
    pub scale: Scale,
    pub series: Vec<Series>,
    /// What the times are held against.
    pub limit: Option<Limit>,
}
