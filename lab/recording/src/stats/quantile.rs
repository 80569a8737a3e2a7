//! Quantiles, defined by order statistics: quartiles by linear interpolation, tail percentiles by nearest rank.
//!
//! Quartiles interpolate linearly between neighbours (type 7 of Hyndman and Fan, "Sample Quantiles in Statistical
//! Packages", The American Statistician 50, 1996; what R, NumPy and matplotlib do). Tail percentiles take the nearest
//! rank, so that a p99.9 is a latency that really happened. A share is kept in millionths, because n * 0.999 in
//! floating point may land on either side of the integer that it equals.

/// A quantile to be taken; the number is the share of samples below it, in millionths (0 to 1,000,000).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantile {
    /// Linear interpolation at (n - 1) p of the samples counted from 0 (type 7).
    Interpolated(u32),
    /// The smallest sample that at least the share p of all samples does not exceed: rank ceil(n p), counted from 1.
    NearestRank(u32),
}

const WHOLE: u128 = 1_000_000;

/// Where a quantile lies in n sorted samples: `fraction` of the way from the sample at `rank` to the next. Ranks count
/// from 0; `fraction` is in [0, 1) and is 0 when there is no next sample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Position {
    pub rank: u64,
    pub fraction: f64,
}

impl Quantile {
    pub const LOWER_QUARTILE: Quantile = Quantile::Interpolated(250_000);
    pub const MEDIAN: Quantile = Quantile::Interpolated(500_000);
    pub const UPPER_QUARTILE: Quantile = Quantile::Interpolated(750_000);
    pub const P90: Quantile = Quantile::NearestRank(900_000);
    pub const P95: Quantile = Quantile::NearestRank(950_000);
    pub const P99: Quantile = Quantile::NearestRank(990_000);
    pub const P99_9: Quantile = Quantile::NearestRank(999_000);
    pub const P99_99: Quantile = Quantile::NearestRank(999_900);
    pub const P99_999: Quantile = Quantile::NearestRank(999_990);

    /// The share in millionths.
    fn millionths(self) -> u128 {
        match self {
            Quantile::Interpolated(share) | Quantile::NearestRank(share) => u128::from(share).min(WHOLE),
        }
    }

    /// The share of samples below the quantile, 0 to 1.
    pub fn share(self) -> f64 {
        self.millionths() as f64 / WHOLE as f64
    }

    /// Where the quantile lies in `count` sorted samples, `count > 0`.
    pub fn position(self, count: u64) -> Position {
        let last = count.saturating_sub(1);
        let share = self.millionths();
        match self {
            Quantile::Interpolated(_) => {
                let scaled = u128::from(last) * share;
                Position { rank: (scaled / WHOLE) as u64, fraction: (scaled % WHOLE) as f64 / WHOLE as f64 }
            }
            Quantile::NearestRank(_) => {
                let rank = (u128::from(count) * share).div_ceil(WHOLE) as u64;
                Position { rank: rank.saturating_sub(1).min(last), fraction: 0.0 }
            }
        }
    }

    /// Whether `count` samples are enough for this quantile: at least one sample is to be expected beyond it.
    pub fn is_within(self, count: u64) -> bool {
        u128::from(count) * (WHOLE - self.millionths()) >= WHOLE
    }
}

impl Position {
    /// The value between the sample at the rank and the next one.
    pub fn between(self, at: u64, next: u64) -> f64 {
        at as f64 + self.fraction * next.saturating_sub(at) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_of_an_even_number_lies_half_way_between_two_samples() {
        assert_eq!(Quantile::MEDIAN.position(4), Position { rank: 1, fraction: 0.5 });
        assert_eq!(Quantile::MEDIAN.position(5), Position { rank: 2, fraction: 0.0 });
        assert_eq!(Quantile::MEDIAN.position(1), Position { rank: 0, fraction: 0.0 });
    }

    #[test]
    fn nearest_ranks_are_not_moved_by_rounding() {
        for (quantile, count, rank) in [
            (Quantile::P90, 10, 9),
            (Quantile::P99, 100, 99),
            (Quantile::P99, 101, 100),
            (Quantile::P99_9, 1000, 999),
            (Quantile::P99_9, 7000, 6993),
            (Quantile::P99_99, 10_000, 9999),
            (Quantile::P99_999, 100_000, 99_999),
            (Quantile::P99_999, 10_000_000, 9_999_900),
        ] {
            assert_eq!(quantile.position(count).rank + 1, rank, "{quantile:?} of {count}");
        }
    }

    #[test]
    fn a_percentile_needs_a_sample_to_be_expected_beyond_it() {
        assert!(!Quantile::P99_9.is_within(999));
        assert!(Quantile::P99_9.is_within(1000));
        assert!(!Quantile::P99_999.is_within(99_999));
        assert!(Quantile::P99_999.is_within(100_000));
    }
}
