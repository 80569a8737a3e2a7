//! Intervals of the mean and of quantiles, of samples that may depend on each other.
//!
//! - **Mean**: Student's, with the spread of batches ([`super::dependence`]), shifted by Johnson's correction for
//!   skewness (Johnson, "Modified t tests and confidence intervals for asymmetrical populations", JASA 73, 1978).
//! - **Quantile**: the order statistics that bound it (Woodruff, "Confidence intervals for medians and other position
//!   measures", JASA 47, 1952). The number of samples at or below the quantile is binomial if they are independent. If they
//!   are not, its variance is D times as large, and the series tells as much as n / D independent samples: the binomial
//!   distribution of so many bounds it (Korn and Graubard, "Confidence intervals for proportions with small expected
//!   number of positive counts estimated from survey data", Survey Methodology 24, 1998). Neither the shape of the
//!   distribution nor ties matter.
//!
//! Of a quantile in the tail, two more things must be true: the middle of the distribution is not too dependent, and the
//! samples beyond the quantile came in many bunches, not in a few.

use super::beta;
use super::dependence::{Batches, Spread, Sum, spread, spread_of_few};
use super::interval::Interval;
use super::no_interval::NoInterval;
use super::quantile::Quantile;
use super::samples::Samples;
use super::shape::Shape;
use alloc::vec;
use alloc::vec::Vec;

/// An interval, or why there is none.
pub type Confidence = Result<Interval, NoInterval>;

/// An interval as `{"low", "high"}`, a refusal as `{"refused": why}`.
#[cfg(feature = "std")]
pub(super) fn serialize<S: serde::Serializer>(confidence: &Confidence, to: S) -> Result<S::Ok, S::Error> {
    match confidence {
        Ok(interval) => serde::Serialize::serialize(interval, to),
        Err(why) => to.collect_map([("refused", std::string::ToString::to_string(why))]),
    }
}

/// Samples at the top that must not have come in a few bunches.
const TOP: u64 = 20;
/// So many bunches must lie beyond a quantile in the tail, and so many samples if they are as dependent as the median.
const BUNCHES: f64 = 30.0;
const BEYOND: f64 = 10.0;
/// A series counts as dependent if its sums scatter so many times as much as independent ones.
const DEPENDENT: f64 = 1.1;

/// Intervals of that confidence of the mean, of the median and of the 99th percentile. `shape` is that of the samples.
pub fn intervals(samples: &dyn Samples, shape: &Shape, confidence: f64) -> [Confidence; 3] {
    let count = shape.count();
    let beyond = Quantile::NearestRank(995_000).position(count).rank;
    let middle = shape.at_ranks(samples, &[count / 2, Quantile::P99.position(count).rank, beyond, top(count)]);
    let profile = Profile::of(samples, shape.mean(), &middle, confidence);
    let median = profile.effective(0, Sum::Count);
    let tail = median.and_then(|median| profile.tail(Quantile::P99, median));
    let mean = profile.mean(shape.mean());
    let bounds = [(Quantile::MEDIAN, median), (Quantile::P99, tail)]
        .map(|(quantile, effective)| effective.and_then(|effective| ranks(quantile, effective, count, confidence)));
    let wanted: Vec<f64> = bounds.iter().flatten().flatten().copied().collect();
    let values = between_ranks(samples, shape, &wanted);
    let mut pairs = values.chunks_exact(2);
    let [median, p99] = bounds.map(|bounds| {
        let _ = bounds?;
        let pair = pairs.next().unwrap_or_default();
        Ok(Interval { low: pair[0], high: pair[1] })
    });
    [mean, median, p99]
}

/// The rank above which the top samples lie.
pub(super) fn top(count: u64) -> u64 {
    count.saturating_sub(TOP + 1)
}

/// A series by batches: their sums, and how many of their samples lie at or below each of some values.
pub(super) struct Profile {
    count: f64,
    /// By how much the sum of each batch differs from its share.
    sums: Vec<f64>,
    /// The same of the numbers of samples at or below each value.
    numbers: Vec<Vec<f64>>,
    /// The shares of samples at or below each value.
    shares: Vec<f64>,
    /// That of the intervals that are made of it.
    confidence: f64,
}

