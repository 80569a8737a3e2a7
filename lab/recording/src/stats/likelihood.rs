//! Maximum likelihood of the generalised extreme value distribution, and intervals of the expected maximum by the profile
//! of the likelihood.
//!
//! The interval holds every expected maximum that some distribution has with which the maxima are nearly as likely as with
//! the best one: twice the logarithm of the ratio of likelihoods, the *deviance*, stays below a quantile of the chi-squared
//! distribution with one degree of freedom (Coles, "An Introduction to Statistical Modeling of Extreme Values", 2001, section
//! 2.6.6). Unlike the middle of resampled fits it is as lopsided as the matter is: a heavier tail can never be excluded as
//! well as a lighter one.

use super::gev::Gev;
use super::interval::Interval;

/// Maxima in the unit of a fit to them: counted from its location, in its scale.
pub struct Likelihood<'a> {
    maxima: &'a [f64],
    fit: Gev,
}

impl<'a> Likelihood<'a> {
    pub fn of(maxima: &'a [f64], fit: Gev) -> Likelihood<'a> {
        Likelihood { maxima, fit }
    }

    /// The interval of the expected maximum of so many blocks, with these limits of the deviance at its low and at its high end:
    /// 3.84 at both for 95 %, if the maxima follow the distribution. Its upper end is infinite where nothing bounds it.
    pub fn expected_maximum(&self, blocks: f64, limits: [f64; 2]) -> Interval {
        let start = [0.0, 0.0, self.fit.shape];
        let (best, least) = minimum(start, [0.2, 0.2, 0.1], &|[location, scale, shape]| {
            self.deviance(location, libm::exp(scale), shape)
        });
        let standard = |scale: f64, shape: f64| Gev { location: 0.0, scale, shape }.expected_maximum(blocks);
        let expected = best[0] + standard(libm::exp(best[1]), best[2]);
        let end = |direction: f64| {
            let mut near = [best[1], best[2]];
            // The least deviance of a distribution with this expected maximum.
            let limit = limits[usize::from(direction > 0.0)];
            let mut is_likely = |maximum: f64| {
                let (found, deviance) = minimum(near, [0.1, 0.05 * direction], &|[scale, shape]| {
                    let scale = libm::exp(scale);
                    self.deviance(maximum - standard(scale, shape), scale, shape)
                });
                near = found;
                deviance - least <= limit
            };
            let (mut inside, mut step) = (expected, libm::exp(best[1]) / 2.0);
            let mut outside = loop {
                let next = inside + direction * step;
                if !is_likely(next) {
                    break next;
                }
                if step > 1e12 {
                    return direction * f64::INFINITY;
                }
                (inside, step) = (next, step * 1.6);
            };
            for _ in 0..20 {
                let middle = f64::midpoint(inside, outside);
                if is_likely(middle) { inside = middle } else { outside = middle }
            }
            f64::midpoint(inside, outside)
        };
        let [low, high] = [end(-1.0), end(1.0)].map(|end| self.fit.location + self.fit.scale * end);
        Interval { low, high }
    }

    /// -2 ln of the likelihood; infinite for a distribution under which a maximum is impossible, or whose mean is infinite.
    fn deviance(&self, location: f64, scale: f64, shape: f64) -> f64 {
        if scale <= 0.0 || !(-0.99..0.99).contains(&shape) {
            return f64::INFINITY;
        }
        let mut sum = self.maxima.len() as f64 * libm::log(scale);
        for maximum in self.maxima {
            let z = ((maximum - self.fit.location) / self.fit.scale - location) / scale;
            if shape.abs() < 1e-6 {
                sum += z + libm::exp(-z);
                continue;
            }
            let base = 1.0 + shape * z;
            if base <= 0.0 {
                return f64::INFINITY;
            }
            let log = libm::log(base);
            sum += (1.0 + 1.0 / shape) * log + libm::exp(-log / shape);
        }
        2.0 * sum
    }
}

/// A minimum of `f` near `start`, by the simplex method of Nelder and Mead ("A simplex method for function minimization",
/// Computer Journal 7, 1965), which needs no derivatives and bears infinite values.
fn minimum<const N: usize>(start: [f64; N], steps: [f64; N], f: &dyn Fn([f64; N]) -> f64) -> ([f64; N], f64) {
    let mut corners = [(start, f(start)); 4];
    let corners = &mut corners[..=N];
    for (index, step) in steps.into_iter().enumerate() {
        let mut corner = start;
        corner[index] += step;
        corners[index + 1] = (corner, f(corner));
    }
    for _ in 0..400 {
        corners.sort_by(|a, b| a.1.total_cmp(&b.1));
        let (best, worst) = (corners[0], corners[N]);
        if (worst.1 - best.1).abs() < 1e-7 {
            break;
        }
        let mut centre = [0.0; N];
        for (corner, _) in &corners[..N] {
            centre.iter_mut().zip(corner).for_each(|(sum, x)| *sum += x / N as f64);
        }
        // On the line from the worst corner through the centre of the others: 1 is the worst.
        let at = |place: f64| {
            let point = core::array::from_fn(|i| centre[i] + place * (worst.0[i] - centre[i]));
            (point, f(point))
        };
        let reflected = at(-1.0);
        let next = if reflected.1 < best.1 {
            let expanded = at(-2.0);
            if expanded.1 < reflected.1 { expanded } else { reflected }
        } else if reflected.1 < corners[N - 1].1 {
            reflected
        } else {
            at(if reflected.1 < worst.1 { -0.5 } else { 0.5 })
        };
        if next.1 < worst.1 {
            corners[N] = next;
            continue;
        }
        for (corner, value) in &mut corners[1..] {
            corner.iter_mut().zip(best.0).for_each(|(x, best)| *x = f64::midpoint(*x, best));
            *value = f(*corner);
        }
    }
    corners.sort_by(|a, b| a.1.total_cmp(&b.1));
    corners[0]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::Options;
    use alloc::vec::Vec;

    #[test]
    fn the_minimum_of_a_curved_valley_is_found() {
        // Rosenbrock's.
        let valley = |[x, y]: [f64; 2]| (1.0 - x) * (1.0 - x) + 100.0 * (y - x * x) * (y - x * x);
        let ([x, y], least) = minimum([-1.2, 1.0], [0.5, 0.5], &valley);
        assert!((x - 1.0).abs() < 0.01 && (y - 1.0).abs() < 0.01 && least < 1e-4, "{x} {y}");
    }

    #[test]
    fn the_interval_holds_the_expected_maximum() {
        for shape in [-0.2, 0.0, 0.2] {
            let truth = Gev { location: 1000.0, scale: 50.0, shape };
            let held = (0..200).filter(|&seed| {
                let mut random = Options { seed, ..Options::default() }.random();
                let mut maxima: Vec<f64> = (0..100).map(|_| truth.draw(&mut random)).collect();
                maxima.sort_unstable_by(f64::total_cmp);
                let fit = Gev::fit(&maxima).unwrap();
                Likelihood::of(&maxima, fit)
                    .expected_maximum(1000.0, [3.84; 2])
                    .contains(truth.expected_maximum(1000.0))
            });
            let held = held.count();
            assert!((186..=199).contains(&held), "{held} of 200 with shape {shape}");
        }
    }
}
