//! The data of a box plot: spreads and rows, for the page, the terminal and the cell of a table.
//!
//! Quartiles and whiskers are given, not computed; only the largest sample is looked up, because the drawing names it.

use super::axis::Scale;
use super::limit::Limit;
use super::tone::Tone;
use super::units::Unit;

/// What the box of one row shows, in the figure's unit.
#[derive(Clone, Copy, Debug)]
pub struct Spread {
    /// The smallest sample that is not an outlier.
    pub low_whisker: f64,
    pub q1: f64,
    pub median: f64,
    pub q3: f64,
    /// The largest sample that is not an outlier.
    pub high_whisker: f64,
    pub mean: f64,
}

/// A result from a paper.
#[derive(Clone, Debug)]
pub struct Published {
    pub average: f64,
    pub maximum: f64,
    /// Where it comes from, in a few words.
    pub note: String,
}

#[derive(Clone, Debug, Default)]
pub struct Row {
    pub label: String,
    /// A second, quieter line: a condition, a number of samples.
    pub sublabel: String,
    /// None when the series has no samples, or there is no box for another reason.
    pub spread: Option<Spread>,
    /// That reason.
    pub why_none: &'static str,
    /// Every sample beyond the whiskers, in any order.
    pub outliers: Vec<u64>,
    /// What stands before the largest sample where it is only a bound of the largest: `≥ `.
    pub bound: &'static str,
    pub published: Option<Published>,
    pub tone: Tone,
}

impl Row {
    /// The largest sample.
    pub(super) fn max(&self) -> Option<f64> {
        let whisker = self.spread.map(|s| s.high_whisker);
        self.outliers.iter().max().map(|v| *v as f64).into_iter().chain(whisker).reduce(f64::max)
    }

    /// What stands in the place of a box.
    pub(super) fn without_box(&self) -> &'static str {
        if self.why_none.is_empty() { "no samples" } else { self.why_none }
    }

    /// The largest sample, written.
    pub(super) fn written_max(&self, unit: Unit) -> Option<String> {
        Some(format!("{}{}", self.bound, unit.value(self.max()?)))
    }

    /// All values that must fit on the axis.
    pub(super) fn values(&self) -> impl Iterator<Item = f64> + '_ {
        let spread = self.spread.iter().flat_map(|s| [s.low_whisker, s.q1, s.median, s.q3, s.high_whisker, s.mean]);
        let published = self.published.iter().flat_map(|p| [p.average, p.maximum]);
        spread.chain(published).chain(self.outliers.iter().map(|v| *v as f64))
    }
}

/// Rows under one heading; an empty heading is not drawn.
#[derive(Clone, Debug, Default)]
pub struct Group {
    pub heading: String,
    pub rows: Vec<Row>,
}

#[derive(Clone, Debug)]
pub struct BoxPlot {
    pub title: String,
    pub subtitle: String,
    /// What the values are, for the axis: "execution time".
    pub quantity: String,
    pub unit: Unit,
    pub scale: Scale,
    pub groups: Vec<Group>,
    /// What the values are held against.
    pub limit: Option<Limit>,
}
