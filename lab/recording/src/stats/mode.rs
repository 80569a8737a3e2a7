//! The mode: the bin of equal width that holds the most samples.
//!
//! A mode of measured times depends on the width of the bins, so the width is part of the result. Unless the caller
//! gives a width, it is that of Freedman and Diaconis, 2 IQR / n^(1/3) ("On the histogram as a density estimator",
//! 1981), rounded up to 1, 2 or 5 times a power of ten so that it is easy to read. Bins start at multiples of the
//! width: with 1000 ns a bin is one truncated microsecond, as in the published tables.
//!
//! Only bins up to the one that holds the p99.9 (nearest rank) take part, and a width, given or not, is raised to
//! (p99.9 - min) / 65536 rounded up in the same way. Both rules bound the memory; the samples above the p99.9 are at
//! most a thousandth of all, and not what a mode is to show.

use super::samples::Samples;
use alloc::vec;
use core::num::NonZeroU64;

const BINS: u64 = 1 << 16;

/// The fullest bin, `value..value + bin_width`; of several equally full ones the lowest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "std", derive(serde::Serialize))]
pub struct Mode {
    /// The lower edge of the bin, a multiple of the width.
    pub value: u64,
    pub bin_width: u64,
    /// The number of samples in the bin.
    pub count: u64,
}

/// The width of the bins, given the number of samples, their interquartile range, minimum and p99.9, and a wish.
pub fn bin_width(count: u64, interquartile: f64, min: u64, p99_9: u64, wished: Option<NonZeroU64>) -> u64 {
    let least = p99_9.saturating_sub(min).div_ceil(BINS);
    match wished {
        Some(width) if width.get() >= least => width.get(),
        Some(_) => readable(least as f64),
        None => readable((2.0 * interquartile / libm::cbrt(count as f64)).max(least as f64)),
    }
}

/// The smallest of 1, 2, 5, 10, 20, 50, ... that is not below `width`.
fn readable(width: f64) -> u64 {
    let powers = (0..20).map(|power| 10u64.pow(power));
    let mut steps = powers.flat_map(|power| [Some(power), power.checked_mul(2), power.checked_mul(5)]).flatten();
    steps.find(|&step| step as f64 >= width).unwrap_or(u64::MAX)
}

/// The mode of the samples with bins of `width > 0`, among the bins from that of `min` (the minimum of the samples) to
/// that of `p99_9`. Reads the samples once.
pub fn mode(samples: &dyn Samples, min: u64, p99_9: u64, width: u64) -> Mode {
    let width = width.max(1);
    let first = min / width;
    let mut bins = vec![0u64; (p99_9 / width - first) as usize + 1];
    // Multiplying by the reciprocal instead of dividing: the quotient comes out right or one too small.
    let reciprocal = u128::from(u64::MAX / width);
    samples.visit_counted(&mut |piece, times| {
        for &sample in piece {
            let near = ((u128::from(sample) * reciprocal) >> 64) as u64;
            let bin = near + u64::from(sample - near * width >= width);
            if let Some(bin) = bins.get_mut((bin - first) as usize) {
                *bin += times;
            }
        }
    });
    let mut fullest = (0, 0);
    for (bin, &count) in bins.iter().enumerate() {
        if count > fullest.1 {
            fullest = (bin as u64, count);
        }
    }
    Mode { value: (first + fullest.0) * width, bin_width: width, count: fullest.1 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::Quantile;
    use crate::stats::testing::sorted;
    use alloc::collections::BTreeMap;
    use alloc::vec::Vec;
    use proptest::prelude::*;

    #[test]
    fn widths_are_rounded_up_to_one_two_or_five() {
        for (width, expected) in
            [(0.0, 1), (1.0, 1), (1.1, 2), (2.5, 5), (5.1, 10), (101.0, 200), (5e18, 5_000_000_000_000_000_000)]
        {
            assert_eq!(readable(width), expected, "{width}");
        }
        assert_eq!(readable(1.5e19), u64::MAX);
    }

    #[test]
    fn a_width_that_needs_too_many_bins_is_raised() {
        assert_eq!(bin_width(1000, 10.0, 0, 65_536_000, NonZeroU64::new(1000)), 1000);
        assert_eq!(bin_width(1000, 10.0, 0, 65_536_001, NonZeroU64::new(1000)), 2000);
        assert_eq!(bin_width(1000, 10.0, 0, 6_553_600, None), 100);
    }

    #[test]
    fn microseconds_are_truncated_as_in_the_published_tables() {
        let samples = [5_998_999u64, 5_999_000, 5_999_999, 6_000_000, 6_000_500, 6_000_999].to_vec();
        assert_eq!(mode(&samples, 5_998_999, 6_000_999, 1000), Mode { value: 6_000_000, bin_width: 1000, count: 3 });
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn the_mode_is_the_fullest_bin_and_the_lowest_of_equals(
            samples in proptest::collection::vec(prop_oneof![0u64..100_000, Just(u64::MAX - 5), u64::MAX - 100_000..], 1..200),
            wished in proptest::option::of(1u64..5000),
        ) {
            let sorted = sorted(&samples);
            let p99_9 = sorted[Quantile::P99_9.position(sorted.len() as u64).rank as usize];
            let width = bin_width(sorted.len() as u64, 7.0, sorted[0], p99_9, wished.and_then(NonZeroU64::new));
            let mut bins: BTreeMap<u64, u64> = BTreeMap::new();
            for &sample in &samples {
                *bins.entry(sample / width).or_default() += 1;
            }
            let most = *bins.values().max().unwrap();
            let candidates: Vec<u64> = bins.iter().filter(|&(_, &count)| count == most).map(|(&bin, _)| bin * width).collect();
            let expected = Mode { value: candidates[0], bin_width: width, count: most };
            prop_assert_eq!(mode(&samples, sorted[0], p99_9, width), expected);
        }
    }
}
