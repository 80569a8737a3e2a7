//! Decisions: whether a deadline is missed at most as often as is allowed.
//!
//! A decision stands on the interval of the rate of misses ([`super::deadline`]), and says no more than that: it is met
//! when the whole interval is below the share that is allowed, not met when the whole is above, and otherwise the samples
//! do not tell. So it is wrong at most as often as the interval is, and samples that could not show so small a share, even
//! if all of them were in time, never meet anything.

use super::deadline::{Deadline, clopper_pearson};
use super::interval::CONFIDENCE;
use super::no_interval::NoInterval;

/// Whether a requirement is met.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "std", derive(serde::Serialize))]
#[cfg_attr(feature = "std", serde(rename_all = "kebab-case"))]
pub enum Decision {
    Meets,
    DoesNot,
    /// More samples of the same kind would tell.
    NotYet {
        /// How many times as many there would have to be in all, if misses go on as they were.
        times: f64,
    },
    /// More samples of the same kind would not tell, or it is not known how many would.
    Open {
        #[cfg_attr(feature = "std", serde(skip_serializing_if = "Option::is_none"))]
        why: Option<NoInterval>,
    },
}

/// More times as many samples are not asked for: the rate is the allowed one, as far as anybody could tell.
const MOST_TIMES: f64 = 1e4;

impl Decision {
    /// Whether at most the share `allowed` of all misses the deadline.
    pub fn of(deadline: &Deadline, allowed: f64) -> Self {
        let interval = match deadline.interval {
            Ok(interval) => interval,
            Err(NoInterval::TooFewSamples { samples, needed }) => {
                // By the rule of three, as if none of them were late.
                let needed = (needed as f64).max(3.0 / allowed);
                return Self::NotYet { times: needed / samples.max(1) as f64 };
            }
            Err(why) => return Self::Open { why: Some(why) },
        };
        if interval.high <= allowed {
            return Self::Meets;
        }
        if interval.low > allowed {
            return Self::DoesNot;
        }
        // What may be a miss makes the interval wide, and more samples do not make it narrow.
        if deadline.possible > 0 {
            return Self::Open { why: Some(NoInterval::Unrecorded) };
        }
        let effective = independent(deadline, interval.high);
        let told = |times: f64| {
            let more = clopper_pearson(deadline.rate * effective * times, effective * times, deadline.confidence);
            more.high <= allowed || more.low > allowed
        };
        match first(told) {
            Some(times) => Self::NotYet { times },
            None => Self::Open { why: None },
        }
    }
}

/// The samples of one start, and how many of them are late.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Start {
    pub samples: u64,
    pub late: u64,
}

impl Decision {
    /// The same, where the samples have no interval and their starts tell: fresh processes, each of which is late at least once
    /// with at most the chance of all its samples together, however they depend on each other.
    #[must_use]
    pub fn or_by_starts(self, starts: &[Start], allowed: f64) -> Self {
        if !matches!(self, Self::Open { why: Some(_) }) {
            return self;
        }
        let late = starts.iter().filter(|start| start.late > 0).count();
        let most = starts.iter().map(|start| start.samples).max().unwrap_or(0);
        let told =
            late > 0 && clopper_pearson(late as f64, starts.len() as f64, CONFIDENCE).low > most as f64 * allowed;
        if told { Self::DoesNot } else { self }
    }
}

/// So many independent samples with that rate of misses have an interval that ends at `high`.
fn independent(deadline: &Deadline, high: f64) -> f64 {
    let (mut low, mut most) = (0.0, libm::log(deadline.count as f64));
    // The end comes nearer to the rate with each sample.
    for _ in 0..60 {
        let middle = (low + most) / 2.0;
        let samples = libm::exp(middle);
        if clopper_pearson(deadline.rate * samples, samples, deadline.confidence).high > high {
            low = middle
        } else {
            most = middle
        }
    }
    libm::exp(most)
}

