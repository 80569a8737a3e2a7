//! What a series of samples says, and how sure one may be of it.
//!
//! Every statistic of the project is defined here, once: the tables, the plots and the comparisons only show what this
//! module returns. Samples are integers (nanoseconds or instructions), so whatever can be exact is exact: sums, variance,
//! quantiles, counts. What must be estimated (intervals, p-values, extrapolated maxima) uses random numbers from a stored
//! seed, so that the same samples and the same [`Options`] give the same figures to the last digit on every run.
//!
//! Two promises hold throughout. Nothing is dropped as an outlier. And memory is bounded: a series may be a mapped file of
//! any length, it is read in passes, and what is kept of it has a size that does not grow with the number of samples.
//!
//! The files: [`samples`] is the input; [`sums`] and [`shape`] are the one-pass reductions, [`refine`] gets exact order
//! statistics out of them, [`quantile`] says which order statistics a quantile is made of; [`summary`], [`mode`],
//! [`boxplot`], [`deadline`], [`extreme`] and [`mod@compare`] are the answers; [`bootstrap`], [`beta`] and [`gev`] are the
//! theory behind their intervals.

pub mod beta;
pub mod bootstrap;
pub mod boxplot;
pub mod compare;
pub mod deadline;
pub mod extreme;
pub mod gev;
pub mod mode;
pub mod quantile;
pub mod refine;
pub mod rounds;
pub mod samples;
pub mod shape;
pub mod summary;
pub mod sums;

pub use bootstrap::Statistic;
pub use boxplot::BoxPlot;
pub use compare::{Comparison, Design, Incomparable, Verdict, compare};
pub use deadline::Deadline;
pub use extreme::{Extreme, Refusal};
pub use mode::Mode;
pub use quantile::Quantile;
pub use samples::{Samples, Together};
pub use shape::{Bucket, Shape};
pub use summary::Summary;

use core::num::NonZeroU64;

/// The confidence of every interval in this module.
pub const CONFIDENCE: f64 = 0.95;

/// What a caller may choose about the statistics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Where the random numbers of the bootstrap start. Recorded with the results, it makes them repeatable.
    pub seed: u64,
    /// How many resamples an interval or a p-value is taken from. At least 40 are used, since fewer have no 2.5 % end.
    pub resamples: u32,
    /// The bin width of the mode in the unit of the samples; `None` chooses one from the samples (see [`mode`]).
    /// The published microsecond tables correspond to 1000 ns.
    pub bin_width: Option<NonZeroU64>,
}

impl Options {
    /// The random numbers that belong to the seed. Seeds that follow each other give unrelated streams, which they would
    /// not if they were taken as the first state of the generator.
    pub(crate) fn random(&self) -> fastrand::Rng {
        fastrand::Rng::with_seed(self.seed).fork()
    }
}

impl Default for Options {
    fn default() -> Self {
        Options { seed: 0x6b69_7a61_6d69, resamples: 1000, bin_width: None }
    }
}

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

/// Sources of samples and plain definitions that the tests of this module compare with.
#[cfg(test)]
pub(crate) mod testing {
    use super::Options;
    use alloc::vec::Vec;

    /// `n` values drawn by the inverse of a distribution function, which is given numbers in (0, 1].
    pub fn drawn(seed: u64, n: usize, inverse: impl Fn(f64) -> f64) -> Vec<u64> {
        let mut random = Options { seed, ..Options::default() }.random();
        (0..n).map(|_| inverse(1.0 - random.f64()).max(0.0) as u64).collect()
    }

    /// Independent exponential samples.
    pub fn exponential(seed: u64, n: usize, mean: f64) -> Vec<u64> {
        drawn(seed, n, |u| -mean * libm::log(u))
    }

    pub fn sorted(samples: &[u64]) -> Vec<u64> {
        let mut sorted = samples.to_vec();
        sorted.sort_unstable();
        sorted
    }

    /// Quantile of type 7 as Hyndman and Fan define it, from sorted samples.
    pub fn type_7(sorted: &[u64], p: f64) -> f64 {
        let h = (sorted.len() - 1) as f64 * p;
        let low = libm::floor(h) as usize;
        let high = (low + 1).min(sorted.len() - 1);
        sorted[low] as f64 + (h - low as f64) * (sorted[high] - sorted[low]) as f64
    }
}
