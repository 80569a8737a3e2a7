//! Comparison of two sides: the ratio of a statistic, with its interval and a verdict.
//!
//! The sides of a comparison are trials: fresh processes, started in turn. The variation from start to start (memory
//! layout, placement, other work on the machine) is often larger than the variation from sample to sample, and more
//! samples of one process do not average it out. So the statistic is taken of every trial, and what is compared are these
//! figures, by their ranks ([`super::rank_tests`]), which assumes no distribution: round by round where the trials were
//! interleaved ([`Design::Rounds`]), because a machine drifts and a round's ratio does not have that; otherwise all of one
//! side with all of the other.
//!
//! A difference is supported when the 95 % interval of the ratio excludes 1. **Fewer than 5 trials a side support none**,
//! however many samples they have: the ratio is then told without interval and verdict. What does not vary from start to start,
//! such as instructions of an emulator, is compared as it is ([`Design::Counted`]).

use super::interval::{CONFIDENCE, Interval};
use super::quantile::Quantile;
use super::rank_tests;
use super::ranks::Ranks;
use super::samples::Samples;
use super::shape::Shape;
use alloc::vec::Vec;
use core::fmt;

/// So many trials a side support a difference.
pub const ENOUGH_TRIALS: usize = 5;

/// The statistic that is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "std", derive(serde::Serialize))]
#[cfg_attr(feature = "std", serde(rename_all = "kebab-case"))]
pub enum Measure {
    Mean,
    Median,
    P99,
    /// What the path takes that nothing disturbed. Comparable where the trials have about as many samples.
    Min,
    /// As comparable as the least.
    Max,
}

/// What the interval of a ratio is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "std", derive(serde::Serialize))]
#[cfg_attr(feature = "std", serde(rename_all = "kebab-case"))]
pub enum Method {
    /// The ratios within rounds of interleaved trials.
    Rounds,
    /// The ratios of every trial of one side to every trial of the other.
    Trials,
    /// Counts that do not vary: the interval has no width.
    Counted,
}

/// How the trials of the two sides relate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Design {
    /// Trial n of A and trial n of B ran in the same round: what changes from round to round (another tenant of the
    /// machine) changes both, and the ratio within a round does not have it.
    Rounds,
    /// They were taken at other times.
    Apart,
    /// What is counted does not vary from start to start.
    Counted,
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
    /// The figures of the two sides, each the median of its trials, in the unit of the samples.
    pub a: f64,
    pub b: f64,
    /// a / b.
    pub ratio: f64,
    /// What the trials support; `None` if there are fewer than [`ENOUGH_TRIALS`] a side.
    pub support: Option<Support>,
    /// The trials of the side that has fewer.
    pub trials: usize,
}

/// What the trials of two sides say of the ratio.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "std", derive(serde::Serialize))]
pub struct Support {
    /// The interval of the ratio.
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
    /// The measure needs more samples in each trial than the `samples` that one has.
    TooFewSamples { measure: Measure, samples: u64 },
    /// The measure of a trial is not known, because samples of it are only known to be beyond a limit.
    Beyond { measure: Measure },
    /// A trial has lost so many samples of which nothing is known.
    Lost { samples: u64 },
}

impl fmt::Display for Measure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Measure::Mean => "mean",
            Measure::Median => "median",
            Measure::P99 => "p99",
            Measure::Min => "minimum",
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
                write!(f, "One of the trials has {samples} samples, too few for the {measure}. Take more samples.")
            }
            Incomparable::Beyond { measure } => write!(
                f,
                "The {measure} of one of the trials is not known: it lies among samples that are only known to be beyond the \
                 end of a histogram. Measure again with a longer one."
            ),
            Incomparable::Lost { samples } => write!(
                f,
                "One of the trials has lost {samples} samples for want of room, and those left are not all alike. Measure \
                 again with more room."
            ),
        }
    }
}

impl core::error::Error for Incomparable {}

