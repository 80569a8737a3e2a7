//! The summary of a series: the figures that a table shows.
//!
//! A figure that the sample is too small for is absent rather than guessed: a percentile beyond which not even one
//! sample is to be expected, the variance of a single sample. A figure that is known from one side only says so
//! ([`super::unrecorded`]). An interval that the samples cannot bear is refused with its reason.

use super::confidence::{Confidence, intervals};
use super::mode::{self, Mode};
use super::no_interval::NoInterval;
use super::options::Options;
use super::quantile::Quantile;
use super::ranks::Ranks;
use super::samples::Samples;
use super::shape::Shape;
use super::unrecorded::{Known, Unrecorded};

/// All figures are in the unit of the samples, the variance in its square.
///
/// Censored samples count in all of them. What a figure of a series with lost samples is of, is the samples that were recorded:
/// only the maximum is known to be at least theirs.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "std", derive(serde::Serialize))]
pub struct Summary {
    /// The samples that were recorded, or are known to be beyond a limit.
    pub count: u64,
    /// Those of them that are only known to be beyond a limit.
    pub beyond: u64,
    /// Samples besides, of which nothing is known.
    pub lost: u64,
    pub min: u64,
    pub max: Known<u64>,
    pub mean: Known<f64>,
    /// With n - 1 as divisor; absent below two samples, and where samples are beyond a limit.
    pub variance: Option<f64>,
    pub standard_deviation: Option<f64>,
    /// Absent where more samples are beyond a limit than the fullest bin has.
    pub mode: Option<Mode>,
    /// The mean without the lowest and the highest hundredth of the samples: of times that a clock counts in coarse steps it
    /// tells more than the median, and a rare outlier does not move it. Absent where more than a hundredth is beyond a limit.
    pub trimmed_mean: Option<f64>,
    /// Quartiles by linear interpolation, type 7.
    pub lower_quartile: Known<f64>,
    pub median: Known<f64>,
    pub upper_quartile: Known<f64>,
    /// Tail percentiles by nearest rank; absent where n (1 - p) < 1.
    pub p90: Option<Known<u64>>,
    pub p95: Option<Known<u64>>,
    pub p99: Option<Known<u64>>,
    pub p99_9: Option<Known<u64>>,
    pub p99_99: Option<Known<u64>>,
    pub p99_999: Option<Known<u64>>,
    /// 95 % intervals, or why there is none (see [`super::confidence`]).
    #[cfg_attr(feature = "std", serde(serialize_with = "super::confidence::serialize"))]
    pub mean_interval: Confidence,
    #[cfg_attr(feature = "std", serde(serialize_with = "super::confidence::serialize"))]
    pub median_interval: Confidence,
    #[cfg_attr(feature = "std", serde(serialize_with = "super::confidence::serialize"))]
    pub p99_interval: Confidence,
}

/// One in so many samples is left out at either end of the trimmed mean.
const TRIMMED: u64 = 100;

const TAILS: [Quantile; 6] =
    [Quantile::P90, Quantile::P95, Quantile::P99, Quantile::P99_9, Quantile::P99_99, Quantile::P99_999];
const QUARTILES: [Quantile; 3] = [Quantile::LOWER_QUARTILE, Quantile::MEDIAN, Quantile::UPPER_QUARTILE];

impl Summary {
    /// Summarises a series; `None` of one without a recorded sample.
    pub fn of(samples: &dyn Samples, options: &Options) -> Option<Summary> {
        Shape::of(samples).map(|shape| Summary::with_shape(samples, &shape, options))
    }