impl Profile {
    /// Reads the samples once.
    pub(super) fn of(samples: &dyn Samples, mean: f64, values: &[u64], confidence: f64) -> Profile {
        let batches = Batches::of(samples.len());
        let count = samples.len() as f64;
        // Counted from a whole number near the mean, so that nothing of a small spread is lost beside large values.
        let centre = mean as u64;
        let mut sums = vec![0i128; batches.count()];
        let mut numbers = vec![vec![0u64; batches.count()]; values.len()];
        batches.visit(samples, &mut |batch, piece| {
            sums[batch] += piece.iter().map(|&sample| i128::from(sample) - i128::from(centre)).sum::<i128>();
            for (numbers, &value) in numbers.iter_mut().zip(values) {
                numbers[batch] += piece.iter().map(|&sample| u64::from(sample <= value)).sum::<u64>();
            }
        });
        let shares: Vec<f64> = numbers.iter().map(|numbers| numbers.iter().sum::<u64>() as f64 / count).collect();
        let length = |batch: usize| batches.length(batch) as f64;
        let excess = sums.iter().sum::<i128>() as f64 / count;
        Profile {
            count,
            sums: sums.iter().enumerate().map(|(batch, &sum)| sum as f64 - excess * length(batch)).collect(),
            numbers: numbers
                .iter()
                .zip(&shares)
                .map(|(numbers, share)| {
                    numbers.iter().enumerate().map(|(batch, &n)| n as f64 - share * length(batch)).collect()
                })
                .collect(),
            shares,
            confidence,
        }
    }

    /// As many independent samples would tell as much about the share of samples at or below value `index`.
    pub(super) fn effective(&self, index: usize, of: Sum) -> Result<f64, NoInterval> {
        let share = self.shares[index];
        let independent = self.count * share * (1.0 - share);
        let times = |spread: &Spread| if independent > 0.0 { spread.variance / independent } else { 1.0 };
        let mut spread = spread(&self.numbers[index], of)?;
        if times(&spread) > DEPENDENT {
            // What comes in bunches that are rarer than many batches scatters less in few.
            spread = spread_of_few(&self.numbers[index], of)?;
        }
        let times = times(&spread);
        if times <= 1.0 {
            return Ok(self.count);
        }
        let errors = |degrees| beta::student(self.confidence, degrees);
        let known = errors(f64::INFINITY) / errors(spread.degrees);
        Ok(self.count / times * known * known)
    }

    /// The share of samples beyond value `index`.
    pub(super) fn beyond(&self, index: usize) -> f64 {
        1.0 - self.shares[index]
    }

    /// The same for a quantile in the tail, whose value is the second of the profile; further values lie beyond it. `median` is
    /// that of the median.
    fn tail(&self, quantile: Quantile, median: f64) -> Result<f64, NoInterval> {
        let beyond = 1.0 - quantile.share();
        if median < self.count / 1.7 && median * beyond < BEYOND {
            return Err(NoInterval::Dependent);
        }
        let effective = self.effective(1, Sum::TailCount)?;
        // A few long bunches of the highest samples may hide among many samples that are hardly beyond the quantile.
        let mut bunched = effective;
        for value in 2..self.shares.len() {
            bunched = bunched.min(self.effective(value, Sum::TailCount)?);
        }
        if bunched < self.count / 2.0 && bunched * beyond < BUNCHES {
            return Err(NoInterval::Few);
        }
        Ok(effective)
    }

    fn mean(&self, mean: f64) -> Confidence {
        let spread = spread(&self.sums, Sum::Values)?;
        let error = libm::sqrt(spread.variance) / self.count;
        let t = beta::student(self.confidence, spread.degrees);
        let shift = spread.skewness * (1.0 + 2.0 * t * t) / 6.0;
        Ok(Interval { low: mean - error * (t - shift), high: mean + error * (t + shift) })
    }
}

