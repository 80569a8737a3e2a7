//! The rows of a box plot: what is drawn of a series, for the page, the terminal and the cell of a table alike.
//!
//! Quartiles and whiskers are given, not computed; only the largest sample is looked up, because it is named.

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
    /// None when the series has no samples.
    pub spread: Option<Spread>,
    /// Every sample beyond the whiskers, in any order.
    pub outliers: Vec<u64>,
    pub published: Option<Published>,
    /// Which series colour, counted from 0.
    pub tone: usize,
}

impl Row {
    /// The largest sample.
    pub(super) fn max(&self) -> Option<f64> {
        let whisker = self.spread.map(|s| s.high_whisker);
        self.outliers.iter().max().map(|v| *v as f64).into_iter().chain(whisker).reduce(f64::max)
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
