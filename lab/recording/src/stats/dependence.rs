//! Dependence of neighbouring samples: how uncertain a sum over a series is when its samples resemble each other.
//!
//! A disturbance lasts longer than one sample, so neighbours resemble each other, and a series tells less than its number
//! of samples promises. The method is that of batch means (Conway, "Some tactical problems in digital simulation",
//! Management Science 10, 1963): a series is cut into long batches. If these are long against the dependence, their sums
//! are independent, and the spread of the sums is the uncertainty of the whole.
//!
//! Whether they are long enough, the data must say. The correlation of neighbouring batches halves with each doubling of
//! their length once they are longer than the dependence, and the variance of a sum of batches then lacks about twice that
//! correlation. So the correlations of shorter batches, of which there are more, say how much is lacking. 64 batches are
//! used if hardly anything is, and else 16, whose variance is then corrected. If it is too much to be corrected, or if
//! neighbours among the 16 still resemble each other, there is no answer, but a [`NoInterval`]: the series is too short for
//! its dependence, or its level moves, which cannot be told apart and need not be.
//!
//! `./x bench trust` is how often this is right: docs/measuring.md has the table.

use super::no_interval::NoInterval;
use super::samples::Samples;
use alloc::vec::Vec;

/// The number of batches that a series is cut into first. A shorter series has as many as it has samples.
pub const FINEST: u64 = 256;
/// A shorter series does not show whether its samples depend on each other.
pub const FEWEST: u64 = 32;
/// The number of long batches where no dependence is seen, and where one is.
const MANY: usize = 64;
const FEW: usize = 16;
/// The share of the variance that may be lacking with many.
const LACKING: f64 = 0.1;

/// A series cut into batches whose lengths differ by at most one sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Batches {
    samples: u64,
    count: u64,
}

/// Which values are summed. Of a rare event there are few occurrences, so their correlations scatter more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sum {
    /// The samples themselves. A few large ones may outweigh all others.
    Values,
    /// How many samples lie at or below a value in the middle of the distribution.
    Count,
    /// The same for a value in the tail.
    TailCount,
}

/// The uncertainty of a sum over a series.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    pub variance: f64,
    /// The degrees of freedom of the variance.
    pub degrees: f64,
    pub skewness: f64,
}

impl Batches {
    pub fn of(samples: u64) -> Batches {
        Batches { samples, count: samples.min(FINEST) }
    }

    pub fn count(&self) -> usize {
        self.count as usize
    }

    /// Where batch `index <= count` starts (for `count`, the end of the samples).
    fn start(&self, index: usize) -> u64 {
        (u128::from(self.samples) * index as u128 / u128::from(self.count.max(1))) as u64
    }

    pub fn length(&self, index: usize) -> u64 {
        self.start(index + 1) - self.start(index)
    }

    /// Calls `see` with pieces of the samples of each batch in turn, small enough to stay in the first-level cache.
    pub fn visit(&self, samples: &dyn Samples, see: &mut dyn FnMut(usize, &[u64])) {
        for batch in 0..self.count() {
            samples.visit(self.start(batch), self.start(batch + 1), &mut |piece| {
                piece.chunks(2048).for_each(|chunk| see(batch, chunk));
            });
        }
    }
}

/// The uncertainty of the sum of all batches. `deviations` says for each of the finest batches by how much its sum differs
/// from its share of the whole.
///
/// # Errors
/// Why nothing can be said of it.
pub fn spread(deviations: &[f64], of: Sum) -> Result<Spread, NoInterval> {
    let few = spread_of_few(deviations, of)?;
    if deviations.len() < 2 * MANY {
        return Ok(few);
    }
    let lacking = 2.0 * correlation_at(deviations, 2 * MANY, MANY).max(correlation_at(deviations, 4 * MANY, MANY));
    Ok(if lacking <= LACKING { of_independent(&joined(deviations, MANY), 0.0) } else { few })
}

