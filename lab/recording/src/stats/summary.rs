//! The figures of a series that a table shows.
//!
//! What the sample is too small to say is absent rather than guessed: a percentile beyond which not one sample is to be
//! expected, the variance of a single sample, an interval that even the extremes of the sample could not bound.

use super::bootstrap::{self, Statistic};
use super::mode::{self, Mode};
use super::quantile::Quantile;
use super::samples::Samples;
use super::shape::Shape;
use super::{Interval, Options};

/// All figures are in the unit of the samples, the variance in its square.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "std", derive(serde::Serialize))]
pub struct Summary {
    pub count: u64,
    pub min: u64,
    pub max: u64,
    pub mean: f64,
    /// With n - 1 as divisor; absent below two samples.
    pub variance: Option<f64>,
    pub standard_deviation: Option<f64>,
    pub mode: Mode,
    /// The mean without the lowest and the highest hundredth of the samples: of times that a clock counts in coarse steps it
    /// tells more than the median, and a rare outlier does not move it.
    pub trimmed_mean: f64,
    /// Quartiles by linear interpolation, type 7.
    pub lower_quartile: f64,
    pub median: f64,
    pub upper_quartile: f64,
    /// Tail percentiles by nearest rank; absent where n (1 - p) < 1.
    pub p90: Option<u64>,
    pub p95: Option<u64>,
    pub p99: Option<u64>,
    pub p99_9: Option<u64>,
    pub p99_99: Option<u64>,
    pub p99_999: Option<u64>,
    /// 95 % intervals by block bootstrap; absent where the sample is too small (see [`bootstrap::is_enough`]).
    pub mean_interval: Option<Interval>,
    pub median_interval: Option<Interval>,
    pub p99_interval: Option<Interval>,
}

/// One in so many samples is left out at either end of the trimmed mean.
const TRIMMED: u64 = 100;

const TAILS: [Quantile; 6] =
    [Quantile::P90, Quantile::P95, Quantile::P99, Quantile::P99_9, Quantile::P99_99, Quantile::P99_999];
const QUARTILES: [Quantile; 3] = [Quantile::LOWER_QUARTILE, Quantile::MEDIAN, Quantile::UPPER_QUARTILE];
const INTERVALS: [Statistic; 3] =
    [Statistic::Mean, Statistic::Quantile(Quantile::MEDIAN), Statistic::Quantile(Quantile::P99)];

impl Summary {
    /// Summarises a series; `None` of an empty one.
    pub fn of(samples: &dyn Samples, options: &Options) -> Option<Summary> {
        Shape::of(samples).map(|shape| Summary::with_shape(samples, &shape, options))
    }

