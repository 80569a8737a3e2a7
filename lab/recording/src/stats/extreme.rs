//! Extreme values: an estimate of how large the maximum may become, or the reason why no estimate is given.
//!
//! The series is divided into about sqrt(n) blocks (200 at most), the maxima of the blocks are fitted by a generalised
//! extreme value distribution ([`super::gev`]), and the expected maximum of 10 or 100 times as many samples follows from
//! it. Block maxima are preferred to the excesses over a threshold because a block swallows a burst of late samples
//! whole: excesses would need declustering, and a threshold that nobody can check.
//!
//! A fit returns figures for any series, so its use depends on refusing it when its assumptions are visibly wrong;
//! every reason is a [`Refusal`]. The tests that a good series also fails by chance are done at 1 %, that of the fit
//! itself at 5 %. The p-value of the fit comes from a parametric bootstrap: series of maxima are drawn from the fit and
//! fitted again. A tail is taken for too heavy unless the maxima speak against it: estimates of heavy shapes are too low, so
//! the estimate must lie below 99 % of those of series with the shape 0.5.
//!
//! The intervals are those of the likelihood ([`super::likelihood`]). They hold the uncertainty of the fit, not the
//! scatter of a single future maximum, and not a change of the system.

use super::gev::{Gev, Level};
use super::likelihood::Likelihood;
use super::no_interval::NoInterval;
use super::options::Options;
use super::samples::Samples;
use alloc::vec::Vec;
use core::fmt;

/// Fewer maxima than this are not fitted.
const FEWEST: u64 = 40;
const MOST: u64 = 200;
/// Ties are refused above this share of maxima that repeat another.
const TIED: f64 = 0.25;
/// The p-value below which maxima are called drifting or correlated.
const DOUBT: f64 = 0.01;
/// The p-value below which the fit is rejected.
const REJECTED: f64 = 0.05;
/// A tail with this shape has no variance, and its extrapolation no useful bound.
const HEAVIEST: f64 = 0.5;

/// A fit to the maxima of blocks of samples.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "std", derive(serde::Serialize))]
pub struct Extreme {
    /// The number of maxima, and the number of samples (rounded down) that each is the maximum of.
    pub maxima: u64,
    pub block: u64,
    /// The parameters of the distribution; location and scale are in the unit of the samples.
    pub location: f64,
    pub scale: f64,
    pub shape: f64,
    /// The statistic of Anderson and Darling, and how often a series that does follow the fit has a greater one.
    pub anderson_darling: f64,
    pub p_value: f64,
    /// The expected maximum of as many times as many samples as was asked for.
    pub levels: Vec<Level>,
}

/// Why the maximum is not extrapolated.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "std", derive(serde::Serialize))]
#[cfg_attr(feature = "std", serde(rename_all = "kebab-case"))]
pub enum Refusal {
    TooFewSamples {
        samples: u64,
        needed: u64,
    },
    /// Its samples are not all there, or not in their order.
    Incomplete {
        why: NoInterval,
    },
    Tied {
        maxima: u64,
        distinct: u64,
    },
    NotStationary {
        p_value: f64,
    },
    Autocorrelated {
        correlation: f64,
    },
    TooHeavy {
        shape: f64,
    },
    Rejected {
        p_value: f64,
    },
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::TooFewSamples { samples, needed } => write!(
                f,
                "The series has {samples} samples; the maximum is extrapolated from {needed} on. Take more samples."
            ),
            Refusal::Incomplete { why } => write!(f, "The maximum is not extrapolated: {why}."),
            Refusal::Tied { maxima, distinct } => write!(
                f,
                "Only {distinct} of the {maxima} block maxima differ, so they are too coarse for a continuous \
                 distribution. Measure with a finer clock."
            ),
            Refusal::NotStationary { p_value } => write!(
                f,
                "The maxima of the first and of the second half of the series differ (p = {p_value:.4}), so what was \
                 seen says little about what is to come. Find out what changed during the run."
            ),
            Refusal::Autocorrelated { correlation } => write!(
                f,
                "Neighbouring block maxima resemble each other (rank correlation {correlation:.2}), so they are not \
                 independent. A longer run has longer blocks, which may help."
            ),
            Refusal::TooHeavy { shape } => write!(
                f,
                "The tail may be too heavy to extrapolate (its shape is estimated as {shape:.2}, and a tail of {HEAVIEST}, which \
                 has no useful bound, looks like that): rare samples are far greater than all others. Look for their cause \
                 rather than for their limit."
            ),
            Refusal::Rejected { p_value } => write!(
                f,
                "The block maxima do not follow an extreme-value distribution (p = {p_value:.3}), probably because they \
                 come from more than one cause. They are not extrapolated."
            ),
        }
    }
}

