//! Deadlines: the rate of misses, with its interval.
//!
//! The rate has the exact binomial interval of Clopper and Pearson ("The use of confidence or fiducial limits
//! illustrated in the case of the binomial", Biometrika 26, 1934), of as many independent samples as tell as much as the
//! series does ([`super::dependence`]). Misses come in bunches, so their own dependence counts. Of few misses nothing is seen of
//! how they come: then that of the highest samples and that of the middle of the distribution count too.
//!
//! A series without a miss is the common and interesting case. The rate may then be zero, so all of the 5 % belong to
//! the upper end: 1 - 0.05^(1/n), which is the "rule of three" (3/n). What happens so rarely that it did not happen in
//! the series at all is beyond any statement: the interval is right as far as the run resembles the operation that it
//! stands for.
//!
//! A censored sample counts as a miss if its limit is not below the deadline, and else as one that may be. Lost samples leave
//! no interval.

use super::beta;
use super::confidence::{Confidence, Profile, top};
use super::dependence::{FEWEST, Sum};
use super::interval::{CONFIDENCE, Interval, percent};
use super::no_interval::NoInterval;
use super::samples::Samples;
use super::shape::Shape;
use alloc::format;
use alloc::string::String;

/// The share of samples that are above a deadline.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "std", derive(serde::Serialize))]
pub struct Deadline {
    /// In the unit of the samples. A sample misses it when it is greater.
    pub deadline: u64,
    /// The samples that are known to miss it.
    pub misses: u64,
    /// Further samples that may miss it: they are beyond a limit that is below the deadline.
    pub possible: u64,
    /// The samples that were recorded, or are known to be beyond a limit.
    pub count: u64,
    /// Samples besides, of which nothing is known.
    pub lost: u64,
    /// `misses / count`.
    pub rate: f64,
    /// The interval of the rate, of that confidence.
    #[cfg_attr(feature = "std", serde(serialize_with = "super::confidence::serialize"))]
    pub interval: Confidence,
    pub confidence: f64,
    /// Whether the interval is that of independent samples because the order was not kept, which would show whether they are.
    pub assumes_independence: bool,
}

/// Misses that come in fewer bunches have no interval.
const BUNCHES: f64 = 5.0;
/// So many bunches show how misses come, whatever the other samples do.
const MANY_BUNCHES: f64 = 30.0;

impl Deadline {
    /// With an interval of 95 %. `None` of a series without a recorded sample.
    pub fn of(samples: &dyn Samples, deadline: u64) -> Option<Deadline> {
        Self::with(samples, deadline, CONFIDENCE)
    }

    /// With an interval of that confidence.
    pub fn with(samples: &dyn Samples, deadline: u64, confidence: f64) -> Option<Deadline> {
        let shape = Shape::of(samples)?;
        let missing = samples.unrecorded();
        let count = shape.count().saturating_add(missing.beyond());
        let mut misses = 0;
        samples.visit_counted(&mut |piece, times| {
            misses += piece.iter().map(|&sample| times * u64::from(sample > deadline)).sum::<u64>();
        });
        let mut possible = 0;
        if let Some(beyond) = missing.beyond {
            if deadline <= beyond.limit {
                misses += beyond.count;
            } else if beyond.max.is_none_or(|max| max > deadline) {
                // Where the greatest is known to be later, that one is.
                let certain = u64::from(beyond.max.is_some()).min(beyond.count);
                misses += certain;
                possible = beyond.count - certain;
            }
        }
        let interval = if missing.lost > 0 {
            Err(NoInterval::Unrecorded)
        } else if count < FEWEST {
            Err(NoInterval::TooFewSamples { samples: count, needed: FEWEST })
        } else if missing.unordered {
            Ok(count as f64)
        } else {
            effective(samples, &shape, deadline, confidence)
        };
        let interval = interval.map(|effective| {
            // The lowest possible rate from below, the highest from above.
            let [low, high] = [misses, misses + possible].map(|misses| {
                // The quotient first: of all samples it is exactly 1.
                clopper_pearson(misses as f64 / count as f64 * effective, effective, confidence)
            });
            Interval { low: low.low, high: high.high }
        });
        let rate = misses as f64 / count as f64;
        let assumes_independence = missing.unordered && interval.is_ok();
        Some(Deadline {
            deadline,
            misses,
            possible,
            count,
            lost: missing.lost,
            rate,
            interval,
            confidence,
            assumes_independence,
        })
    }

