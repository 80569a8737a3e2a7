//! How often is a deadline missed, and how sure is that?
//!
//! The rate of misses has the exact binomial interval of Clopper and Pearson ("The use of confidence or fiducial limits
//! illustrated in the case of the binomial", Biometrika 26, 1934), which holds for independent samples. Misses come in
//! bursts, though, so the block bootstrap gives a second interval from how the misses are spread over the series, and the
//! wider of the two is reported.
//!
//! A series without a miss is the common and interesting case. The rate may then be zero, so all of the 5 % belong to the
//! upper end: 1 - 0.05^(1/n), which is the "rule of three" (3/n). No bootstrap can widen it, because no resample holds a
//! miss: it is as good as the samples are independent and as the run is like the life that it stands for.

use super::bootstrap::{Blocks, percentile_interval};
use super::samples::Samples;
use super::{CONFIDENCE, Interval, Options, beta};
use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

/// The share of samples that are above a deadline.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "std", derive(serde::Serialize))]
pub struct Deadline {
    /// In the unit of the samples. A sample misses it when it is greater.
    pub deadline: u64,
    pub misses: u64,
    pub count: u64,
    /// `misses / count`.
    pub rate: f64,
    /// The 95 % interval of the rate: the wider of the exact one and the bootstrap.
    pub interval: Interval,
    pub method: Method,
}

/// Where the interval of a [`Deadline`] is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "std", derive(serde::Serialize))]
#[cfg_attr(feature = "std", serde(rename_all = "kebab-case"))]
pub enum Method {
    ClopperPearson,
    BlockBootstrap,
}

impl Deadline {
    /// Reads the samples once; `None` of an empty series.
    pub fn of(samples: &dyn Samples, deadline: u64, options: &Options) -> Option<Deadline> {
        let count = samples.len();
        if count == 0 {
            return None;
        }
        let blocks = Blocks::of(count);
        let mut missed = vec![0u64; blocks.count()];
        blocks.visit(samples, &mut |block, piece| {
            missed[block] += piece.iter().map(|&sample| u64::from(sample > deadline)).sum::<u64>();
        });
        let misses = missed.iter().sum();
        let mut interval = clopper_pearson(misses, count);
        let mut method = Method::ClopperPearson;
        if 0 < misses && misses < count {
            let mut rates = Vec::new();
            blocks.resample(options, &mut |drawn, total| {
                let misses: u64 = drawn.iter().zip(&missed).map(|(times, missed)| times * missed).sum();
                rates.push(misses as f64 / total as f64);
            });
            let resampled = percentile_interval(rates);
            if resampled.width() > interval.width() {
                (interval, method) = (resampled, Method::BlockBootstrap);
            }
        }
        Some(Deadline { deadline, misses, count, rate: misses as f64 / count as f64, interval, method })
    }

    /// The answer as one English sentence, for example "3 of 10000 samples are above 50000 ns; with 95 % confidence the
    /// true share is between 1 in 16163 and 1 in 1140." `unit` is the unit of the samples. Rounding widens the interval.
    pub fn sentence(&self, unit: &str) -> String {
        let Deadline { deadline, misses, count, .. } = self;
        let (low, high) = (at_least(self.interval.low), at_most(self.interval.high));
        if *misses == 0 {
            format!("None of {count} samples is above {deadline} {unit}; with 95 % confidence at most {high} is.")
        } else if misses == count {
            format!("All of {count} samples are above {deadline} {unit}; with 95 % confidence at least {low} are.")
        } else {
            let verb = if *misses == 1 { "is" } else { "are" };
            format!(
                "{misses} of {count} samples {verb} above {deadline} {unit}; with 95 % confidence the true share is \
                 between {low} and {high}."
            )
        }
    }
}

/// A share rounded down: in percent, or as one in so many when that is easier to grasp.
fn at_least(share: f64) -> String {
    if share >= 0.01 {
        format!("{:.1} %", libm::floor(1000.0 * share) / 10.0)
    } else if share > 0.0 {
        format!("1 in {:.0}", libm::ceil(1.0 / share))
    } else {
        String::from("0")
    }
}

/// A share above zero rounded up.
fn at_most(share: f64) -> String {
    if share >= 0.01 {
        format!("{:.1} %", libm::ceil(1000.0 * share) / 10.0)
    } else {
        format!("1 in {:.0}", libm::floor(1.0 / share))
    }
}