/// The same by few batches, whatever their dependence.
///
/// # Errors
/// Why nothing can be said of it.
pub fn spread_of_few(deviations: &[f64], of: Sum) -> Result<Spread, NoInterval> {
    if deviations.len() < FEWEST as usize {
        return Err(NoInterval::TooFewSamples { samples: deviations.len() as u64, needed: FEWEST });
    }
    if deviations.iter().all(|&deviation| deviation == 0.0) {
        return Ok(Spread { variance: 0.0, degrees: FEW as f64 - 1.0, skewness: 0.0 });
    }
    if of == Sum::Values && hangs_on_few(deviations) {
        return Err(NoInterval::Few);
    }
    // What 16 independent batches reach once in twenty times, and those of a moving level nearly always.
    let (moving, correctable) = if of == Sum::TailCount { (0.7, 0.6) } else { (0.45, 0.25) };
    let batches = joined(deviations, FEW);
    let own = correlation(&batches);
    if own > moving {
        return Err(NoInterval::Drifting);
    }
    // Less what a correlation of 16, or of 32, may be by chance.
    let shorter =
        [2, 4, 8].map(|times| correlation_at(deviations, times * FEW, FEW) - if times == 2 { 0.09 } else { 0.0 });
    let lacking = 2.0 * shorter.into_iter().fold((own - 0.25).max(0.0), f64::max);
    if lacking > correctable { Err(NoInterval::Dependent) } else { Ok(of_independent(&batches, lacking)) }
}

/// The correlation of `number` batches, as it is of `to` longer ones.
fn correlation_at(deviations: &[f64], number: usize, to: usize) -> f64 {
    let number = number.min(deviations.len());
    correlation(&joined(deviations, number)) * to as f64 / number as f64
}

/// The spread of the sum of independent batches, of which a share `lacking` is added.
fn of_independent(batches: &[f64], lacking: f64) -> Spread {
    let n = batches.len() as f64;
    let mean = batches.iter().sum::<f64>() / n;
    let moment = |power: i32| batches.iter().map(|batch| libm::pow(batch - mean, f64::from(power))).sum::<f64>();
    let squares = moment(2);
    Spread {
        variance: squares * n / (n - 1.0) * (1.0 + lacking),
        degrees: n - 1.0,
        skewness: if squares > 0.0 { moment(3) / libm::pow(squares, 1.5) } else { 0.0 },
    }
}

/// Neighbouring batches joined to `number` longer ones.
fn joined(batches: &[f64], number: usize) -> Vec<f64> {
    let at = |index: usize| index * batches.len() / number;
    (0..number).map(|index| batches[at(index)..at(index + 1)].iter().sum()).collect()
}

/// The correlation of each value with the next, corrected for the bias that the estimated mean brings (Kendall, "Note on
/// bias in the estimation of autocorrelation", Biometrika 41, 1954).
fn correlation(values: &[f64]) -> f64 {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
    if squares == 0.0 {
        return 0.0;
    }
    let found = values.windows(2).map(|pair| (pair[0] - mean) * (pair[1] - mean)).sum::<f64>() / squares;
    found + (1.0 + 3.0 * found.max(0.0)) / n
}

