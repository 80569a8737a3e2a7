//! The kinds of series that are simulated: what a latency may look like, with a truth that is known from theory.
//!
//! Values are nanoseconds around 50 µs, rounded to whole ones as a clock's are.

use std::f64::consts::TAU;

/// Random numbers of one series.
pub struct Random(fastrand::Rng);

impl Random {
    pub fn new(seed: u64) -> Self {
        // Seeds that follow each other give unrelated streams only after a fork.
        Self(fastrand::Rng::with_seed(seed).fork())
    }

    /// In (0, 1].
    pub fn uniform(&mut self) -> f64 {
        1.0 - self.0.f64()
    }

    pub fn normal(&mut self) -> f64 {
        (-2.0 * self.uniform().ln()).sqrt() * (TAU * self.uniform()).cos()
    }

    pub fn exponential(&mut self) -> f64 {
        -self.uniform().ln()
    }

    fn one_in(&mut self, number: f64) -> bool {
        self.0.f64() < 1.0 / number
    }
}

/// What the statements about a kind have to be.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Expected {
    /// True as often as they say, or refused.
    True,
    /// The same, but values repeat, so an interval ends at values that occur and may hold more often than it says.
    Discrete,
    /// Refused: no one value belongs to the series.
    Refused,
}

pub struct Kind {
    pub name: &'static str,
    pub about: &'static str,
    pub sizes: &'static [usize],
    pub expected: Expected,
    pub make: fn(&mut Random, usize) -> Vec<u64>,
    pub truth: Truth,
    /// The expected maximum of so many samples, of independent ones.
    pub maximum: Option<fn(f64) -> f64>,
    /// Whether the tail is so heavy that no maximum may be extrapolated.
    pub heavy: bool,
}

const CENTRE: f64 = 50_000.0;
const SPREAD: f64 = 5_000.0;
const EULER_GAMMA: f64 = 0.577_215_664_901_532_9;

const fn kind(
    name: &'static str,
    about: &'static str,
    sizes: &'static [usize],
    truth: Truth,
    make: fn(&mut Random, usize) -> Vec<u64>,
) -> Kind {
    Kind { name, about, sizes, expected: Expected::True, make, truth, maximum: None, heavy: false }
}