/// Compares the trials of A with those of B.
///
/// # Errors
/// Why there is no ratio.
pub fn compare(
    a: &[&dyn Samples],
    b: &[&dyn Samples],
    design: Design,
    measure: Measure,
) -> Result<Comparison, Incomparable> {
    let figures = |side: &[&dyn Samples]| side.iter().map(|t| measure.of(*t)).collect::<Result<Vec<f64>, _>>();
    compare_figures(&figures(a)?, &figures(b)?, design, CONFIDENCE)
}

/// Compares sides of whose trials the figures are known, with an interval of that confidence.
///
/// # Errors
/// Why there is no ratio.
pub fn compare_figures(a: &[f64], b: &[f64], design: Design, confidence: f64) -> Result<Comparison, Incomparable> {
    if a.is_empty() || b.is_empty() {
        return Err(Incomparable::Empty);
    }
    if b.contains(&0.0) {
        return Err(Incomparable::Zero);
    }
    let trials = a.len().min(b.len());
    let sides = (median(a.to_vec()), median(b.to_vec()));
    let (method, (ratio, interval)) = match design {
        Design::Counted => {
            let ratio = sides.0 / sides.1;
            (Method::Counted, (ratio, Interval { low: ratio, high: ratio }))
        }
        _ if trials < ENOUGH_TRIALS => {
            let ratio = sides.0 / sides.1;
            return Ok(Comparison { a: sides.0, b: sides.1, ratio, support: None, trials });
        }
        // Where a side had more rounds, those that both have.
        Design::Rounds => {
            let ratios: Vec<f64> = a.iter().zip(b).map(|(a, b)| a / b).collect();
            (Method::Rounds, rank_tests::paired(&ratios, confidence))
        }
        Design::Apart => (Method::Trials, rank_tests::unpaired(a, b, confidence)),
    };
    let support = Some(Support { interval, method, verdict: Verdict::of(interval) });
    Ok(Comparison { a: sides.0, b: sides.1, ratio, support, trials })
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
    /// The measure of these samples; refused where they are too few to have it.
    fn of(self, samples: &dyn Samples) -> Result<f64, Incomparable> {
        let shape = Shape::of(samples).ok_or(Incomparable::Empty)?;
        let missing = samples.unrecorded();
        if missing.lost > 0 {
            return Err(Incomparable::Lost { samples: missing.lost });
        }
        let ranks = Ranks::of(samples, &shape, &missing);
        let beyond = Incomparable::Beyond { measure: self };
        let quantile = |quantile: Quantile| {
            let position = quantile.position(ranks.count);
            let next = position.rank + u64::from(position.fraction > 0.0);
            let values = shape.at_ranks(samples, &[position.rank, next]);
            ranks.is_known(next).then(|| position.between(values[0], values[1])).ok_or(beyond)
        };
        match self {
            Measure::Mean if missing.beyond() > 0 => Err(beyond),
            Measure::Mean => Ok(shape.mean()),
            Measure::Min => Ok(shape.min() as f64),
            Measure::Max => ranks.max.map(|max| max as f64).exactly().ok_or(beyond),
            Measure::Median => quantile(Quantile::MEDIAN),
            Measure::P99 if Quantile::P99.is_within(ranks.count) => quantile(Quantile::P99),
            Measure::P99 => Err(Incomparable::TooFewSamples { measure: self, samples: ranks.count }),
        }
    }
}

