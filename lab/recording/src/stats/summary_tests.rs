//! Tests of the summary: against sorting, and of series that are not recorded whole.

use super::*;
use crate::stats::testing::{exponential, sorted, type_7};
use crate::stats::{Beyond, Interval, Partial};
use alloc::vec;
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
    assert_eq!((one.count, one.min, one.max, one.mean), (1, 42, Known::Exactly(42), Known::Exactly(42.0)));
    assert_eq!([one.lower_quartile, one.median, one.upper_quartile], [Known::Exactly(42.0); 3]);
    assert_eq!(one.mode, Some(Mode { value: 42, bin_width: 1, count: 1 }));
    assert_eq!((one.variance, one.standard_deviation, one.p90, one.p99), (None, None, None, None));
    let refused = Err(NoInterval::TooFewSamples { samples: 1, needed: 32 });
    assert_eq!([one.mean_interval, one.median_interval, one.p99_interval], [refused; 3]);
}

#[test]
fn equal_samples_have_no_spread_and_intervals_of_no_width() {
    for value in [0, 7, u64::MAX] {
        let equal = of(&[value; 1000]).unwrap();
        let exactly = Known::Exactly(value as f64);
        assert_eq!((equal.variance, equal.mean, equal.median), (Some(0.0), exactly, exactly));
        assert_eq!((equal.p99_9, equal.p99_99), (Some(Known::Exactly(value)), None));
        let point = Ok(Interval { low: value as f64, high: value as f64 });
        assert_eq!((equal.mean_interval, equal.median_interval, equal.p99_interval), (point, point, point));
    }
}

#[test]
fn the_intervals_surround_what_they_are_about() {
    let summary = of(&exponential(4, 20_000, 40_000.0)).unwrap();
    assert!(summary.mean_interval.unwrap().contains(summary.mean.bound()));
    assert!(summary.median_interval.unwrap().contains(summary.median.bound()));
    assert!(summary.p99_interval.unwrap().contains(summary.p99.unwrap().bound() as f64));
}

/// The lower ones of these samples, and the greatest of the others.
fn censored(sorted: &[u64], limit: u64) -> Partial<Vec<u64>> {
    let (recorded, beyond): (Vec<u64>, Vec<u64>) = sorted.iter().partition(|&&sample| sample <= limit);
    let beyond = Beyond { limit, count: beyond.len() as u64, max: None };
    Partial { recorded, unrecorded: Unrecorded { lost: 0, beyond: Some(beyond), unordered: true } }
}

#[test]
fn half_of_the_samples_beyond_a_histogram_are_not_forgotten() {
    let beyond = |max| Unrecorded { lost: 0, beyond: Some(Beyond { limit: 15, count: 1000, max }), unordered: true };
    let summary =
        |max| Summary::of(&Partial { recorded: vec![10; 1000], unrecorded: beyond(max) }, &Options::default()).unwrap();
    let got = summary(Some(50_000));
    assert_eq!((got.count, got.beyond, got.min, got.max), (2000, 1000, 10, Known::Exactly(50_000)));
    assert_eq!((got.lower_quartile, got.upper_quartile), (Known::Exactly(10.0), Known::MoreThan(15.0)));
    assert_eq!(got.median, Known::AtLeast(10.0));
    assert_eq!((got.p90, got.p99_9), (Some(Known::MoreThan(15)), Some(Known::MoreThan(15))));
    assert_eq!((got.mean, got.variance, got.trimmed_mean), (Known::MoreThan(12.5), None, None));
    assert_eq!(got.mean_interval, Err(NoInterval::Unordered));
    assert_eq!(summary(None).max, Known::MoreThan(15));
}

#[test]
fn what_was_lost_leaves_a_maximum_that_is_at_least_so_great() {
    let lost = Unrecorded { lost: 3050, ..Unrecorded::default() };
    let got =
        Summary::of(&Partial { recorded: exponential(1, 50, 100.0), unrecorded: lost }, &Options::default()).unwrap();
    assert_eq!((got.count, got.lost), (50, 3050));
    assert!(matches!(got.max, Known::AtLeast(_)), "{:?}", got.max);
    assert_eq!([got.mean_interval, got.median_interval], [Err(NoInterval::Unrecorded); 2]);
}