    /// The answer in English, for example "3 of 10000 samples are above 50 µs; with 95 % confidence the true share is between
    /// 1 in 16163 and 1 in 1140." `deadline` is the deadline as it is to be written. Rounding widens the interval.
    pub fn sentence(&self, deadline: &str) -> String {
        let Deadline { misses, possible, count, .. } = self;
        let verb = |number: u64| if number == 1 { "is" } else { "are" };
        let fact = if *possible > 0 {
            let most = misses + possible;
            format!(
                "Between {misses} and {most} of {count} samples are above {deadline}: more was not recorded of them"
            )
        } else if *misses == 0 {
            format!("None of {count} samples is above {deadline}")
        } else if misses == count {
            format!("All of {count} samples are above {deadline}")
        } else {
            format!("{misses} of {count} samples {} above {deadline}", verb(*misses))
        };
        let lost = match self.lost {
            0 => String::new(),
            lost => format!(" {lost} more {} lost for want of room.", if lost == 1 { "was" } else { "were" }),
        };
        match self.interval {
            Err(why) => format!("{fact}.{lost} How often it would be in a longer run cannot be said: {why}."),
            Ok(interval) => {
                let condition = if self.assumes_independence {
                    "if they are independent, which their counts do not show, "
                } else {
                    ""
                };
                let (low, high) = shares(interval);
                let share = if *misses + possible == 0 {
                    format!("at most {high} is")
                } else if misses == count {
                    format!("at least {low} are")
                } else {
                    format!("the true share is between {low} and {high}")
                };
                format!("{fact}; {condition}with {} % confidence {share}.", percent(self.confidence))
            }
        }
    }
}

/// So many independent samples would tell as much about the rate of misses.
fn effective(samples: &dyn Samples, shape: &Shape, deadline: u64, confidence: f64) -> Result<f64, NoInterval> {
    let count = shape.count();
    let ranks = shape.at_ranks(samples, &[count / 2, top(count)]);
    let profile = Profile::of(samples, shape.mean(), &[ranks[0], ranks[1], deadline], confidence);
    let least = profile.effective(0, Sum::Count)?.min(profile.effective(1, Sum::TailCount)?);
    let of_misses = profile.effective(2, Sum::TailCount)?;
    // Misses that came in a few bunches: how often bunches come, and how long they are, is not known then.
    let bunches = profile.beyond(2) * of_misses;
    if bunches > 0.0 && bunches < BUNCHES && of_misses < count as f64 / 2.0 {
        return Err(NoInterval::Few);
    }
    Ok(if bunches >= MANY_BUNCHES { of_misses } else { least.min(of_misses) })
}

/// The ends of an interval of shares as text, in one form: in percent, or as one in so many when both are small. The low end
/// is rounded down, the high end up.
fn shares(interval: Interval) -> (String, String) {
    let Interval { low, high } = interval;
    if high < 0.01 {
        let low = if low > 0.0 { format!("1 in {:.0}", libm::ceil(1.0 / low)) } else { "0".into() };
        return (low, format!("1 in {:.0}", libm::floor(1.0 / high)));
    }
    // Enough decimals for two digits of the low end.
    let decimals = if low > 0.0 { (-libm::floor(libm::log10(low * 100.0)) as i32 + 1).clamp(1, 8) } else { 1 };
    let step = libm::pow(10.0, f64::from(decimals));
    let decimals = decimals as usize;
    let low = libm::floor(low * 100.0 * step) / step;
    let high = libm::ceil(high * 1000.0) / 10.0;
    (format!("{low:.decimals$} %"), format!("{high:.1} %"))
}

