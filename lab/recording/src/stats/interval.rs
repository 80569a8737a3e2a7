//! Confidence intervals.

use alloc::format;
use alloc::string::String;

/// The confidence of an interval, unless another is asked for.
pub const CONFIDENCE: f64 = 0.95;

/// A confidence as a percentage without its sign: 95, or 98.3.
pub fn percent(confidence: f64) -> String {
    let text = format!("{:.1}", confidence * 100.0);
    text.strip_suffix(".0").map(String::from).unwrap_or(text)
}

/// A confidence interval, in the unit of the samples unless said otherwise. `low <= high`.
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