pub const KINDS: &[Kind] = &[
    Kind {
        maximum: Some(|n| CENTRE + SPREAD * upper_normal((-EULER_GAMMA).exp() / n)),
        ..kind("normal", "independent", &[100, 1000, 10_000], NORMAL, |r, n| independent(n, || normal(r)))
    },
    Kind {
        maximum: Some(|n| CENTRE * (n.ln() + EULER_GAMMA)),
        ..kind("exponential", "independent, skewed", &[100, 1000, 10_000], EXPONENTIAL, |r, n| {
            independent(n, || CENTRE * r.exponential())
        })
    },
    kind("log-normal", "independent, σ = 1", &[1000, 10_000], LOG_NORMAL, |r, n| {
        independent(n, || CENTRE * r.normal().exp())
    }),
    Kind {
        maximum: Some(|n| CENTRE + SPREAD * (n.powf(0.1) * libm::tgamma(0.9) - 1.0) / 0.1),
        ..kind(
            "Pareto 0.1",
            "generalised Pareto tail",
            &[10_000],
            Truth { mean: || CENTRE + SPREAD / 0.9, below: |x| pareto_below(x, 0.1) },
            |r, n| pareto(r, n, 0.1),
        )
    },
    Kind {
        maximum: Some(|n| CENTRE + SPREAD * (n.powf(0.2) * libm::tgamma(0.8) - 1.0) / 0.2),
        ..kind(
            "Pareto 0.2",
            "a heavier one",
            &[10_000],
            Truth { mean: || CENTRE + SPREAD / 0.8, below: |x| pareto_below(x, 0.2) },
            |r, n| pareto(r, n, 0.2),
        )
    },
    Kind {
        maximum: Some(|n| CENTRE + SPREAD * (n.powf(0.3) * libm::tgamma(0.7) - 1.0) / 0.3),
        ..kind(
            "Pareto 0.3",
            "heavier again",
            &[1000, 10_000],
            Truth { mean: || CENTRE + SPREAD / 0.7, below: |x| pareto_below(x, 0.3) },
            |r, n| pareto(r, n, 0.3),
        )
    },
    Kind {
        heavy: true,
        ..kind(
            "Pareto 0.5",
            "no variance",
            &[10_000],
            Truth { mean: || CENTRE + SPREAD / 0.5, below: |x| pareto_below(x, 0.5) },
            |r, n| pareto(r, n, 0.5),
        )
    },
    Kind {
        heavy: true,
        ..kind(
            "Pareto 0.7",
            "still heavier",
            &[2000, 10_000],
            Truth { mean: || CENTRE + SPREAD / 0.3, below: |x| pareto_below(x, 0.7) },
            |r, n| pareto(r, n, 0.7),
        )
    },
    kind("AR 0.5", "autoregressive, φ = 0.5", &[1000, 10_000], NORMAL, |r, n| autoregressive(r, n, 0.5, 0.0)),
    kind("AR 0.9", "φ = 0.9", &[1000, 10_000], NORMAL, |r, n| autoregressive(r, n, 0.9, 0.0)),
    kind("AR 0.97", "φ = 0.97", &[1000, 10_000], NORMAL, |r, n| autoregressive(r, n, 0.97, 0.0)),
    kind("AR under noise", "φ = 0.99 under three times as much white noise", &[10_000], UNDER_NOISE, |r, n| {
        autoregressive(r, n, 0.99, 3.0)
    }),
    kind(
        "stalls",
        "1 in 3000 samples begins one of some 30 samples",
        &[10_000, 100_000],
        Truth { mean: || stalls_mean(3000.0), below: |x| stalls_below(x, 3000.0) },
        |r, n| stalls(r, n, 3000.0),
    ),
    kind(
        "many stalls",
        "1 in 300 begins one",
        &[10_000],
        Truth { mean: || stalls_mean(300.0), below: |x| stalls_below(x, 300.0) },
        |r, n| stalls(r, n, 300.0),
    ),
    kind("two modes", "at 20 µs and 120 µs", &[1000, 10_000], TWO_MODES, |r, n| modes(r, n, &[20_000.0, 120_000.0])),
    kind("three modes", "and at 50 µs", &[1000, 10_000], THREE_MODES, |r, n| {
        modes(r, n, &[20_000.0, 50_000.0, 120_000.0])
    }),
    Kind {
        expected: Expected::Discrete,
        ..kind("ties", "exponential in steps of 20 µs", &[1000, 10_000], TIES, |r, n| {
            independent(n, || (CENTRE * r.exponential() / 20_000.0).floor() * 20_000.0)
        })
    },
    kind("tiny", "exponential", &[8, 20], EXPONENTIAL, |r, n| independent(n, || CENTRE * r.exponential())),
    Kind {
        expected: Expected::Refused,
        ..kind("drift", "by two deviations over the series", &[1000, 10_000], MOVING, |r, n| {
            (0..n).map(|i| rounded(normal(r) + 2.0 * SPREAD * i as f64 / n as f64)).collect()
        })
    },
    Kind {
        expected: Expected::Refused,
        ..kind("step", "by two deviations in the middle third", &[1000, 10_000], MOVING, |r, n| {
            let at = n as f64 * (1.0 + r.uniform()) / 3.0;
            (0..n).map(|i| rounded(normal(r) + if i as f64 > at { 2.0 * SPREAD } else { 0.0 })).collect()
        })
    },
    Kind {
        expected: Expected::Refused,
        ..kind("random walk", "under noise", &[1000, 10_000], WALKING, |r, n| {
            let mut level = 0.0;
            (0..n)
                .map(|_| {
                    level += 0.1 * SPREAD * r.normal();
                    rounded(normal(r) + level + 4.0 * CENTRE)
                })
                .collect()
        })
    },
];

fn rounded(value: f64) -> u64 {
    value.max(0.0).round() as u64
}

fn normal(random: &mut Random) -> f64 {
    CENTRE + SPREAD * random.normal()
}

fn independent(n: usize, mut one: impl FnMut() -> f64) -> Vec<u64> {
    (0..n).map(|_| rounded(one())).collect()
}

fn pareto(random: &mut Random, n: usize, shape: f64) -> Vec<u64> {
    independent(n, || CENTRE + SPREAD * (random.uniform().powf(-shape) - 1.0) / shape)
}

fn pareto_below(x: f64, shape: f64) -> f64 {
    1.0 - (1.0 + shape * ((x - CENTRE) / SPREAD).max(0.0)).powf(-1.0 / shape)
}

fn autoregressive(random: &mut Random, n: usize, phi: f64, noise: f64) -> Vec<u64> {
    let mut level = random.normal();
    let innovation = (1.0 - phi * phi).sqrt();
    (0..n)
        .map(|_| {
            level = phi * level + innovation * random.normal();
            rounded(CENTRE + SPREAD * (level + noise * random.normal()) / (1.0 + noise))
        })
        .collect()
}

/// The samples of a stall, on average.
const LENGTH: f64 = 30.0;

/// Mostly normal, but one in `gap` samples begins a stall of 30 on average, each of a millisecond or more.
fn stalls(random: &mut Random, n: usize, gap: f64) -> Vec<u64> {
    let mut stalled = random.one_in((gap + LENGTH) / LENGTH);
    let one = |_| {
        stalled = if stalled { !random.one_in(LENGTH) } else { random.one_in(gap) };
        rounded(if stalled { 1e6 + 2e5 * random.exponential() } else { normal(random) })
    };
    (0..n).map(one).collect()
}