impl core::error::Error for Refusal {}

impl Extreme {
    /// Fits the series and extrapolates to `factors` times as many further samples. Reads the samples once.
    pub fn of(samples: &dyn Samples, factors: &[u64], options: &Options) -> Result<Extreme, Refusal> {
        let (count, missing) = (samples.len(), samples.unrecorded());
        if !missing.is_complete() || missing.unordered {
            let why = if missing.is_complete() { NoInterval::Unordered } else { NoInterval::Unrecorded };
            return Err(Refusal::Incomplete { why });
        }
        let needed = FEWEST * FEWEST;
        if count < needed {
            return Err(Refusal::TooFewSamples { samples: count, needed });
        }
        let maxima = block_maxima(samples, count.isqrt().min(MOST));
        let mut sorted = maxima.clone();
        sorted.sort_unstable_by(f64::total_cmp);
        check(&maxima, &sorted)?;

        let number = maxima.len() as u64;
        // Not all are equal, since the check of ties has passed.
        let fit = Gev::fit(&sorted).ok_or(Refusal::Tied { maxima: number, distinct: 1 })?;
        if fit.shape >= lightest_of_heavy(sorted.len(), options) {
            return Err(Refusal::TooHeavy { shape: fit.shape });
        }

        let anderson_darling = fit.anderson_darling(&sorted);
        let mut again = 0;
        let mut worse = 0;
        refit(&fit, sorted.len(), options, &mut |drawn, fit| {
            again += 1;
            worse += u32::from(fit.anderson_darling(drawn) >= anderson_darling);
        });
        let p_value = f64::from(worse + 1) / f64::from(again + 1);
        if p_value < REJECTED {
            return Err(Refusal::Rejected { p_value });
        }
        let likelihood = Likelihood::of(&sorted, fit);
        let levels = factors.iter().map(|&factor| {
            let blocks = factor.max(1) as f64 * number as f64;
            Level {
                samples: factor.max(1).saturating_mul(count),
                expected: fit.expected_maximum(blocks),
                interval: likelihood.expected_maximum(blocks, limits(fit.shape)),
            }
        });
        Ok(Extreme {
            maxima: number,
            block: count / number,
            location: fit.location,
            scale: fit.scale,
            shape: fit.shape,
            anderson_darling,
            p_value,
            levels: levels.collect(),
        })
    }
}

/// The limits of the deviance at the low and at the high end of an interval, for a tail whose shape is estimated as this.
///
/// Both would be 3.84 if block maxima followed their distribution and every estimate were
/// given. But those of a light tail approach the distribution from below, so an extrapolated maximum is rather too low than too high;
/// those of a heavier one are there sooner. And what looks too heavy is refused, with it most of the estimates that are too high. With
/// these limits the interval holds as often as it says (`./x bench trust`).
fn limits(shape: f64) -> [f64; 2] {
    let between = |light: f64, heavy: f64, from: f64, to: f64| {
        light + (heavy - light) * ((shape - from) / (to - from)).clamp(0.0, 1.0)
    };
    [between(2.9, 2.1, 0.05, 0.15), between(4.8, 3.4, -0.05, 0.05)]
}

/// The maximum of each of `blocks` blocks whose lengths differ by at most one sample.
fn block_maxima(samples: &dyn Samples, blocks: u64) -> Vec<f64> {
    let start = |block: u64| (u128::from(samples.len()) * u128::from(block) / u128::from(blocks)) as u64;
    let maximum = |block| {
        let mut max = 0;
        samples.visit(start(block), start(block + 1), &mut |piece| max = piece.iter().copied().fold(max, u64::max));
        max as f64
    };
    (0..blocks).map(maximum).collect()
}

