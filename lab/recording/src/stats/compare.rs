//! Is A faster than B? The ratio of a statistic of two sides, with its interval and a verdict.
//!
//! Trials that were interleaved are compared round by round, because a machine drifts ([`Design::Rounds`]): the ratio comes
//! from the rounds' ratios ([`super::rounds`]). Otherwise each side is resampled by itself:
//!
//! The sides of a comparison are trials: fresh processes, started in turn. What differs from start to start (memory layout,
//! placement, what else ran) is often more than what differs from sample to sample, and more samples of one process do
//! not average it out. With 5 or more trials on both sides, therefore, whole trials are resampled (a cluster bootstrap):
//! the figure of a side is the median of the statistic of its trials, and each resample draws as many trials as there
//! are, each side by itself. With fewer trials there is nothing to resample: the samples are pooled and their blocks
//! resampled ([`super::bootstrap`]), which knows nothing of the variation between starts. The result says which was done.
//!
//! A difference is supported when the 95 % interval of the ratio excludes 1. With 5 trials a side the interval cannot be
//! narrower than the trials themselves differ.

use super::bootstrap::{self, percentile_interval};
use super::quantile::Quantile;
use super::rounds;
use super::samples::{Samples, Together};
use super::shape::Shape;
use super::{Interval, Options, Statistic};
use alloc::vec;
use alloc::vec::Vec;
use core::fmt;

/// From this number of trials on both sides, trials are resampled.
pub const ENOUGH_TRIALS: usize = 5;

/// What is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "std", derive(serde::Serialize))]
#[cfg_attr(feature = "std", serde(rename_all = "kebab-case"))]
pub enum Measure {
    Mean,
    Median,
    P99,
    /// Only by trials: pooled samples say nothing about how their maximum might have turned out.
    Max,
}

/// What was resampled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "std", derive(serde::Serialize))]
#[cfg_attr(feature = "std", serde(rename_all = "kebab-case"))]
pub enum Method {
    /// Rounds of interleaved trials; the ratio comes from the rounds' ratios.
    Rounds,
    /// Whole trials; the figure of a side is the median of its trials.
    Trials,
    /// Blocks of the pooled samples; the variation from start to start is not in the interval.
    Blocks,
}

/// How the trials of the two sides relate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Design {
    /// Trial n of A and trial n of B ran in the same round: what changes from round to round (another tenant of the
    /// machine) changes both, and the ratio within a round does not have it.
    Rounds,
    /// They were taken at other times.
    Apart,
}

/// What the interval of the ratio supports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "std", derive(serde::Serialize))]
#[cfg_attr(feature = "std", serde(rename_all = "kebab-case"))]
pub enum Verdict {
    /// A is lower than B.
    Lower,
    /// A is higher than B.
    Higher,
    /// The interval holds 1: the samples do not support that there is a difference.
    NoDifferenceSupported,
}

#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "std", derive(serde::Serialize))]
pub struct Comparison {
    pub measure: Measure,
    /// The figures of the two sides, in the unit of the samples.
    pub a: f64,
    pub b: f64,
    /// a / b, and its 95 % interval.
    pub ratio: f64,
    pub interval: Interval,
    pub method: Method,
    pub verdict: Verdict,
}

/// Why two sides cannot be compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "std", derive(serde::Serialize))]
#[cfg_attr(feature = "std", serde(rename_all = "kebab-case"))]
pub enum Incomparable {
    /// A side, or one of its trials, has no samples.
    Empty,
    /// The figure of B is 0, so there is no ratio to it.
    Zero,
    /// The measure needs more samples on a side than the `samples` that it has.
    TooFewSamples { measure: Measure, samples: u64 },
    /// The measure can only be compared by trials, and a side has fewer than [`ENOUGH_TRIALS`].
    TooFewTrials { measure: Measure, trials: usize },
}

impl fmt::Display for Measure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Measure::Mean => "mean",
            Measure::Median => "median",
            Measure::P99 => "p99",
            Measure::Max => "maximum",
        })
    }
}

