//! The kinds of series that are simulated: what a latency may look like, with a truth that is known.
//!
//! Values are nanoseconds around 50 µs. The truth of quantiles and means is that of four million values of the kind; the
//! expected maximum is known from theory.

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
    make: fn(&mut Random, usize) -> Vec<u64>,
) -> Kind {
    Kind { name, about, sizes, expected: Expected::True, make, maximum: None, heavy: false }
}

pub const KINDS: &[Kind] = &[
    Kind {
        maximum: Some(|n| CENTRE + SPREAD * upper_normal((-EULER_GAMMA).exp() / n)),
        ..kind("normal", "independent", &[100, 1000, 10_000], |r, n| independent(n, || normal(r)))
    },
    Kind {
        maximum: Some(|n| CENTRE * (n.ln() + EULER_GAMMA)),
        ..kind("exponential", "independent, skewed", &[100, 1000, 10_000], |r, n| {
            independent(n, || CENTRE * r.exponential())
        })
    },
    kind("log-normal", "independent, σ = 1", &[1000, 10_000], |r, n| independent(n, || CENTRE * r.normal().exp())),
    Kind {
        maximum: Some(|n| CENTRE + SPREAD * (n.powf(0.1) * libm::tgamma(0.9) - 1.0) / 0.1),
        ..kind("Pareto 0.1", "generalised Pareto tail", &[10_000], |r, n| pareto(r, n, 0.1))
    },
    Kind {
        maximum: Some(|n| CENTRE + SPREAD * (n.powf(0.2) * libm::tgamma(0.8) - 1.0) / 0.2),
        ..kind("Pareto 0.2", "a heavier one", &[10_000], |r, n| pareto(r, n, 0.2))
    },
    Kind {
        maximum: Some(|n| CENTRE + SPREAD * (n.powf(0.3) * libm::tgamma(0.7) - 1.0) / 0.3),
        ..kind("Pareto 0.3", "heavier again", &[1000, 10_000], |r, n| pareto(r, n, 0.3))
    },
    Kind { heavy: true, ..kind("Pareto 0.5", "no variance", &[10_000], |r, n| pareto(r, n, 0.5)) },
    Kind { heavy: true, ..kind("Pareto 0.7", "still heavier", &[2000, 10_000], |r, n| pareto(r, n, 0.7)) },
    kind("AR 0.5", "autoregressive, φ = 0.5", &[1000, 10_000], |r, n| autoregressive(r, n, 0.5, 0.0)),
    kind("AR 0.9", "φ = 0.9", &[1000, 10_000], |r, n| autoregressive(r, n, 0.9, 0.0)),
    kind("AR 0.97", "φ = 0.97", &[1000, 10_000], |r, n| autoregressive(r, n, 0.97, 0.0)),
    kind("AR under noise", "φ = 0.99 under three times as much white noise", &[10_000], |r, n| {
        autoregressive(r, n, 0.99, 3.0)
    }),
    kind("stalls", "1 in 3000 samples begins one of some 30 samples", &[10_000, 100_000], |r, n| stalls(r, n, 3000.0)),
    kind("many stalls", "1 in 300 begins one", &[10_000], |r, n| stalls(r, n, 300.0)),
    kind("two modes", "at 20 µs and 120 µs", &[1000, 10_000], |r, n| modes(r, n, &[20_000.0, 120_000.0])),
    kind("three modes", "and at 50 µs", &[1000, 10_000], |r, n| modes(r, n, &[20_000.0, 50_000.0, 120_000.0])),
    Kind {
        expected: Expected::Discrete,
        ..kind("ties", "exponential in steps of 20 µs", &[1000, 10_000], |r, n| {
            independent(n, || (CENTRE * r.exponential() / 20_000.0).floor() * 20_000.0)
        })
    },
    kind("tiny", "exponential", &[8, 20], |r, n| independent(n, || CENTRE * r.exponential())),
    Kind {
        expected: Expected::Refused,
        ..kind("drift", "by two deviations over the series", &[1000, 10_000], |r, n| {
            (0..n).map(|i| rounded(normal(r) + 2.0 * SPREAD * i as f64 / n as f64)).collect()
        })
    },
    Kind {
        expected: Expected::Refused,
        ..kind("step", "by two deviations in the middle third", &[1000, 10_000], |r, n| {
            let at = n as f64 * (1.0 + r.uniform()) / 3.0;
            (0..n).map(|i| rounded(normal(r) + if i as f64 > at { 2.0 * SPREAD } else { 0.0 })).collect()
        })
    },
    Kind {
        expected: Expected::Refused,
        ..kind("random walk", "under noise", &[1000, 10_000], |r, n| {
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

/// Mostly normal, but one in `gap` samples begins a stall of 30 on average, each of a millisecond or more.
fn stalls(random: &mut Random, n: usize, gap: f64) -> Vec<u64> {
    const LENGTH: f64 = 30.0;
    let mut stalled = random.one_in((gap + LENGTH) / LENGTH);
    let one = |_| {
        stalled = if stalled { !random.one_in(LENGTH) } else { random.one_in(gap) };
        rounded(if stalled { 1e6 + 2e5 * random.exponential() } else { normal(random) })
    };
    (0..n).map(one).collect()
}

fn modes(random: &mut Random, n: usize, centres: &[f64]) -> Vec<u64> {
    independent(n, || centres[random.0.usize(0..centres.len())] + 1000.0 * random.normal())
}

/// The value that a normal variable exceeds with this probability.
fn upper_normal(probability: f64) -> f64 {
    let (mut low, mut high) = (0.0, 40.0);
    for _ in 0..200 {
        let middle = f64::midpoint(low, high);
        if 0.5 * libm::erfc(middle / std::f64::consts::SQRT_2) > probability { low = middle } else { high = middle }
    }
    low
}

/// What is true of a kind.
pub struct Truth {
    pub mean: f64,
    sorted: Vec<u64>,
}

impl Truth {
    pub fn of(kind: &Kind) -> Truth {
        const PIECES: u64 = 40;
        let mut sorted: Vec<u64> =
            (0..PIECES).flat_map(|piece| (kind.make)(&mut Random::new(u64::MAX - piece), 100_000)).collect();
        sorted.sort_unstable();
        Truth { mean: sorted.iter().map(|&value| value as f64).sum::<f64>() / sorted.len() as f64, sorted }
    }

    /// The value below which this share lies.
    pub fn quantile(&self, share: f64) -> u64 {
        self.sorted[(share * self.sorted.len() as f64) as usize]
    }

    /// The share above a deadline.
    pub fn misses(&self, deadline: u64) -> f64 {
        (self.sorted.len() - self.sorted.partition_point(|&value| value <= deadline)) as f64 / self.sorted.len() as f64
    }
}