/// Whether the maxima, given as taken and sorted, may be taken for independent draws from one continuous distribution.
fn check(maxima: &[f64], sorted: &[f64]) -> Result<(), Refusal> {
    let number = maxima.len();
    let distinct = 1 + sorted.windows(2).filter(|pair| pair[0] < pair[1]).count();
    if (number - distinct) as f64 > TIED * number as f64 {
        return Err(Refusal::Tied { maxima: number as u64, distinct: distinct as u64 });
    }
    // Ranks rather than values, since a single far outlier would hide everything else.
    let ranks: Vec<f64> = maxima
        .iter()
        .map(|value| {
            let below = sorted.partition_point(|other| other < value);
            let within = sorted.partition_point(|other| other <= value);
            (below + within) as f64 / 2.0
        })
        .collect();
    let p_value = kolmogorov_smirnov(&ranks);
    if p_value < DOUBT {
        return Err(Refusal::NotStationary { p_value });
    }
    // Under independence the correlation is about normal with mean -1/n and deviation 1/sqrt(n); 2.326 is the 99 % point.
    let correlation = lag_one_correlation(&ranks);
    if (correlation + 1.0 / number as f64) * libm::sqrt(number as f64) > 2.326 {
        return Err(Refusal::Autocorrelated { correlation });
    }
    Ok(())
}

/// The p-value of the test of Kolmogorov and Smirnov that the two halves of the values are from one distribution, by its
/// limit with Stephens' correction for small samples ("EDF statistics for goodness of fit and some comparisons", 1974).
fn kolmogorov_smirnov(values: &[f64]) -> f64 {
    let (first, second) = values.split_at(values.len() / 2);
    let share = |of: &[f64], limit: f64| of.iter().filter(|&&value| value <= limit).count() as f64 / of.len() as f64;
    let distance = values.iter().map(|&value| (share(first, value) - share(second, value)).abs()).fold(0.0, f64::max);
    let root = libm::sqrt(first.len() as f64 * second.len() as f64 / values.len() as f64);
    let lambda = (root + 0.12 + 0.11 / root) * distance;
    if lambda < 0.2 {
        // The series converges too slowly here, and the value differs from 1 by less than 1e-11.
        return 1.0;
    }
    let term =
        |k: i32| 2.0 * libm::exp(-2.0 * f64::from(k * k) * lambda * lambda) * if k % 2 == 1 { 1.0 } else { -1.0 };
    (1..=100).map(term).sum::<f64>().clamp(0.0, 1.0)
}

/// The correlation of each value with the next.
fn lag_one_correlation(values: &[f64]) -> f64 {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
    values.windows(2).map(|pair| (pair[0] - mean) * (pair[1] - mean)).sum::<f64>() / squares
}

/// Draws as many series of so many maxima from `gev` as there are to be resamples, and calls `see` with each, sorted, and
/// with the fit to it.
fn refit(gev: &Gev, maxima: usize, options: &Options, see: &mut dyn FnMut(&[f64], Gev)) {
    let mut random = options.random();
    for _ in 0..options.resamples.max(40) {
        let mut drawn: Vec<f64> = (0..maxima).map(|_| gev.draw(&mut random)).collect();
        drawn.sort_unstable_by(f64::total_cmp);
        if let Some(fit) = Gev::fit(&drawn) {
            see(&drawn, fit);
        }
    }
}

/// Below this an estimated shape speaks against a tail as heavy as [`HEAVIEST`]: one in a hundred of its series has a lower one.
fn lightest_of_heavy(maxima: usize, options: &Options) -> f64 {
    let mut shapes = Vec::new();
    refit(&Gev { location: 0.0, scale: 1.0, shape: HEAVIEST }, maxima, options, &mut |_, fit| shapes.push(fit.shape));
    shapes.sort_unstable_by(f64::total_cmp);
    shapes.get(shapes.len() / 100).copied().unwrap_or(f64::NEG_INFINITY)
}

#[cfg(test)]
#[path = "extreme_tests.rs"]
mod tests;