    /// The same, for who already has the shape of these samples.
    pub fn with_shape(samples: &dyn Samples, shape: &Shape, options: &Options) -> Summary {
        let missing = samples.unrecorded();
        let recorded = shape.count();
        let ranks = Ranks::of(samples, shape, &missing);
        let count = ranks.count;
        // All in one call, so that they share their passes over the samples.
        let mut wanted = [Quantile::MEDIAN; 9];
        wanted[..3].copy_from_slice(&QUARTILES);
        wanted[3..].copy_from_slice(&TAILS);
        let positions = wanted.map(|quantile| quantile.position(count));
        let trimmed = count / TRIMMED;
        let mut asked = [0; 21];
        asked[18..].copy_from_slice(&[trimmed, count - 1 - trimmed, Quantile::P99_9.position(recorded).rank]);
        for (pair, position) in asked[..18].chunks_exact_mut(2).zip(positions) {
            pair.copy_from_slice(&[position.rank, position.rank + 1]);
        }
        let values = shape.at_ranks(samples, &asked);
        let quartile = |index: usize| {
            let (position, at, next) = (positions[index], values[2 * index], values[2 * index + 1]);
            match ranks.known(position.rank, at) {
                // The next one is only known to be greater.
                Known::Exactly(at) if position.fraction > 0.0 && !ranks.is_known(position.rank + 1) => {
                    Known::AtLeast(at as f64)
                }
                Known::Exactly(at) => Known::Exactly(position.between(at, next)),
                bound => bound.map(|bound| bound as f64),
            }
        };
        let [lower_quartile, median, upper_quartile] = [quartile(0), quartile(1), quartile(2)];
        let tail = |index: usize| {
            let known = ranks.known(positions[3 + index].rank, values[6 + 2 * index]);
            TAILS[index].is_within(count).then_some(known)
        };

        let highest_bin = values[20];
        let spread = upper_quartile.bound() - lower_quartile.bound();
        let width = mode::bin_width(recorded, spread, shape.min(), highest_bin, options.bin_width);
        let mode = mode::mode(samples, shape.min(), highest_bin, width);
        let variance = shape.sums().variance().filter(|_| missing.beyond() == 0);
        let refused = if missing.unordered {
            Some(NoInterval::Unordered)
        } else {
            (!missing.is_complete()).then_some(NoInterval::Unrecorded)
        };
        let [mean_interval, median_interval, p99_interval] = match refused {
            Some(why) => [Err(why); 3],
            None => intervals(samples, shape, options.confidence),
        };
        Summary {
            count,
            beyond: missing.beyond(),
            lost: missing.lost,
            min: shape.min(),
            max: ranks.max,
            mean: mean(shape, &missing),
            variance,
            standard_deviation: variance.map(libm::sqrt),
            mode: (missing.beyond() <= mode.count).then_some(mode),
            trimmed_mean: ranks
                .is_known(count - 1 - trimmed)
                .then(|| trimmed_mean(samples, trimmed, missing.beyond(), values[18], values[19])),
            lower_quartile,
            median,
            upper_quartile,
            p90: tail(0),
            p95: tail(1),
            p99: tail(2),
            p99_9: tail(3),
            p99_99: tail(4),
            p99_999: tail(5),
            mean_interval,
            median_interval,
            p99_interval,
        }
    }
}

/// The mean; if samples are beyond a limit, what it is more than.
fn mean(shape: &Shape, missing: &Unrecorded) -> Known<f64> {
    let Some(beyond) = missing.beyond.filter(|beyond| beyond.count > 0) else { return Known::Exactly(shape.mean()) };
    let (recorded, censored) = (shape.count() as f64, beyond.count as f64);
    Known::MoreThan((shape.mean() * recorded + beyond.limit as f64 * censored) / (recorded + censored))
}

/// The mean without `trimmed` samples at either end, of which `beyond` were not recorded; the lowest that stays is `low`, the
/// highest `high`.
fn trimmed_mean(samples: &dyn Samples, trimmed: u64, beyond: u64, low: u64, high: u64) -> f64 {
    let (mut inside, mut sum, mut up_to_low, mut from_high) = (0u64, 0u128, 0u64, 0u64);
    samples.visit_counted(&mut |piece, times| {
        for &sample in piece {
            if low < sample && sample < high {
                inside += times;
                sum += u128::from(sample) * u128::from(times);
            } else {
                up_to_low += times * u64::from(sample <= low);
                from_high += times * u64::from(sample >= high);
            }
        }
    });
    if low == high {
        return low as f64;
    }
    // Of those that are as low as the lowest, or as high as the highest, some are trimmed.
    let (lows, highs) = (up_to_low - trimmed, from_high + beyond - trimmed);
    sum += u128::from(low) * u128::from(lows) + u128::from(high) * u128::from(highs);
    sum as f64 / (inside + lows + highs) as f64
}

#[cfg(test)]
#[path = "summary_tests.rs"]
mod tests;