fn stalls_mean(gap: f64) -> f64 {
    (gap * CENTRE + LENGTH * 1.2e6) / (gap + LENGTH)
}

fn stalls_below(x: f64, gap: f64) -> f64 {
    (gap * (NORMAL.below)(x) + LENGTH * -(-(x - 1e6).max(0.0) / 2e5).exp_m1()) / (gap + LENGTH)
}

fn modes(random: &mut Random, n: usize, centres: &[f64]) -> Vec<u64> {
    independent(n, || centres[random.0.usize(0..centres.len())] + 1000.0 * random.normal())
}

fn modes_below(x: f64, centres: &[f64]) -> f64 {
    centres.iter().map(|centre| normal_below((x - centre) / 1000.0)).sum::<f64>() / centres.len() as f64
}

/// What is true of a kind.
#[derive(Clone, Copy)]
pub struct Truth {
    pub mean: fn() -> f64,
    /// The share of values at or below one, before they are rounded.
    below: fn(f64) -> f64,
}

impl Truth {
    /// The value at or below which this share lies.
    pub fn quantile(&self, share: f64) -> u64 {
        let (mut low, mut high) = (0, 1 << 40);
        while low < high {
            let middle = u64::midpoint(low, high);
            if 1.0 - self.misses(middle) >= share { high = middle } else { low = middle + 1 }
        }
        low
    }

    /// The share above a deadline.
    pub fn misses(&self, deadline: u64) -> f64 {
        1.0 - (self.below)(deadline as f64 + 0.5)
    }
}

const NORMAL: Truth = Truth { mean: || CENTRE, below: |x| normal_below((x - CENTRE) / SPREAD) };
const EXPONENTIAL: Truth = Truth { mean: || CENTRE, below: |x| -(-x / CENTRE).exp_m1() };
const LOG_NORMAL: Truth = Truth { mean: || CENTRE * 0.5f64.exp(), below: |x| normal_below((x / CENTRE).ln()) };
/// The sum of a series of deviation 1 and three times as much noise, divided by four.
const UNDER_NOISE: Truth =
    Truth { mean: || CENTRE, below: |x| normal_below(4.0 * (x - CENTRE) / SPREAD / 10f64.sqrt()) };
const TWO_MODES: Truth = Truth { mean: || 70_000.0, below: |x| modes_below(x, &[20_000.0, 120_000.0]) };
const THREE_MODES: Truth =
    Truth { mean: || 190_000.0 / 3.0, below: |x| modes_below(x, &[20_000.0, 50_000.0, 120_000.0]) };
const TIES: Truth = Truth {
    mean: || 20_000.0 / 0.4f64.exp_m1(),
    below: |x| (EXPONENTIAL.below)((x / 20_000.0).floor() * 20_000.0 + 20_000.0),
};
/// No one value belongs to a series that moves; these are about where its values lie.
const MOVING: Truth = Truth { mean: || CENTRE + SPREAD, below: |x| normal_below((x - CENTRE - SPREAD) / SPREAD / 1.2) };
const WALKING: Truth = Truth { mean: || 5.0 * CENTRE, below: |x| normal_below((x - 5.0 * CENTRE) / SPREAD / 5.0) };

fn normal_below(deviations: f64) -> f64 {
    0.5 * libm::erfc(-deviations / std::f64::consts::SQRT_2)
}

/// The value that a normal variable exceeds with this probability.
fn upper_normal(probability: f64) -> f64 {
    let (mut low, mut high) = (0.0, 40.0);
    for _ in 0..200 {
        let middle = f64::midpoint(low, high);
        if normal_below(-middle) > probability { low = middle } else { high = middle }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn series_are_what_is_said_of_them() {
        for kind in KINDS.iter().filter(|kind| kind.expected != Expected::Refused) {
            let mut values: Vec<u64> = (0..20).flat_map(|seed| (kind.make)(&mut Random::new(seed), 20_000)).collect();
            values.sort_unstable();
            for share in [0.5, 0.99] {
                let quantile = kind.truth.quantile(share);
                let below = |limit| values.partition_point(|&value| value <= limit) as f64 / values.len() as f64;
                // Of series that depend on themselves the most, four deviations.
                let around = 4.0 * (share * (1.0 - share) * 70.0 / values.len() as f64).sqrt();
                let [least, most] = [below(quantile.saturating_sub(1)), below(quantile)];
                assert!(least <= share + around && share - around <= most, "{} {share}: {least} {most}", kind.name);
            }
            let mean = values.iter().sum::<u64>() as f64 / values.len() as f64;
            let truth = (kind.truth.mean)();
            assert!(kind.heavy || (mean / truth - 1.0).abs() < 0.15, "{}: {mean} for {truth}", kind.name);
        }
    }
}
