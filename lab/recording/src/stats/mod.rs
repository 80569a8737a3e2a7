//! The statistics of a series of samples, and their uncertainty.
//!
//! Every statistic of the project is defined here, once: the tables, the plots and the comparisons only show what this
//! module returns. Samples are integers (nanoseconds or instructions), so whatever can be exact is exact: sums, variance,
//! quantiles, counts. What is estimated (intervals, differences, extrapolated maxima) is calibrated: how often it is wrong is
//! known by simulation (`./x bench trust`), and what the samples cannot bear is refused with its reason. Random numbers come
//! from a stored seed, so that the same samples and the same [`Options`] give the same figures to the last digit on every run.
//!
//! Three promises hold throughout. Nothing is dropped as an outlier. What was not recorded is not forgotten
//! ([`unrecorded`]). And memory is bounded: a series may be a mapped file of any length, it is read in passes, and what is
//! kept of it has a size that does not grow with the number of samples.
//!
//! The files: [`samples`] is the input; [`sums`] and [`shape`] are the one-pass reductions, [`refine`] computes exact
//! order statistics from them, [`quantile`] defines each quantile by order statistics; [`summary`], [`mode`],
//! [`boxplot`], [`deadline`], [`decision`], [`extreme`] and [`mod@compare`] are the answers; [`dependence`], [`confidence`],
//! [`rank_tests`], [`beta`], [`gev`] and [`likelihood`] are the theory behind the intervals of these answers.

pub mod beta;
pub mod boxplot;
pub mod compare;
pub mod confidence;
pub mod deadline;
pub mod decision;
pub mod dependence;
pub mod extreme;
pub mod gev;
mod interval;
pub mod likelihood;
pub mod mode;
mod no_interval;
mod options;
pub mod quantile;
pub mod rank_tests;
mod ranks;
pub mod refine;
pub mod samples;
pub mod shape;
pub mod summary;
pub mod sums;
pub mod unrecorded;

pub use boxplot::BoxPlot;
pub use compare::{Comparison, Design, Incomparable, Support, Verdict, compare, compare_figures};
pub use confidence::Confidence;
pub use deadline::Deadline;
pub use decision::{Decision, Start};
pub use extreme::{Extreme, Refusal};
pub use interval::{CONFIDENCE, Interval, percent};
pub use mode::Mode;
pub use no_interval::NoInterval;
pub use options::Options;
pub use quantile::Quantile;
pub use samples::{Partial, Samples};
pub use shape::{Bucket, Shape};
pub use summary::Summary;
pub use unrecorded::{Beyond, Known, Unrecorded};

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