/// The ranks, counted from 0 and with a fraction, between which the quantile lies, of `count` samples that tell as much as
/// `effective` independent ones.
fn ranks(quantile: Quantile, effective: f64, count: u64, confidence: f64) -> Result<[f64; 2], NoInterval> {
    let share = quantile.share();
    let outside = (1.0 - confidence) / 2.0;
    // The extremes must bound it.
    let needed = libm::log(outside) / libm::log(share.max(1.0 - share));
    let too_few = NoInterval::TooFewSamples {
        samples: count,
        needed: libm::ceil(needed.max(32.0) * count as f64 / effective) as u64,
    };
    if effective < needed {
        return Err(too_few);
    }
    let below = effective * share;
    // Half a sample to each side is the middle between the exact bounds, which are too wide, and the next narrower ones.
    let bound = |probability| beta::inverse(probability, below + 0.5, effective - below + 0.5) * count as f64 - 0.5;
    let [low, high] = [bound(outside), bound(1.0 - outside)];
    if low < 0.0 || high > (count - 1) as f64 { Err(too_few) } else { Ok([low, high]) }
}

/// The values at ranks with a fraction.
fn between_ranks(samples: &dyn Samples, shape: &Shape, ranks: &[f64]) -> Vec<f64> {
    let whole: Vec<u64> = ranks.iter().flat_map(|&rank| [rank as u64, rank as u64 + 1]).collect();
    let values = shape.at_ranks(samples, &whole);
    let between = |(pair, rank): (&[u64], &f64)| {
        let [low, high] = [pair[0], pair[1]];
        low as f64 + (rank - libm::floor(*rank)) * high.saturating_sub(low) as f64
    };
    values.chunks_exact(2).zip(ranks).map(between).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::CONFIDENCE;
    use crate::stats::testing::exponential;

    fn of(samples: &[u64]) -> [Confidence; 3] {
        intervals(&samples, &Shape::of(&samples).unwrap(), CONFIDENCE)
    }

    /// How many of 200 intervals of each kind are given, and how many of those hold the truth.
    fn held(make: impl Fn(u64) -> Vec<u64>, truth: [f64; 3]) -> [(u32, u32); 3] {
        let mut held = [(0, 0); 3];
        for seed in 0..200 {
            for ((given, holds), (interval, truth)) in held.iter_mut().zip(of(&make(seed)).into_iter().zip(truth)) {
                if let Ok(interval) = interval {
                    *given += 1;
                    *holds += u32::from(interval.contains(truth));
                }
            }
        }
        held
    }

    #[test]
    fn they_hold_the_truth_as_often_as_they_say() {
        let truth = [1e5, 1e5 * core::f64::consts::LN_2, 1e5 * libm::log(100.0)];
        for n in [600, 5000] {
            for (given, holds) in held(|seed| exponential(seed, n, 1e5), truth) {
                let share = f64::from(holds) / f64::from(given);
                assert!(given > 110 && (0.92..0.985).contains(&share), "{holds} of {given} with {n}");
            }
        }
    }

    #[test]
    fn each_sample_four_times_tells_no_more_than_once() {
        let once = |seed, n| exponential(seed, n, 1e5);
        let repeated = |seed| once(seed, 1000).into_iter().flat_map(|sample| [sample; 4]).collect();
        let truth = [1e5, 1e5 * core::f64::consts::LN_2, 1e5 * libm::log(100.0)];
        for (given, holds) in held(repeated, truth) {
            assert!(f64::from(holds) >= 0.91 * f64::from(given), "{holds} of {given}");
        }
    }

    #[test]
    fn an_interval_needs_samples_beyond_the_quantile() {
        let [mean, median, p99] = of(&exponential(1, 300, 1e5));
        assert!(mean.is_ok() && median.is_ok());
        assert_eq!(p99, Err(NoInterval::TooFewSamples { samples: 300, needed: 368 }));
        let few = Err(NoInterval::TooFewSamples { samples: 20, needed: 32 });
        assert_eq!(of(&exponential(1, 20, 1e5)), [few; 3]);
    }

    #[test]
    fn equal_samples_have_an_interval_of_no_width() {
        for value in [0, 7, u64::MAX] {
            let point = Ok(Interval { low: value as f64, high: value as f64 });
            assert_eq!(of(&[value; 1000]), [point; 3]);
        }
    }

    #[test]
    fn an_interval_between_two_modes_reaches_from_one_to_the_other() {
        let mut random = fastrand::Rng::with_seed(3);
        let samples: Vec<u64> =
            (0..1000).map(|_| if random.bool() { 1000 } else { 9000 } + random.u64(0..100)).collect();
        let [_, median, _] = of(&samples);
        let median = median.unwrap();
        assert!(median.low < 1100.0 && median.high > 9000.0, "{median:?}");
    }
}