/// Whether a few batches make up most of the variation: the mean then depends on how often something rare happened.
///
/// The number of batches that effectively contribute is (sum d^2)^2 / sum d^4: a third of them if they are normal, and k if
/// k of them outweigh all others by far.
fn hangs_on_few(deviations: &[f64]) -> bool {
    let contribute = |batches: &[f64]| {
        let squares: f64 = batches.iter().map(|d| d * d).sum();
        let fourth: f64 = batches.iter().map(|d| d * d * d * d).sum();
        squares * squares / fourth
    };
    let long = joined(deviations, deviations.len().min(MANY));
    [deviations, &long].iter().any(|batches| contribute(batches) < batches.len() as f64 / 8.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::testing::{drawn, exponential};
    use alloc::vec;

    fn of(samples: &[u64]) -> Result<Spread, NoInterval> {
        let batches = Batches::of(samples.len() as u64);
        let mean = samples.iter().sum::<u64>() as f64 / samples.len() as f64;
        let mut sums = vec![0.0; batches.count()];
        batches.visit(&samples, &mut |batch, piece| {
            sums[batch] += piece.iter().map(|&sample| sample as f64 - mean).sum::<f64>();
        });
        spread(&sums, Sum::Values)
    }

    /// An autoregressive series whose uncertainty is that of `length` times fewer independent samples.
    fn dependent(seed: u64, n: usize, length: f64) -> Vec<u64> {
        let phi = (length - 1.0) / (length + 1.0);
        let mut level = 0.0;
        let noise = exponential(seed, n, 1000.0);
        noise
            .iter()
            .map(|&e| {
                level = phi * level + e as f64;
                level as u64
            })
            .collect()
    }

    #[test]
    fn batches_cover_all_samples_in_order() {
        for n in [1u64, 31, 255, 256, 257, 10_001] {
            let samples: Vec<u64> = (0..n).collect();
            let mut seen = Vec::new();
            Batches::of(n).visit(&samples, &mut |_, piece| seen.extend_from_slice(piece));
            assert_eq!(seen, samples);
        }
    }

    #[test]
    fn independent_samples_have_the_variance_of_their_sum() {
        let given = (0..100).filter_map(|seed| of(&exponential(seed, 4000, 1000.0)).ok());
        let ratios: Vec<f64> = given.map(|spread| spread.variance / 4e9).collect();
        let mean = ratios.iter().sum::<f64>() / ratios.len() as f64;
        assert!(ratios.len() >= 90 && (0.95..1.12).contains(&mean), "{} {mean}", ratios.len());
    }

    #[test]
    fn dependence_is_counted() {
        // The variance of the sum of an AR(1) is n s^2 / (1 - phi)^2, s the deviation of its noise.
        let given: Vec<f64> =
            (0..100).filter_map(|seed| of(&dependent(seed, 20_000, 30.0)).ok()).map(|s| s.variance).collect();
        let one_less_phi = 2.0 / 31.0;
        let expected = 20_000.0 * 1e6 / (one_less_phi * one_less_phi);
        let mean = given.iter().sum::<f64>() / given.len() as f64 / expected;
        assert!(given.len() > 85 && (0.9..1.15).contains(&mean), "{} {mean}", given.len());
    }

    #[test]
    fn a_series_that_is_too_short_for_its_dependence_is_refused() {
        let refused = (0..100).filter(|&seed| of(&dependent(seed, 1000, 200.0)).is_err()).count();
        assert!(refused >= 97, "{refused}");
    }

    #[test]
    fn a_drift_is_refused() {
        let drifting = |seed| -> Vec<u64> {
            exponential(seed, 5000, 1000.0).iter().enumerate().map(|(i, e)| e + i as u64).collect()
        };
        assert!((0..100).all(|seed| of(&drifting(seed)).is_err()));
    }

    #[test]
    fn a_mean_that_hangs_on_a_few_samples_is_refused() {
        let mut samples = exponential(5, 10_000, 1000.0);
        samples[3000..3030].fill(1_000_000);
        assert_eq!(of(&samples), Err(NoInterval::Few));
        // A tail without a variance.
        let heavy = |seed| drawn(seed, 10_000, |u| 1000.0 * libm::pow(u, -0.9));
        let refused = (0..100).filter(|&seed| of(&heavy(seed)) == Err(NoInterval::Few)).count();
        assert!(refused >= 90, "{refused}");
    }

    #[test]
    fn few_samples_and_equal_ones() {
        assert_eq!(of(&[1; 31]), Err(NoInterval::TooFewSamples { samples: 31, needed: 32 }));
        assert_eq!(of(&[7; 500]).unwrap().variance, 0.0);
    }
}
