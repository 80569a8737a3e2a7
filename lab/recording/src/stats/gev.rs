//! The generalised extreme value distribution, which the maxima of long blocks of samples approach if they have a limit
//! at all.
//!
//! F(x) = exp(-t), t = (1 + shape (x - location) / scale)^(-1/shape), or exp(-(x - location) / scale) when the shape is 0.
//! A shape below 0 has an upper bound (Weibull), 0 is Gumbel, above 0 the tail is heavy (Fréchet). Hosking's own shape
//! parameter k is the negative of this one.
//!
//! The distribution is fitted by L-moments (Hosking, "L-moments: analysis and estimation of distributions using linear
//! combinations of order statistics", J. R. Statist. Soc. B 52, 1990), which need no iteration, exist whenever the mean
//! does, and are known to be more reliable than maximum likelihood for the few dozen maxima that a series yields.

use super::interval::Interval;
use core::f64::consts::LN_2;

const EULER_GAMMA: f64 = 0.577_215_664_901_532_9;
/// Below this the formulas for a shape lose more digits than those of the limit are wrong.
const NO_SHAPE: f64 = 1e-6;

/// Location and scale are in the unit of the samples.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gev {
    pub location: f64,
    pub scale: f64,
    pub shape: f64,
}

impl Gev {
    /// Fits sorted values by L-moments; `None` when there are fewer than 3 or they do not vary.
    pub fn fit(sorted: &[f64]) -> Option<Gev> {
        if sorted.len() < 3 {
            return None;
        }
        // The probability-weighted moments b0, b1, b2, unbiased.
        let n = sorted.len() as f64;
        // Counted from the lowest value, so that nothing of a small spread is lost beside a large value.
        let lowest = sorted[0];
        let (mut b0, mut b1, mut b2) = (0.0, 0.0, 0.0);
        for (index, value) in sorted.iter().enumerate() {
            let (i, value) = (index as f64, value - lowest);
            b0 += value / n;
            b1 += value * i / (n * (n - 1.0));
            b2 += value * i * (i - 1.0) / (n * (n - 1.0) * (n - 2.0));
        }
        let (l1, l2, l3) = (b0, 2.0 * b1 - b0, 6.0 * b2 - 6.0 * b1 + b0);
        if !(l2 > 0.0 && l2.is_finite()) {
            return None;
        }
        // Hosking, Wallis and Wood's approximation, off by less than 9e-4 for skewnesses l3/l2 from -0.5 to 0.5.
        let c = 2.0 / (3.0 + l3 / l2) - LN_2 / libm::log(3.0);
        let k = 7.8590 * c + 2.9554 * c * c;
        if k.abs() < NO_SHAPE {
            let scale = l2 / LN_2;
            return Some(Gev { location: lowest + l1 - EULER_GAMMA * scale, scale, shape: 0.0 });
        }
        let gamma = libm::tgamma(1.0 + k);
        let scale = l2 * k / ((1.0 - libm::exp2(-k)) * gamma);
        let fit = Gev { location: lowest + l1 - scale * (1.0 - gamma) / k, scale, shape: -k };
        (fit.scale > 0.0 && fit.scale.is_finite()).then_some(fit)
    }

    /// -ln F(x).
    fn exceedance(&self, x: f64) -> f64 {
        let z = (x - self.location) / self.scale;
        if self.shape.abs() < NO_SHAPE {
            libm::exp(-z)
        } else {
            libm::pow((1.0 + self.shape * z).max(0.0), -1.0 / self.shape)
        }
    }

    /// The value with the given -ln F, the inverse of the distribution function.
    pub fn at_exceedance(&self, t: f64) -> f64 {
        let z =
            if self.shape.abs() < NO_SHAPE { -libm::log(t) } else { (libm::pow(t, -self.shape) - 1.0) / self.shape };
        self.location + self.scale * z
    }

    /// A random value.
    pub fn draw(&self, random: &mut fastrand::Rng) -> f64 {
        self.at_exceedance(-libm::log(1.0 - random.f64()).min(-f64::MIN_POSITIVE))
    }