/// The exact interval of that confidence of the rate of an event seen `k` times in `n > 0` independent trials. Two-sided, except
/// that an event seen never or always has only one end to be uncertain about, which then gets all that the interval may miss.
pub fn clopper_pearson(k: f64, n: f64, confidence: f64) -> Interval {
    let miss = 1.0 - confidence;
    if k <= 0.0 {
        Interval { low: 0.0, high: -libm::expm1(libm::log(miss) / n) }
    } else if k >= n {
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
    use crate::stats::{Beyond, Partial, Unrecorded};
    use alloc::vec;
    use alloc::vec::Vec;
    use proptest::prelude::*;

    #[test]
    fn the_exact_interval_is_that_of_the_published_tables() {
        for (events, count, low, high) in
            [(1.0, 10.0, 0.002_529, 0.445_016), (5.0, 100.0, 0.016_432, 0.112_835), (50.0, 100.0, 0.398_321, 0.601_679)]
        {
            let got = clopper_pearson(events, count, CONFIDENCE);
            assert!((got.low - low).abs() < 1e-6 && (got.high - high).abs() < 1e-6, "{events} of {count}: {got:?}");
        }
    }

    #[test]
    fn without_a_miss_the_bound_is_the_rule_of_three() {
        for count in [100.0, 10_000.0, 10_000_000.0] {
            let bound = clopper_pearson(0.0, count, CONFIDENCE).high * count;
            assert!((2.9..=3.0).contains(&bound), "{bound}");
        }
    }

    #[test]
    fn ten_million_samples_have_an_interval_of_the_normal_approximation() {
        let (k, n) = (5_000.0, 1e7);
        let got = clopper_pearson(k, n, CONFIDENCE);
        let half = 1.96 * libm::sqrt(k) / n;
        assert!((got.low - (k / n - half)).abs() < 0.02 * half, "{got:?}");
        assert!((got.high - (k / n + half)).abs() < 0.02 * half, "{got:?}");
    }

    fn interval(deadline: &Deadline) -> Interval {
        deadline.interval.unwrap()
    }

    #[test]
    fn independent_misses_get_about_the_exact_interval() {
        let samples = exponential(9, 20_000, 1e5);
        let got = Deadline::of(&samples, 300_000).unwrap();
        let exact = clopper_pearson(got.misses as f64, got.count as f64, CONFIDENCE);
        assert!((0.99..1.4).contains(&(interval(&got).width() / exact.width())), "{got:?} {exact:?}");
    }

    /// A run that goes on while a share of one in twenty is not decided, and has that share, is told a side as often as it says.
    #[test]
    fn several_looks_are_wrong_no_more_often_than_one_where_each_has_its_part() {
        let mut seeds = 0..;
        let mut wrong = |confidence: f64| {
            let told = (0..400).filter(|_| {
                let samples = exponential(seeds.next().unwrap_or(0), 4000, 1e5);
                let deadline = (1e5 * libm::log(20.0)) as u64;
                [500, 1000, 2000, 4000].iter().any(|looked| {
                    let got = Deadline::with(&&samples[..*looked], deadline, confidence).unwrap();
                    got.interval.is_ok_and(|interval| !interval.contains(0.05))
                })
            });
            told.count()
        };
        let (in_parts, each_by_itself) = (wrong(1.0 - 0.05 / 4.0), wrong(CONFIDENCE));
        assert!(in_parts <= 24, "{in_parts} of 400");
        assert!(each_by_itself > in_parts + 10, "{each_by_itself} of 400");
        let wider = Deadline::with(&exponential(9, 20_000, 1e5), 300_000, 0.9875).unwrap();
        assert!(wider.sentence("100 µs").contains("; with 98.8 % confidence the true share is between "), "{wider:?}");
    }

    /// As wake-ups beside one that computes are: starts differ in their level and in how often one is late, and the late ones come two
    /// or three in a row.
    #[test]
    fn many_bunches_of_starts_that_differ_hold_the_truth() {
        let (mut given, mut held) = (0, 0);
        for seed in 0..200 {
            let mut random = fastrand::Rng::with_seed(seed);
            let mut samples = Vec::new();
            for _ in 0..60 {
                let (level, often) = (random.u64(50..150), random.f64() * 0.004);
                let first = samples.len();
                samples.extend((0..600).map(|_| level + random.u64(0..100)));
                for at in first..samples.len() {
                    if random.f64() < often {
                        let until = (at + random.usize(2..4)).min(samples.len());
                        samples[at..until].fill(1000);
                    }
                }
            }
            // Half of the starts' greatest, of 2.5 samples a bunch but for those that overlap.
            let truth = 0.002 * 2.5;
            if let Ok(interval) = Deadline::of(&samples, 500).unwrap().interval {
                given += 1;
                held += u32::from(interval.contains(truth));
            }
        }
        assert!(given >= 120 && f64::from(held) >= 0.91 * f64::from(given), "{held} of {given}");
    }

    #[test]
    fn misses_in_bunches_get_the_wider_interval() {
        let mut samples = exponential(9, 20_000, 1e5);
        (0..10).for_each(|bunch| samples[2000 * bunch + 77 * bunch..][..20].fill(10_000_000));
        let got = Deadline::of(&samples, 5_000_000).unwrap();
        assert_eq!((got.misses, got.count, got.rate), (200, 20_000, 0.01));
        assert!(interval(&got).width() > 3.0 * clopper_pearson(200.0, 20_000.0, CONFIDENCE).width(), "{got:?}");
        assert!(interval(&got).contains(got.rate));
    }

    #[test]
    fn a_sample_that_takes_just_the_deadline_meets_it() {
        let samples = vec![5u64, 6, 7];
        assert_eq!(Deadline::of(&samples, 6).unwrap().misses, 1);
        assert_eq!(Deadline::of(&Vec::new(), 6), None);
    }

    #[test]
    fn the_answer_is_one_sentence() {
        let none = Deadline::of(&vec![10u64; 10_000], 50).unwrap();
        assert_eq!(
            none.sentence("50 ns"),
            "None of 10000 samples is above 50 ns; with 95 % confidence at most 1 in 3338 is."
        );
        let all = Deadline::of(&vec![10u64; 100], 5).unwrap();
        assert_eq!(
            all.sentence("5 ns"),
            "All of 100 samples are above 5 ns; with 95 % confidence at least 97.0 % are."
        );
        let mut samples = vec![10u64; 10_000];
        for at in [1000, 5000, 9000] {
            samples[at] = 60;
        }
        let some = Deadline::of(&samples, 50).unwrap();
        assert_eq!(
            some.sentence("50 ns"),
            "3 of 10000 samples are above 50 ns; with 95 % confidence the true share is between 1 in 16163 and 1 in 1140."
        );
        let few = Deadline::of(&vec![10u64; 12], 50).unwrap();
        assert_eq!(
            few.sentence("50 ns"),
            "None of 12 samples is above 50 ns. How often it would be in a longer run cannot be said: 12 samples are too few, \
             it takes 32."
        );
    }

    #[test]
    fn the_two_ends_of_a_share_have_one_form() {
        let of = |low, high| shares(Interval { low, high });
        assert_eq!(of(1.0 / 177.0, 0.0199), ("0.56 %".into(), "2.0 %".into()));
        assert_eq!(of(0.25, 0.3111), ("25.0 %".into(), "31.2 %".into()));
        assert_eq!(of(0.000_05, 0.02), ("0.0050 %".into(), "2.0 %".into()));
        assert_eq!(of(0.0, 0.02), ("0.0 %".into(), "2.0 %".into()));
        assert_eq!(of(0.0, 0.002), ("0".into(), "1 in 500".into()));
    }

    #[test]
    fn samples_beyond_a_limit_miss_what_is_below_it_and_may_miss_what_is_above() {
        let beyond =
            |max| Unrecorded { lost: 0, beyond: Some(Beyond { limit: 15, count: 1000, max }), unordered: true };
        let of = |max, deadline| {
            Deadline::of(&Partial { recorded: vec![10; 1000], unrecorded: beyond(max) }, deadline).unwrap()
        };
        let known = of(Some(50_000), 12);
        assert_eq!((known.misses, known.possible, known.count, known.rate), (1000, 0, 2000, 0.5));
        assert_eq!(
            known.sentence("12 ns"),
            "1000 of 2000 samples are above 12 ns; if they are independent, which their counts do not show, with 95 % confidence \
             the true share is between 47.7 % and 52.3 %."
        );
        let above = of(Some(50_000), 50);
        assert_eq!((above.misses, above.possible), (1, 999));
        assert!(above.sentence("50 ns").starts_with(
            "Between 1 and 1000 of 2000 samples are above 50 ns: more was not recorded of them; if they are independent"
        ));
        assert!(interval(&above).low < 0.0002 && interval(&above).high > 0.52, "{above:?}");
        assert_eq!((of(Some(40), 50).misses, of(Some(40), 50).possible), (0, 0));
        assert_eq!((of(None, 50).misses, of(None, 50).possible), (0, 1000));
    }

    #[test]
    fn all_samples_that_depend_on_each_other_are_all() {
        let mut intervals = 0;
        for count in 10..120 {
            let samples: Vec<u64> =
                exponential(count, count as usize, 1000.0).into_iter().flat_map(|sample| [sample + 1; 4]).collect();
            if let Ok(interval) = Deadline::of(&samples, 0).unwrap().interval {
                intervals += 1;
                assert!(interval.low < 1.0 && interval.high == 1.0, "{count}: {interval:?}");
            }
        }
        assert!(intervals > 30, "{intervals}");
    }

    #[test]
    fn lost_samples_leave_no_interval() {
        let lost = Unrecorded { lost: 3050, ..Unrecorded::default() };
        let got = Deadline::of(&Partial { recorded: vec![10; 50], unrecorded: lost }, 50).unwrap();
        assert_eq!(got.interval, Err(NoInterval::Unrecorded));
        assert_eq!(
            got.sentence("50 ns"),
            "None of 50 samples is above 50 ns. 3050 more were lost for want of room. How often it would be in a longer run \
             cannot be said: not all samples that were taken were recorded."
        );
    }

    proptest! {
        #[test]
        fn misses_are_counted_exactly(samples in proptest::collection::vec(0u64..100, 1..500), deadline in 0u64..100) {
            let got = Deadline::of(&samples, deadline).unwrap();
            prop_assert_eq!(got.misses, samples.iter().filter(|&&sample| sample > deadline).count() as u64);
            if let Ok(interval) = got.interval {
                prop_assert!(0.0 <= interval.low && interval.high <= 1.0 && interval.contains(got.rate));
            }
        }
    }
}