#[test]
fn above_the_lower_of_two_limits_nothing_is_taken_for_known() {
    let beyond = Some(Beyond { limit: 20, count: 10, max: None });
    let samples = Partial {
        recorded: (1..=90).collect::<Vec<u64>>(),
        unrecorded: Unrecorded { lost: 0, beyond, unordered: true },
    };
    let got = Summary::of(&samples, &Options::default()).unwrap();
    assert_eq!((got.count, got.median, got.max), (100, Known::MoreThan(20.0), Known::AtLeast(90)));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn the_figures_agree_with_sorting(samples in proptest::collection::vec(prop_oneof![any::<u64>(), 0u64..1000, 50_000u64..80_000], 1..1500)) {
        let summary = of(&samples).unwrap();
        let sorted = sorted(&samples);
        let n = sorted.len();
        prop_assert_eq!((summary.count, summary.min, summary.max), (n as u64, sorted[0], Known::Exactly(sorted[n - 1])));
        let kept = &sorted[n / 100..n - n / 100];
        let mean = kept.iter().map(|sample| *sample as f64).sum::<f64>() / kept.len() as f64;
        let trimmed = summary.trimmed_mean.unwrap();
        prop_assert!((trimmed - mean).abs() <= mean * 1e-9, "{} {}", trimmed, mean);
        let quartiles = [summary.lower_quartile, summary.median, summary.upper_quartile];
        prop_assert_eq!(quartiles, [0.25, 0.5, 0.75].map(|p| Known::Exactly(type_7(&sorted, p))));
        // The nearest rank by its definition: the smallest sample that enough samples do not exceed.
        for (got, beyond_in) in [(summary.p90, 10), (summary.p95, 20), (summary.p99, 100), (summary.p99_9, 1000), (summary.p99_99, 10_000)] {
            let expected = (n >= beyond_in)
                .then(|| (1..=n).find(|rank| rank * beyond_in >= n * (beyond_in - 1)).map(|rank| sorted[rank - 1]))
                .flatten();
            prop_assert_eq!(got, expected.map(Known::Exactly), "1 in {}", beyond_in);
        }
    }

    #[test]
    fn censored_figures_are_those_of_all_samples_or_bounds_of_them(samples in proptest::collection::vec(0u64..1000, 1..800), limit in 0u64..1100) {
        let sorted = sorted(&samples);
        let (Some(got), Some(all)) = (Summary::of(&censored(&sorted, limit), &Options::default()), of(&sorted)) else { return Ok(()) };
        prop_assert_eq!(got.count, all.count);
        let holds = |known: Known<f64>, truth: f64| match known {
            Known::Exactly(value) => value == truth,
            Known::AtLeast(bound) => truth >= bound,
            Known::MoreThan(bound) => truth > bound,
        };
        for (known, truth) in [(got.lower_quartile, all.lower_quartile), (got.median, all.median), (got.upper_quartile, all.upper_quartile), (got.mean, all.mean)] {
            prop_assert!(holds(known, truth.bound()), "{:?} {:?}", known, truth);
        }
        for (known, truth) in [(got.p90, all.p90), (got.p99, all.p99), (Some(got.max), Some(all.max))] {
            let as_float = |known: Known<u64>| known.map(|value| value as f64);
            prop_assert_eq!(known.is_some(), truth.is_some());
            if let (Some(known), Some(truth)) = (known, truth) {
                prop_assert!(holds(as_float(known), truth.bound() as f64), "{:?} {:?}", known, truth);
                // A quantile that was recorded is exact.
                prop_assert!(truth.bound() > limit || known.exactly().is_some(), "{:?} {:?}", known, truth);
            }
        }
        if let Some(trimmed) = got.trimmed_mean {
            prop_assert!((trimmed - all.trimmed_mean.unwrap()).abs() <= 1e-9 * trimmed);
        }
    }
}
