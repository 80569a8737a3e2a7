//! Tests of the extreme-value estimate: series whose maximum is known from theory, and series that must be refused.

use super::*;
use crate::stats::testing::{drawn, exponential};
use alloc::string::ToString;

const FACTORS: [u64; 2] = [10, 100];

fn options(seed: u64) -> Options {
    Options { seed, resamples: 120, ..Options::default() }
}

fn of(samples: &[u64]) -> Result<Extreme, Refusal> {
    Extreme::of(&samples, &FACTORS, &options(1))
}

/// Samples from an extreme-value distribution, so that their block maxima follow one exactly.
fn from_gev(seed: u64, n: usize, shape: f64) -> (Gev, Vec<u64>) {
    let gev = Gev { location: 1e6, scale: 5e4, shape };
    (gev, drawn(seed, n, |u| gev.at_exceedance(-libm::log(u.min(1.0 - 1e-16)))))
}

#[test]
fn the_expected_maximum_of_known_distributions_lies_in_the_interval() {
    // Weibull, Gumbel and Fréchet. An interval of a hundred maxima is right 95 times in 100 only if the fit is unbiased,
    // which it nearly is.
    for shape in [-0.25, 0.0, 0.15] {
        let (mut fits, mut held) = (0, [0, 0]);
        for seed in 0..40 {
            let (truth, samples) = from_gev(100 + seed, 10_000, shape);
            let Ok(extreme) = Extreme::of(&samples, &FACTORS, &options(seed)) else { continue };
            fits += 1;
            for (held, level) in held.iter_mut().zip(&extreme.levels) {
                *held += i32::from(level.interval.contains(truth.expected_maximum(level.samples as f64)));
            }
        }
        // Good series are refused in about one of fourteen cases: 1 % and 1 % and 5 %.
        assert!(fits >= 34, "{fits} of 40 with shape {shape}");
        assert!(held.iter().all(|&held| held * 100 >= fits * 85), "{held:?} of {fits} with shape {shape}");
    }
}

#[test]
fn good_series_are_refused_about_as_often_as_the_tests_say() {
    let refused = (0..200).filter(|&seed| {
        let (_, samples) = from_gev(500 + seed, 10_000, 0.0);
        Extreme::of(&samples, &[], &Options { seed, resamples: 100, ..Options::default() }).is_err()
    });
    let refused = refused.count();
    assert!((6..=40).contains(&refused), "{refused} of 200");
}

#[test]
fn exponential_samples_have_about_a_gumbel_maximum() {
    let extreme = of(&exponential(21, 40_000, 1e5)).unwrap();
    assert_eq!((extreme.maxima, extreme.block), (200, 200));
    assert!(extreme.shape.abs() < 0.2, "{extreme:?}");
    // The expected maximum of n exponential samples is the mean times the n-th harmonic number.
    let expected = 1e5 * (libm::log(400_000.0) + 0.5772);
    assert!(extreme.levels[0].interval.contains(expected), "{extreme:?}");
    assert!(extreme.levels[0].expected < extreme.levels[1].expected);
    assert_eq!(extreme.levels[0].samples, 400_000);
}

#[test]
fn a_bounded_tail_is_recognised() {
    // The maxima of uniform samples have the shape -1 and cannot exceed the bound.
    let fits = (0..10).filter_map(|seed| of(&drawn(300 + seed, 10_000, |u| 1e6 + 1e6 * u)).ok());
    let fits: Vec<Extreme> = fits.collect();
    assert!(fits.len() >= 7, "{} of 10", fits.len());
    for extreme in fits {
        assert!((-1.5..-0.6).contains(&extreme.shape), "{extreme:?}");
        assert!((extreme.levels[1].expected - 2e6).abs() < 5e3, "{extreme:?}");
    }
}

#[test]
fn too_few_samples_are_refused() {
    assert_eq!(of(&exponential(23, 1599, 1e5)), Err(Refusal::TooFewSamples { samples: 1599, needed: 1600 }));
}

#[test]
fn maxima_that_are_all_alike_or_coarse_are_refused() {
    assert_eq!(of(&[7; 10_000]), Err(Refusal::Tied { maxima: 100, distinct: 1 }));
    let coarse = drawn(24, 10_000, |u| libm::floor(-10.0 * libm::log(u)) * 1000.0);
    assert!(matches!(of(&coarse), Err(Refusal::Tied { .. })), "{:?}", of(&coarse));
}

#[test]
fn a_change_in_the_middle_is_refused() {
    let mut samples = exponential(25, 10_000, 1e5);
    samples[5000..].iter_mut().for_each(|sample| *sample += 500_000);
    assert!(matches!(of(&samples), Err(Refusal::NotStationary { .. })), "{:?}", of(&samples));
}

#[test]
fn maxima_that_follow_their_neighbours_are_refused() {
    let mut samples = exponential(26, 40_000, 1e5);
    for (index, sample) in samples.iter_mut().enumerate() {
        // Eight slow waves, so that the two halves are alike.
        *sample += (5e5 * (1.0 + libm::sin(index as f64 * 16.0 * core::f64::consts::PI / 40_000.0))) as u64;
    }
    assert!(matches!(of(&samples), Err(Refusal::Autocorrelated { .. })), "{:?}", of(&samples));
}

#[test]
fn maxima_of_two_causes_are_refused() {
    // A rare disturbance: half of the blocks hold one.
    let mut samples = exponential(27, 40_000, 1e4);
    let mut random = fastrand::Rng::with_seed(28);
    for sample in &mut samples {
        if random.u32(0..300) == 0 {
            *sample += 1_000_000;
        }
    }
    assert!(matches!(of(&samples), Err(Refusal::Rejected { .. })), "{:?}", of(&samples));
}

#[test]
fn a_tail_without_a_variance_is_refused() {
    let (_, samples) = from_gev(29, 40_000, 0.9);
    assert!(matches!(of(&samples), Err(Refusal::TooHeavy { .. })), "{:?}", of(&samples));
}

#[test]
fn the_test_of_kolmogorov_and_smirnov_has_its_published_values() {
    // Two separate halves of 10: D = 1, lambda = (sqrt(5) + 0.12 + 0.11 / sqrt(5)) = 2.4053, p = 2 exp(-2 lambda^2).
    let separate: Vec<f64> = (0..20).map(f64::from).collect();
    assert!((kolmogorov_smirnov(&separate) - 1.88e-5).abs() < 1e-7, "{}", kolmogorov_smirnov(&separate));
    let alike: Vec<f64> = (0..20).map(|i| f64::from(i % 10)).collect();
    assert_eq!(kolmogorov_smirnov(&alike), 1.0);
}

#[test]
fn every_refusal_is_a_sentence_that_says_what_to_make_of_it() {
    let all = [
        Refusal::TooFewSamples { samples: 1, needed: 2 },
        Refusal::Incomplete { why: NoInterval::Unordered },
        Refusal::Tied { maxima: 2, distinct: 1 },
        Refusal::NotStationary { p_value: 0.001 },
        Refusal::Autocorrelated { correlation: 0.5 },
        Refusal::TooHeavy { shape: 0.9 },
        Refusal::Rejected { p_value: 0.01 },
    ];
    for refusal in all {
        let text = refusal.to_string();
        assert!(text.ends_with('.') && text.starts_with(char::is_uppercase) && text.len() > 60, "{text}");
    }
}