/// The median of at least one value.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    let last = values.len() - 1;
    f64::midpoint(values[last / 2], values[last.div_ceil(2)])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::testing::exponential;
    use crate::stats::{Beyond, Partial, Unrecorded};
    use alloc::vec;

    type Trials = Vec<Vec<u64>>;

    fn trials(seed: u64, number: u64, n: usize, mean: f64) -> Trials {
        (0..number).map(|trial| exponential(1000 * seed + trial, n, mean)).collect()
    }

    fn side<S: Samples>(trials: &[S]) -> Vec<&dyn Samples> {
        trials.iter().map(|trial| trial as &dyn Samples).collect()
    }

    fn of(a: &Trials, b: &Trials, measure: Measure) -> Result<Comparison, Incomparable> {
        compare(&side(a), &side(b), Design::Apart, measure)
    }

    fn verdict(comparison: Comparison) -> Verdict {
        comparison.support.unwrap().verdict
    }

    #[test]
    fn a_side_that_takes_four_fifths_is_lower_and_the_other_way_round_higher() {
        for number in [5, 10] {
            let (a, b) = (trials(1, number, 5000, 80_000.0), trials(2, number, 5000, 100_000.0));
            for measure in [Measure::Mean, Measure::Median, Measure::P99] {
                let forth = of(&a, &b, measure).unwrap();
                let support = forth.support.unwrap();
                assert!(support.interval.contains(0.8) && (0.7..0.9).contains(&forth.ratio), "{forth:?}");
                assert_eq!((support.method, support.verdict), (Method::Trials, Verdict::Lower), "{forth:?}");
                assert_eq!(verdict(of(&b, &a, measure).unwrap()), Verdict::Higher);
            }
        }
    }

    #[test]
    fn few_starts_support_no_difference_however_many_samples_they_have() {
        for number in [1, 4] {
            let got = of(&trials(1, number, 20_000, 1e5), &trials(2, number, 20_000, 3e5), Measure::Median).unwrap();
            assert_eq!((got.support, got.trials), (None, number as usize));
            assert!((0.3..0.4).contains(&got.ratio));
        }
    }

    #[test]
    fn a_maximum_is_compared_by_the_maxima_of_enough_starts_only() {
        let (a, b) = (trials(5, 10, 1000, 1e5), trials(6, 10, 1000, 3e5));
        assert_eq!(verdict(of(&a, &b, Measure::Max).unwrap()), Verdict::Lower);
        assert_eq!(of(&a[..4].to_vec(), &b, Measure::Max).unwrap().support, None);
    }

    /// The two threads of a core: whatever the other one does, all times of a start are half as long again, but for some.
    #[test]
    fn the_least_is_compared_where_most_of_a_start_is_disturbed() {
        let disturbed = |seed: u64, path: u64| -> Trials {
            let start = |trial: u64| {
                let share = if (seed + trial).is_multiple_of(3) { 2 } else { 9 };
                let noise = exponential(1000 * seed + trial, 2000, 0.05 * path as f64);
                let other = |n: usize| if n % 10 < share { path / 2 } else { 0 };
                noise.into_iter().enumerate().map(|(n, noise)| path + noise + other(n)).collect()
            };
            (0..15).map(start).collect()
        };
        let (a, b) = (disturbed(7, 1050), disturbed(8, 1000));
        let in_turn = |measure| compare(&side(&a), &side(&b), Design::Rounds, measure).unwrap();
        assert_eq!(verdict(in_turn(Measure::Median)), Verdict::NoDifferenceSupported);
        let least = in_turn(Measure::Min);
        assert_eq!(verdict(least), Verdict::Higher);
        assert!(least.support.unwrap().interval.contains(1.05), "{least:?}");
    }

    #[test]
    fn equal_sides_are_told_apart_about_as_rarely_as_the_interval_says() {
        // Starts that differ by a tenth: that is what one start takes for a difference.
        let starts = |seed: u64, number: u64| -> Trials {
            let mut random = fastrand::Rng::with_seed(seed);
            (0..number).map(|_| vec![(1e5 * (1.0 + 0.1 * random.f64())) as u64; 20]).collect()
        };
        for (design, number) in [(Design::Apart, 5), (Design::Apart, 8), (Design::Rounds, 5), (Design::Rounds, 9)] {
            let apart = (0..1000).filter(|&seed| {
                let (a, b) = (starts(2 * seed, number), starts(2 * seed + 1, number));
                let compared = compare(&side(&a), &side(&b), design, Measure::Median).unwrap();
                verdict(compared) != Verdict::NoDifferenceSupported
            });
            let apart = apart.count();
            assert!((10..=58).contains(&apart), "{apart} of 1000 with {number} trials, {design:?}");
        }
    }

    #[test]
    fn what_differs_from_start_to_start_is_not_taken_for_a_difference() {
        // Each process is constant, but no two are alike: pooled samples would seem to know the median very well.
        let scattered = |seed: u64| -> Trials {
            let mut random = fastrand::Rng::with_seed(seed);
            (0..7).map(|_| vec![100_000 + random.u64(0..20_000); 1000]).collect()
        };
        let got = of(&scattered(3), &scattered(4), Measure::Median).unwrap().support.unwrap();
        assert_eq!((got.method, got.verdict), (Method::Trials, Verdict::NoDifferenceSupported));
        assert!(got.interval.width() > 0.03, "{got:?}");
    }

    #[test]
    fn a_drift_that_both_sides_see_does_not_hide_a_difference_within_rounds() {
        // The machine slows down to a third over the run; B takes a tenth longer in every round.
        let round = |n: u64, factor: f64| vec![(1e5 * (1.0 + n as f64 / 3.0) * factor) as u64; 50];
        let a: Trials = (0..7).map(|n| round(n, 1.0)).collect();
        let b: Trials = (0..7).map(|n| round(n, 1.1)).collect();
        let compare = |design| compare(&side(&a), &side(&b), design, Measure::Median).unwrap();
        let (rounds, apart) = (compare(Design::Rounds), compare(Design::Apart));
        let support = rounds.support.unwrap();
        assert_eq!((support.method, support.verdict), (Method::Rounds, Verdict::Lower), "{rounds:?}");
        assert!((rounds.ratio - 1.0 / 1.1).abs() < 1e-3 && support.interval.width() < 0.01, "{rounds:?}");
        assert_eq!(verdict(apart), Verdict::NoDifferenceSupported, "{apart:?}");
    }

    #[test]
    fn counts_that_do_not_vary_are_compared_as_they_are() {
        let got =
            compare(&side(&[vec![56u64; 3]]), &side(&[vec![64u64; 3]]), Design::Counted, Measure::Median).unwrap();
        let support = got.support.unwrap();
        assert_eq!((got.ratio, support.interval.width(), support.verdict), (0.875, 0.0, Verdict::Lower));
    }

    #[test]
    fn the_figure_of_a_side_is_the_median_of_its_trials() {
        let a: Trials = vec![vec![1, 1, 1], vec![2], vec![3, 3], vec![4], vec![100, 100]];
        let b: Trials = vec![vec![2]; 6];
        let got = of(&a, &b, Measure::Mean).unwrap();
        assert_eq!((got.a, got.b), (3.0, 2.0));
        assert!((got.ratio - 1.5).abs() < 1e-9, "{got:?}");
    }

    #[test]
    fn what_cannot_be_compared_is_refused_with_a_reason() {
        let (some, zeros) = (trials(7, 1, 50, 1e5), vec![vec![0u64; 50]]);
        assert_eq!(of(&vec![], &some, Measure::Mean), Err(Incomparable::Empty));
        assert_eq!(of(&some, &vec![vec![]], Measure::Mean), Err(Incomparable::Empty));
        assert_eq!(of(&some, &zeros, Measure::Mean), Err(Incomparable::Zero));
        let few = Err(Incomparable::TooFewSamples { measure: Measure::P99, samples: 50 });
        assert_eq!(of(&some, &some, Measure::P99), few);
        let missing = |beyond, lost| {
            [Partial { recorded: vec![10; 900], unrecorded: Unrecorded { beyond, lost, unordered: false } }]
        };
        let one =
            |side_of: &[Partial<Vec<u64>>], measure| compare(&side(side_of), &side(&some), Design::Apart, measure);
        let beyond = missing(Some(Beyond { limit: 15, count: 100, max: None }), 0);
        assert_eq!(one(&beyond, Measure::P99), Err(Incomparable::Beyond { measure: Measure::P99 }));
        assert_eq!(one(&beyond, Measure::Max), Err(Incomparable::Beyond { measure: Measure::Max }));
        assert_eq!(one(&beyond, Measure::Median).unwrap().a, 10.0);
        assert_eq!(one(&missing(None, 3), Measure::Median), Err(Incomparable::Lost { samples: 3 }));
    }
}
