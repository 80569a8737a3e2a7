//! The options of the statistics. The same options give the same figures again.

use super::interval::CONFIDENCE;
use core::num::NonZeroU64;

/// What a caller may choose about the statistics.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Options {
    /// Where random numbers start. Recorded with the results, it makes them repeatable.
    pub seed: u64,
    /// The number of simulated series for a p-value. At least 40 are used.
    pub resamples: u32,
    /// The bin width of the mode in the unit of the samples; `None` chooses one from the samples (see [`super::mode`]).
    /// The published microsecond tables correspond to 1000 ns.
    pub bin_width: Option<NonZeroU64>,
    /// That of the intervals of the mean, the median and the 99th percentile.
    pub confidence: f64,
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
        Options { seed: 0x6b69_7a61_6d69, resamples: 1000, bin_width: None, confidence: CONFIDENCE }
    }
}