impl fmt::Display for Incomparable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Incomparable::Empty => f.write_str("One of the trials to compare has no samples."),
            Incomparable::Zero => f.write_str("The second side measures 0, so there is no ratio to it."),
            Incomparable::TooFewSamples { measure, samples } => {
                write!(f, "{samples} samples on one side are too few to compare the {measure}. Take more samples.")
            }
            Incomparable::TooFewTrials { measure, trials } => write!(
                f,
                "The {measure} is only compared over {ENOUGH_TRIALS} or more trials a side, and one has {trials}. \
                 Repeat the run."
            ),
        }
    }
}

impl core::error::Error for Incomparable {}

/// Compares the trials of A with those of B.
pub fn compare(
    a: &[&dyn Samples],
    b: &[&dyn Samples],
    design: Design,
    measure: Measure,
    options: &Options,
) -> Result<Comparison, Incomparable> {
    if a.is_empty() || b.is_empty() || a.iter().chain(b).any(|trial| trial.is_empty()) {
        return Err(Incomparable::Empty);
    }
    // Two streams of random numbers, so that the sides vary independently.
    let second = Options { seed: options.random().u64(..), ..*options };
    let trials = a.len().min(b.len());
    if design == Design::Rounds && a.len() == b.len() && trials >= ENOUGH_TRIALS {
        return of_rounds(a, b, measure);
    }
    let (method, a, b) = if trials >= ENOUGH_TRIALS {
        (Method::Trials, Side::of_trials(a, measure, options)?, Side::of_trials(b, measure, &second)?)
    } else {
        let Some(statistic) = measure.statistic() else { return Err(Incomparable::TooFewTrials { measure, trials }) };
        let a = Side::of_blocks(a, measure, statistic, options)?;
        (Method::Blocks, a, Side::of_blocks(b, measure, statistic, &second)?)
    };
    if b.figure == 0.0 {
        return Err(Incomparable::Zero);
    }
    // A resample of B may still be 0: two zeros are equal, and anything else is infinitely more.
    let ratio = |(a, b): (f64, f64)| if a == b { 1.0 } else { a / b };
    let interval = percentile_interval(a.replicates.into_iter().zip(b.replicates).map(ratio).collect());
    let verdict = Verdict::of(interval);
    Ok(Comparison { measure, a: a.figure, b: b.figure, ratio: a.figure / b.figure, interval, method, verdict })
}

/// Compares round by round.
fn of_rounds(a: &[&dyn Samples], b: &[&dyn Samples], measure: Measure) -> Result<Comparison, Incomparable> {
    let figures = |side: &[&dyn Samples]| side.iter().map(|t| measure.of(*t)).collect::<Result<Vec<f64>, _>>();
    let (mut a, mut b) = (figures(a)?, figures(b)?);
    if b.contains(&0.0) {
        return Err(Incomparable::Zero);
    }
    let ratios: Vec<f64> = a.iter().zip(&b).map(|(a, b)| a / b).collect();
    let (ratio, interval) = rounds::estimate(&ratios);
    let (a, b) = (median(&mut a), median(&mut b));
    Ok(Comparison { measure, a, b, ratio, interval, method: Method::Rounds, verdict: Verdict::of(interval) })
}

impl Verdict {
    fn of(interval: Interval) -> Self {
        if interval.high < 1.0 {
            Self::Lower
        } else if interval.low > 1.0 {
            Self::Higher
        } else {
            Self::NoDifferenceSupported
        }
    }
}

impl Measure {
    fn statistic(self) -> Option<Statistic> {
        match self {
            Measure::Mean => Some(Statistic::Mean),
            Measure::Median => Some(Statistic::Quantile(Quantile::MEDIAN)),
            Measure::P99 => Some(Statistic::Quantile(Quantile::P99)),
            Measure::Max => None,
        }
    }

