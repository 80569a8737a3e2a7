//! Confidence intervals.

/// The confidence of every interval of the statistics.
pub const CONFIDENCE: f64 = 0.95;

/// A 95 % confidence interval, in the unit of the samples unless said otherwise. `low <= high`.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "std", derive(serde::Serialize))]
pub struct Interval {
    pub low: f64,
    pub high: f64,
}

impl Interval {
    /// Whether `value` lies in the interval, ends included.
    pub fn contains(&self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }

    pub fn width(&self) -> f64 {
        self.high - self.low
    }
}