    /// The mean of the greatest of `n >= 1` independent values, which follows the same distribution with another location
    /// and scale. Infinite for a shape of 1 or more.
    pub fn expected_maximum(&self, n: f64) -> f64 {
        if self.shape >= 1.0 {
            f64::INFINITY
        } else if self.shape.abs() < NO_SHAPE {
            self.location + self.scale * (libm::log(n) + EULER_GAMMA)
        } else {
            let power = libm::pow(n, self.shape) * libm::tgamma(1.0 - self.shape);
            self.location + self.scale * (power - 1.0) / self.shape
        }
    }

    /// The statistic of Anderson and Darling for sorted values: how far their distribution is from this one, with the
    /// weight on the tails. A value outside the support counts as just about impossible rather than as infinity.
    pub fn anderson_darling(&self, sorted: &[f64]) -> f64 {
        let n = sorted.len();
        let exceedance = |x| self.exceedance(x).clamp(1e-300, 700.0);
        let sum: f64 = (0..n)
            .map(|index| {
                let ln_below = -exceedance(sorted[index]);
                let ln_above = libm::log(-libm::expm1(-exceedance(sorted[n - 1 - index])));
                (2 * index + 1) as f64 * (ln_below + ln_above)
            })
            .sum();
        -(n as f64) - sum / n as f64
    }
}

/// The expected maximum of so many further samples, with the 95 % interval that the uncertainty of the fit leaves.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "std", derive(serde::Serialize))]
pub struct Level {
    pub samples: u64,
    pub expected: f64,
    pub interval: Interval,
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    const SHAPES: [f64; 5] = [-0.4, -0.1, 0.0, 0.15, 0.4];

    fn drawn(gev: &Gev, n: usize, seed: u64) -> Vec<f64> {
        let mut random = crate::stats::Options { seed, ..Default::default() }.random();
        let mut values: Vec<f64> = (0..n).map(|_| gev.draw(&mut random)).collect();
        values.sort_unstable_by(f64::total_cmp);
        values
    }

    #[test]
    fn a_fit_finds_the_parameters_again() {
        for shape in SHAPES {
            let truth = Gev { location: 1000.0, scale: 50.0, shape };
            let fit = Gev::fit(&drawn(&truth, 100_000, 11)).unwrap();
            assert!((fit.location - 1000.0).abs() < 1.0, "{fit:?}");
            assert!((fit.scale - 50.0).abs() < 1.0, "{fit:?}");
            assert!((fit.shape - shape).abs() < 0.02, "{fit:?}");
        }
    }

    #[test]
    fn values_that_do_not_vary_have_no_fit() {
        assert_eq!(Gev::fit(&[5.0; 50]), None);
        assert_eq!(Gev::fit(&[1.0, 2.0]), None);
    }

    #[test]
    fn the_distribution_function_and_its_inverse_agree() {
        for shape in SHAPES {
            let gev = Gev { location: 10.0, scale: 2.0, shape };
            for t in [1e-6, 0.01, 0.7, 1.0, 5.0] {
                let again = gev.exceedance(gev.at_exceedance(t));
                assert!((again / t - 1.0).abs() < 1e-9, "{shape} {t} {again}");
            }
        }
    }

    #[test]
    fn the_expected_maximum_is_the_mean_of_maxima() {
        for shape in SHAPES {
            let gev = Gev { location: 1000.0, scale: 50.0, shape };
            let mut random = fastrand::Rng::with_seed(12);
            let mean =
                (0..20_000).map(|_| (0..20).map(|_| gev.draw(&mut random)).fold(f64::MIN, f64::max)).sum::<f64>()
                    / 20_000.0;
            let expected = gev.expected_maximum(20.0);
            assert!((mean - expected).abs() < 0.02 * (expected - 900.0), "{shape}: {mean} {expected}");
        }
    }

    #[test]
    fn the_statistic_of_anderson_and_darling_has_its_known_mean_and_grows_with_the_misfit() {
        // Its mean is 1 for any sample size when the parameters are known.
        let gev = Gev { location: 0.0, scale: 1.0, shape: 0.1 };
        let mean = (0..400).map(|seed| gev.anderson_darling(&drawn(&gev, 50, seed))).sum::<f64>() / 400.0;
        assert!((0.9..1.1).contains(&mean), "{mean}");
        let other = Gev { location: 0.5, ..gev };
        assert!(other.anderson_darling(&drawn(&gev, 50, 1)) > 2.5);
        let far = Gev { location: 0.0, scale: 1.0, shape: -0.9 };
        assert!(far.anderson_darling(&drawn(&gev, 50, 1)).is_finite());
    }
}