    /// The measure of these samples; refused where they are too few to have it.
    fn of(self, samples: &dyn Samples) -> Result<f64, Incomparable> {
        let shape = Shape::of(samples).ok_or(Incomparable::Empty)?;
        let quantile = |quantile| shape.quantiles(samples, &[quantile])[0];
        match self {
            Measure::Mean => Ok(shape.mean()),
            Measure::Max => Ok(shape.max() as f64),
            Measure::Median => Ok(quantile(Quantile::MEDIAN)),
            Measure::P99 if Quantile::P99.is_within(shape.count()) => Ok(quantile(Quantile::P99)),
            Measure::P99 => Err(Incomparable::TooFewSamples { measure: self, samples: shape.count() }),
        }
    }
}

/// The figure of one side, and what it might have been.
struct Side {
    figure: f64,
    replicates: Vec<f64>,
}

impl Side {
    fn of_trials(trials: &[&dyn Samples], measure: Measure, options: &Options) -> Result<Side, Incomparable> {
        let figures = trials.iter().map(|trial| measure.of(*trial)).collect::<Result<Vec<f64>, _>>()?;
        Ok(Side::of_figures(figures, options))
    }

    /// The median of `figures`, and those of resamples of them.
    fn of_figures(figures: Vec<f64>, options: &Options) -> Side {
        let mut random = options.random();
        let mut drawn = vec![0.0; figures.len()];
        let mut replicate = |_| {
            drawn.fill_with(|| figures[random.u64(0..figures.len() as u64) as usize]);
            median(&mut drawn)
        };
        let replicates = (0..options.resamples.max(40)).map(&mut replicate).collect();
        Side { figure: median(&mut figures.clone()), replicates }
    }

    fn of_blocks(
        trials: &[&dyn Samples],
        measure: Measure,
        statistic: Statistic,
        options: &Options,
    ) -> Result<Side, Incomparable> {
        let pooled = Together(trials);
        let figure = measure.of(&pooled)?;
        let shape = Shape::of(&pooled).ok_or(Incomparable::Empty)?;
        let too_few = Incomparable::TooFewSamples { measure, samples: shape.count() };
        if !bootstrap::is_enough(statistic, shape.count()) {
            return Err(too_few);
        }
        let replicates = bootstrap::replicates(&pooled, &shape, &[statistic], options).pop().ok_or(too_few)?;
        Ok(Side { figure, replicates })
    }
}