/// The least number above 1 of which `told` is true, to two digits.
fn first(told: impl Fn(f64) -> bool) -> Option<f64> {
    let mut times = 1.0;
    while times <= MOST_TIMES {
        times *= 1.02;
        if told(times) {
            return Some(times);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::testing::exponential;

    use alloc::vec::Vec;

    /// The decision about samples of which every `every`-th is late.
    fn decided(count: usize, every: usize, allowed: f64) -> Decision {
        // Prime steps, so that lateness has no rhythm with the rest.
        let mut samples = exponential(7, count, 1000.0);
        samples.iter_mut().for_each(|sample| *sample = (*sample).min(99_999));
        samples.iter_mut().skip(every / 2).step_by(every).for_each(|sample| *sample = 200_000);
        Decision::of(&Deadline::of(&&samples[..], 100_000).expect("samples"), allowed)
    }

    fn of_none_late(count: usize, allowed: f64) -> Decision {
        decided(count, usize::MAX, allowed)
    }

    #[test]
    fn a_share_that_the_samples_cannot_show_is_never_met() {
        // Three over the share, by the rule of three.
        for (count, allowed) in [(1_000, 1e-3), (2_900, 1e-3), (10_000, 1e-4), (100_000, 1e-5), (29_000, 1e-4)] {
            let decision = of_none_late(count, allowed);
            assert!(matches!(decision, Decision::NotYet { .. }), "{count} {allowed}: {decision:?}");
        }
        // Samples that look as if they told less than as many independent ones have to be more.
        assert_eq!(of_none_late(10_000, 1e-3), Decision::Meets);
        assert_eq!(of_none_late(100_000, 1e-4), Decision::Meets);
    }

    #[test]
    fn so_many_more_samples_as_it_says_would_tell() {
        let Decision::NotYet { times } = of_none_late(10_000, 1e-4) else { panic!("10,000 cannot tell 1e-4") };
        assert!((2.9..9.0).contains(&times), "{times}");
        assert_eq!(of_none_late((10_000.0 * times * 1.2) as usize, 1e-4), Decision::Meets);
    }

    #[test]
    fn what_is_late_too_often_is_told() {
        assert_eq!(decided(50_000, 500, 1e-4), Decision::DoesNot);
        assert_eq!(decided(50_000, 500, 1e-2), Decision::Meets);
        // The very share: no number of samples tells on which side it is.
        let decision = decided(50_000, 1_000, 1e-3);
        assert!(matches!(decision, Decision::Open { why: None }), "{decision:?}");
    }

    #[test]
    fn what_has_no_interval_has_no_decision() {
        let few = Deadline::of(&&[1u64; 3][..], 10).expect("samples");
        assert!(matches!(Decision::of(&few, 0.1), Decision::NotYet { .. }), "{few:?}");
        let drifting: Vec<u64> = (0..20_000).map(|n| n * 10).collect();
        let drifting = Deadline::of(&&drifting[..], 190_000).expect("samples");
        assert!(matches!(Decision::of(&drifting, 0.5), Decision::Open { why: Some(_) }), "{drifting:?}");
    }

    #[test]
    fn starts_tell_where_samples_do_not() {
        let open = Decision::Open { why: Some(NoInterval::Dependent) };
        let starts: Vec<Start> = (0..20).map(|n| Start { samples: 100, late: u64::from(n % 2 == 0) * 7 }).collect();
        assert_eq!(open.or_by_starts(&starts, 1e-4), Decision::DoesNot);
        // Half of the starts have one late at least, as a share of 1 in 200 may have.
        assert_eq!(open.or_by_starts(&starts, 5e-3), open);
        assert_eq!(open.or_by_starts(&starts[..1], 1e-4), Decision::DoesNot, "5 % of all times, and that is 1 %");
        assert_eq!(open.or_by_starts(&[Start { samples: 100, late: 0 }; 20], 1e-4), open);
        assert_eq!(Decision::Meets.or_by_starts(&starts, 1e-4), Decision::Meets);
    }
}