/// The exact 95 % interval of the rate of an event seen `events` times in `count > 0` independent trials. Two-sided, except
/// that an event seen never or always has only one end to be uncertain about, which then gets the whole 5 %.
pub fn clopper_pearson(events: u64, count: u64) -> Interval {
    let miss = 1.0 - CONFIDENCE;
    let (k, n) = (events as f64, count as f64);
    if events == 0 {
        Interval { low: 0.0, high: -libm::expm1(libm::log(miss) / n) }
    } else if events >= count {
        Interval { low: libm::exp(libm::log(miss) / n), high: 1.0 }
    } else {
        Interval {
            low: beta::inverse(miss / 2.0, k, n - k + 1.0),
            high: beta::inverse(1.0 - miss / 2.0, k + 1.0, n - k),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::testing::exponential;
    use proptest::prelude::*;

    #[test]
    fn the_exact_interval_is_that_of_the_published_tables() {
        for (events, count, low, high) in
            [(1, 10, 0.002_529, 0.445_016), (5, 100, 0.016_432, 0.112_835), (50, 100, 0.398_321, 0.601_679)]
        {
            let got = clopper_pearson(events, count);
            assert!((got.low - low).abs() < 1e-6 && (got.high - high).abs() < 1e-6, "{events} of {count}: {got:?}");
        }
    }

    #[test]
    fn without_a_miss_the_bound_is_the_rule_of_three() {
        for count in [100u64, 10_000, 10_000_000] {
            let bound = clopper_pearson(0, count).high * count as f64;
            assert!((2.9..=3.0).contains(&bound), "{bound}");
        }
    }

    #[test]
    fn ten_million_samples_have_an_interval_of_the_normal_approximation() {
        let (k, n) = (5_000.0, 1e7);
        let got = clopper_pearson(5_000, 10_000_000);
        let half = 1.96 * libm::sqrt(k) / n;
        assert!((got.low - (k / n - half)).abs() < 0.02 * half, "{got:?}");
        assert!((got.high - (k / n + half)).abs() < 0.02 * half, "{got:?}");
    }

    #[test]
    fn independent_misses_get_about_the_exact_interval() {
        let samples = exponential(9, 20_000, 1e5);
        let got = Deadline::of(&samples, 300_000, &Options::default()).unwrap();
        let exact = clopper_pearson(got.misses, got.count);
        assert!((0.99..1.25).contains(&(got.interval.width() / exact.width())), "{got:?} {exact:?}");
    }

    #[test]
    fn misses_in_bursts_get_the_wider_interval() {
        let mut samples = vec![10u64; 20_000];
        samples[4000..4200].fill(1000);
        let got = Deadline::of(&samples, 500, &Options::default()).unwrap();
        assert_eq!((got.misses, got.count, got.rate, got.method), (200, 20_000, 0.01, Method::BlockBootstrap));
        assert!(got.interval.width() > 4.0 * clopper_pearson(200, 20_000).width());
        assert!(got.interval.contains(got.rate));
    }

    #[test]
    fn a_sample_that_takes_just_the_deadline_meets_it() {
        let samples = vec![5u64, 6, 7];
        assert_eq!(Deadline::of(&samples, 6, &Options::default()).unwrap().misses, 1);
        assert_eq!(Deadline::of(&Vec::new(), 6, &Options::default()), None);
    }

    #[test]
    fn the_answer_is_one_sentence() {
        let none = Deadline::of(&vec![10u64; 10_000], 50, &Options::default()).unwrap();
        assert_eq!(
            none.sentence("ns"),
            "None of 10000 samples is above 50 ns; with 95 % confidence at most 1 in 3338 is."
        );
        let all = Deadline::of(&vec![10u64; 100], 5, &Options::default()).unwrap();
        assert_eq!(all.sentence("ns"), "All of 100 samples are above 5 ns; with 95 % confidence at least 97.0 % are.");
        let mut samples = vec![10u64; 10_000];
        for at in [1000, 5000, 9000] {
            samples[at] = 60;
        }
        let some = Deadline::of(&samples, 50, &Options { resamples: 1000, ..Options::default() }).unwrap();
        assert_eq!(some.method, Method::ClopperPearson);
        assert_eq!(
            some.sentence("ns"),
            "3 of 10000 samples are above 50 ns; with 95 % confidence the true share is between 1 in 16163 and 1 in 1140."
        );
    }

    proptest! {
        #[test]
        fn misses_are_counted_exactly(samples in proptest::collection::vec(0u64..100, 1..500), deadline in 0u64..100) {
            let got = Deadline::of(&samples, deadline, &Options { resamples: 40, ..Options::default() }).unwrap();
            prop_assert_eq!(got.misses, samples.iter().filter(|&&sample| sample > deadline).count() as u64);
            prop_assert!(0.0 <= got.interval.low && got.interval.high <= 1.0);
        }
    }
}