/// The median of at least one value, which are sorted by the way.
fn median(values: &mut [f64]) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    let last = values.len() - 1;
    f64::midpoint(values[last / 2], values[last.div_ceil(2)])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::testing::exponential;

    type Trials = Vec<Vec<u64>>;

    fn trials(seed: u64, number: u64, n: usize, mean: f64) -> Trials {
        (0..number).map(|trial| exponential(1000 * seed + trial, n, mean)).collect()
    }

    fn of(a: &Trials, b: &Trials, measure: Measure) -> Result<Comparison, Incomparable> {
        let options = Options { resamples: 400, ..Options::default() };
        fn side(trials: &Trials) -> Vec<&dyn Samples> {
            trials.iter().map(|trial| trial as &dyn Samples).collect()
        }
        compare(&side(a), &side(b), Design::Apart, measure, &options)
    }

    #[test]
    fn a_side_that_takes_four_fifths_is_lower_and_the_other_way_round_higher() {
        for number in [1, 3, 5, 10] {
            let (a, b) = (trials(1, number, 5000, 80_000.0), trials(2, number, 5000, 100_000.0));
            for measure in [Measure::Mean, Measure::Median, Measure::P99] {
                let forth = of(&a, &b, measure).unwrap();
                assert_eq!(forth.method, if number >= 5 { Method::Trials } else { Method::Blocks });
                assert!(forth.interval.contains(0.8) && (0.7..0.9).contains(&forth.ratio), "{forth:?}");
                assert_eq!(forth.verdict, Verdict::Lower, "{forth:?}");
                assert_eq!(of(&b, &a, measure).unwrap().verdict, Verdict::Higher);
            }
        }
    }

    #[test]
    fn equal_sides_are_told_apart_about_as_rarely_as_the_interval_says() {
        for (number, n) in [(1, 400), (5, 100), (8, 100)] {
            let apart = (0..100).filter(|&seed| {
                let (a, b) = (trials(10 + 2 * seed, number, n, 1e5), trials(11 + 2 * seed, number, n, 1e5));
                of(&a, &b, Measure::Median).unwrap().verdict != Verdict::NoDifferenceSupported
            });
            let apart = apart.count();
            assert!(apart <= 10, "{apart} of 100 with {number} trials");
        }
    }

    #[test]
    fn what_differs_from_start_to_start_is_not_taken_for_a_difference() {
        // Each process is constant, but no two are alike: pooled samples would seem to know the median very well.
        let scattered = |seed: u64| -> Trials {
            let mut random = fastrand::Rng::with_seed(seed);
            (0..7).map(|_| vec![100_000 + random.u64(0..20_000); 1000]).collect()
        };
        let got = of(&scattered(3), &scattered(4), Measure::Median).unwrap();
        assert_eq!((got.method, got.verdict), (Method::Trials, Verdict::NoDifferenceSupported));
        assert!(got.interval.width() > 0.03, "{got:?}");
    }

    #[test]
    fn a_drift_that_both_sides_see_does_not_hide_a_difference_within_rounds() {
        // The machine slows down to a third over the run; B takes a tenth longer in every round.
        let round = |n: u64, factor: f64| vec![(1e5 * (1.0 + n as f64 / 3.0) * factor) as u64; 50];
        let a: Trials = (0..7).map(|n| round(n, 1.0)).collect();
        let b: Trials = (0..7).map(|n| round(n, 1.1)).collect();
        fn side(trials: &Trials) -> Vec<&dyn Samples> {
            trials.iter().map(|trial| trial as &dyn Samples).collect()
        }
        let compare = |design| compare(&side(&a), &side(&b), design, Measure::Median, &Options::default()).unwrap();
        let (rounds, apart) = (compare(Design::Rounds), compare(Design::Apart));
        assert_eq!((rounds.method, rounds.verdict), (Method::Rounds, Verdict::Lower), "{rounds:?}");
        assert!((rounds.ratio - 1.0 / 1.1).abs() < 1e-3 && rounds.interval.width() < 0.01, "{rounds:?}");
        assert_eq!(apart.verdict, Verdict::NoDifferenceSupported, "{apart:?}");
    }

    #[test]
    fn the_maximum_is_compared_by_trials_only() {
        let (a, b) = (trials(5, 10, 1000, 1e5), trials(6, 10, 1000, 3e5));
        assert_eq!(of(&a, &b, Measure::Max).unwrap().verdict, Verdict::Lower);
        let refused = Err(Incomparable::TooFewTrials { measure: Measure::Max, trials: 4 });
        assert_eq!(of(&a[..4].to_vec(), &b, Measure::Max), refused);
    }

    #[test]
    fn the_figure_of_a_side_is_the_median_of_its_trials() {
        let a: Trials = vec![vec![1, 1, 1], vec![2], vec![3, 3], vec![4], vec![100, 100]];
        let b: Trials = vec![vec![2]; 6];
        let got = of(&a, &b, Measure::Mean).unwrap();
        assert_eq!((got.a, got.b, got.ratio), (3.0, 2.0, 1.5));
    }

    #[test]
    fn what_cannot_be_compared_is_refused_with_a_reason() {
        let (some, zeros) = (trials(7, 1, 50, 1e5), vec![vec![0u64; 50]]);
        assert_eq!(of(&vec![], &some, Measure::Mean), Err(Incomparable::Empty));
        assert_eq!(of(&some, &vec![vec![]], Measure::Mean), Err(Incomparable::Empty));
        assert_eq!(of(&some, &zeros, Measure::Mean), Err(Incomparable::Zero));
        let few = Err(Incomparable::TooFewSamples { measure: Measure::P99, samples: 50 });
        assert_eq!(of(&some, &some, Measure::P99), few);
        assert_eq!(of(&zeros, &some, Measure::Mean).unwrap().verdict, Verdict::Lower);
    }
}