    /// The same, for who already has the shape of these samples.
    pub fn with_shape(samples: &dyn Samples, shape: &Shape, options: &Options) -> Summary {
        let count = shape.count();
        // All in one call, so that they share their passes over the samples.
        let mut wanted = [Quantile::MEDIAN; 9];
        wanted[..3].copy_from_slice(&QUARTILES);
        wanted[3..].copy_from_slice(&TAILS);
        let positions = wanted.map(|quantile| quantile.position(count));
        let trimmed = count / TRIMMED;
        let mut ranks = [0; 20];
        ranks[18..].copy_from_slice(&[trimmed, count - 1 - trimmed]);
        for (pair, position) in ranks[..18].chunks_exact_mut(2).zip(positions) {
            pair.copy_from_slice(&[position.rank, position.rank + 1]);
        }
        let values = shape.at_ranks(samples, &ranks);
        let quartile = |index: usize| positions[index].between(values[2 * index], values[2 * index + 1]);
        let [lower_quartile, median, upper_quartile] = [quartile(0), quartile(1), quartile(2)];
        let tail = |index: usize| TAILS[index].is_within(count).then_some(values[6 + 2 * index]);

        let p99_9 = values[6 + 2 * 3];
        let width = mode::bin_width(count, upper_quartile - lower_quartile, shape.min(), p99_9, options.bin_width);
        let variance = shape.sums().variance();
        let [mean_interval, median_interval, p99_interval] = bootstrap::intervals(samples, shape, INTERVALS, options);
        Summary {
            count,
            min: shape.min(),
            max: shape.max(),
            mean: shape.mean(),
            variance,
            standard_deviation: variance.map(libm::sqrt),
            mode: mode::mode(samples, shape.min(), p99_9, width),
            trimmed_mean: trimmed_mean(samples, trimmed, values[18], values[19]),
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

/// The mean without `trimmed` samples at either end; the lowest that stays is `low`, the highest `high`.
fn trimmed_mean(samples: &dyn Samples, trimmed: u64, low: u64, high: u64) -> f64 {
    let (mut inside, mut sum, mut up_to_low, mut from_high) = (0u64, 0u128, 0u64, 0u64);
    samples.visit(0, samples.len(), &mut |piece| {
        for &sample in piece {
            if low < sample && sample < high {
                inside += 1;
                sum += u128::from(sample);
            } else {
                up_to_low += u64::from(sample <= low);
                from_high += u64::from(sample >= high);
            }
        }
    });
    if low == high {
        return low as f64;
    }
    // Of those that are as low as the lowest, or as high as the highest, some are trimmed.
    let (lows, highs) = (up_to_low - trimmed, from_high - trimmed);
    sum += u128::from(low) * u128::from(lows) + u128::from(high) * u128::from(highs);
    sum as f64 / (inside + lows + highs) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::testing::{exponential, sorted, type_7};
    use alloc::vec::Vec;
    use proptest::prelude::*;

    fn of(samples: &[u64]) -> Option<Summary> {
        Summary::of(&samples, &Options::default())
    }

    #[test]
    fn nothing_has_no_summary() {
        assert_eq!(of(&[]), None);
    }

    #[test]
    fn one_sample_says_what_it_is_and_no_more() {
        let one = of(&[42]).unwrap();
        assert_eq!((one.count, one.min, one.max, one.mean, one.median), (1, 42, 42, 42.0, 42.0));
        assert_eq!((one.lower_quartile, one.upper_quartile), (42.0, 42.0));
        assert_eq!(one.mode, Mode { value: 42, bin_width: 1, count: 1 });
        assert_eq!((one.variance, one.standard_deviation, one.p90, one.p99), (None, None, None, None));
        assert_eq!((one.mean_interval, one.median_interval, one.p99_interval), (None, None, None));
    }

    #[test]
    fn equal_samples_have_no_spread_and_intervals_of_no_width() {
        for value in [0, 7, u64::MAX] {
            let equal = of(&[value; 1000]).unwrap();
            assert_eq!((equal.variance, equal.mean, equal.median), (Some(0.0), value as f64, value as f64));
            assert_eq!((equal.p99_9, equal.p99_99), (Some(value), None));
            let point = Some(Interval { low: value as f64, high: value as f64 });
            assert_eq!((equal.mean_interval, equal.median_interval, equal.p99_interval), (point, point, point));
        }
    }

    #[test]
    fn the_same_samples_and_seed_give_the_same_figures() {
        let samples = exponential(3, 5000, 40_000.0);
        assert_eq!(of(&samples), of(&samples));
        let other = Options { seed: 1, ..Options::default() };
        let (a, b) = (of(&samples).unwrap(), Summary::of(&samples, &other).unwrap());
        assert_ne!(a.mean_interval, b.mean_interval);
        assert_eq!((a.p99, a.variance), (b.p99, b.variance));
    }

    #[test]
    fn the_intervals_surround_what_they_are_about() {
        let summary = of(&exponential(4, 20_000, 40_000.0)).unwrap();
        assert!(summary.mean_interval.unwrap().contains(summary.mean));
        assert!(summary.median_interval.unwrap().contains(summary.median));
        assert!(summary.p99_interval.unwrap().contains(summary.p99.unwrap() as f64));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn the_figures_agree_with_sorting(samples in proptest::collection::vec(prop_oneof![any::<u64>(), 0u64..1000, 50_000u64..80_000], 1..1500)) {
            let options = Options { resamples: 40, ..Options::default() };
            let summary = Summary::of(&samples, &options).unwrap();
            let sorted = sorted(&samples);
            let n = sorted.len();
            prop_assert_eq!((summary.count, summary.min, summary.max), (n as u64, sorted[0], sorted[n - 1]));
            let kept = &sorted[n / 100..n - n / 100];
            let mean = kept.iter().map(|sample| *sample as f64).sum::<f64>() / kept.len() as f64;
            prop_assert!((summary.trimmed_mean - mean).abs() <= mean * 1e-9, "{} {}", summary.trimmed_mean, mean);
            let quartiles = [summary.lower_quartile, summary.median, summary.upper_quartile];
            prop_assert_eq!(quartiles, [0.25, 0.5, 0.75].map(|p| type_7(&sorted, p)));
            // The nearest rank by its definition: the smallest sample that enough samples do not exceed.
            for (got, beyond_in) in [(summary.p90, 10), (summary.p95, 20), (summary.p99, 100), (summary.p99_9, 1000), (summary.p99_99, 10_000)] {
                let expected: Vec<u64> = (n >= beyond_in)
                    .then(|| (1..=n).find(|rank| rank * beyond_in >= n * (beyond_in - 1)).map(|rank| sorted[rank - 1]))
                    .flatten().into_iter().collect();
                prop_assert_eq!(got.into_iter().collect::<Vec<u64>>(), expected, "1 in {}", beyond_in);
            }
        }
    }
}
