//! The distribution of a series, reduced in one pass to a table of bounded size.
//!
//! The table is log-linear: 1024 buckets of equal width for each power of two, so a bucket is never wider than 0.1 % of
//! its values, and every value below 2048 has a bucket of its own (the layout that fio's `stat.h` and HdrHistogram use).
//! It has 56,320 counters for all of `u64`, whatever the samples are. Plots draw from the table; exact quantiles come
//! from [`crate::stats::refine`], which reads the samples again for the few buckets that matter.

use super::samples::Samples;
use super::sums::Sums;
use alloc::boxed::Box;
use alloc::vec;

/// Each power of two is divided into 2^PRECISION buckets.
const PRECISION: u32 = 10;
const PER_OCTAVE: u64 = 1 << PRECISION;
/// The number of buckets that cover `u64`.
pub(super) const BUCKETS: usize = ((64 - PRECISION as usize) + 1) << PRECISION;

/// The bucket of a sample; buckets are numbered in the order of their samples.
#[inline]
pub(super) fn bucket_of(sample: u64) -> usize {
    // Setting the bit gives all small samples the shift 0 without a branch.
    let shift = 63 - PRECISION - (sample | PER_OCTAVE).leading_zeros();
    ((shift << PRECISION) as u64 + (sample >> shift)) as usize
}

/// The lowest sample of a bucket, and the number of bits b such that it holds 2^b different samples.
pub(super) fn bounds_of(bucket: usize) -> (u64, u32) {
    let bucket = bucket as u64;
    let shift = (bucket >> PRECISION).saturating_sub(1);
    ((bucket - (shift << PRECISION)) << shift, shift as u32)
}

/// One non-empty bucket of a [`Shape`]: `count` samples lie in `low..=high`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bucket {
    pub low: u64,
    pub high: u64,
    pub count: u64,
}

/// A series reduced in one pass: extremes, exact sums, and the number of samples in each bucket.
#[derive(Clone, Debug)]
pub struct Shape {
    min: u64,
    max: u64,
    sums: Sums,
    table: Box<[u64]>,
}

impl Shape {
    /// Reads the samples once; `None` of an empty series.
    pub fn of(samples: &dyn Samples) -> Option<Shape> {
        if samples.is_empty() {
            return None;
        }
        let mut shape =
            Shape { min: u64::MAX, max: 0, sums: Sums::default(), table: vec![0; BUCKETS].into_boxed_slice() };
        samples.visit_counted(&mut |piece, times| {
            // Chunks that stay in the first-level cache, because each is read twice.
            for chunk in piece.chunks(2048) {
                shape.sums.add(chunk, times);
                let (mut min, mut max) = (shape.min, shape.max);
                for &sample in chunk {
                    min = min.min(sample);
                    max = max.max(sample);
                    shape.table[bucket_of(sample)] += times;
                }
                (shape.min, shape.max) = (min, max);
            }
        });
        Some(shape)
    }

    pub fn count(&self) -> u64 {
        self.sums.count()
    }

    pub fn min(&self) -> u64 {
        self.min
    }

    pub fn max(&self) -> u64 {
        self.max
    }

    pub fn sums(&self) -> &Sums {
        &self.sums
    }

    /// The arithmetic mean.
    pub fn mean(&self) -> f64 {
        // A shape has at least one sample.
        self.sums.mean().unwrap_or(f64::NAN)
    }

    /// The buckets that hold a sample, in rising order.
    pub fn buckets(&self) -> impl Iterator<Item = Bucket> + '_ {
        let used = bucket_of(self.min)..=bucket_of(self.max);
        used.map(|bucket| (bucket, self.table[bucket])).filter(|&(_, count)| count > 0).map(|(bucket, count)| {
            let (low, bits) = bounds_of(bucket);
            Bucket { low, high: low + ((1u64 << bits) - 1), count }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::Quantile;
    use crate::stats::testing::{sorted, type_7};
    use alloc::vec::Vec;
    use proptest::prelude::*;

    #[test]
    fn buckets_cover_all_samples_without_gap_or_overlap() {
        let mut next = 0u64;
        for bucket in 0..BUCKETS {
            let (low, bits) = bounds_of(bucket);
            assert_eq!(low, next);
            let high = low + ((1u64 << bits) - 1);
            assert_eq!((bucket_of(low), bucket_of(high)), (bucket, bucket));
            assert!(bits == 0 || (1u64 << bits) as f64 / low as f64 <= 0.001);
            next = high.wrapping_add(1);
        }
        assert_eq!(next, 0, "the last bucket ends with the last u64");
    }

    #[test]
    fn an_empty_series_has_no_shape() {
        let nothing: &[u64] = &[];
        assert!(Shape::of(&nothing).is_none());
    }

    fn any_samples() -> impl Strategy<Value = Vec<u64>> {
        let one = prop_oneof![
            any::<u64>(),
            0u64..50,
            40_000u64..60_000,
            5_000_000_000u64..5_000_100_000,
            Just(u64::MAX),
            (0u32..64).prop_map(|bit| 1 << bit),
        ];
        prop_oneof![proptest::collection::vec(one, 1..400), (any::<u64>(), 1usize..300).prop_map(|(x, n)| vec![x; n])]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(128))]
        #[test]
        fn the_shape_agrees_with_sorting(samples in any_samples()) {
            let shape = Shape::of(&samples).unwrap();
            let sorted = sorted(&samples);
            prop_assert_eq!(shape.count(), sorted.len() as u64);
            prop_assert_eq!((shape.min(), shape.max()), (sorted[0], sorted[sorted.len() - 1]));
            let mut rest = sorted.as_slice();
            for bucket in shape.buckets() {
                let (here, later) = rest.split_at(bucket.count as usize);
                prop_assert!(here.iter().all(|&x| bucket.low <= x && x <= bucket.high));
                rest = later;
            }
            prop_assert!(rest.is_empty());
        }

        #[test]
        fn every_order_statistic_is_exact(samples in any_samples()) {
            let shape = Shape::of(&samples).unwrap();
            // Backwards and with one rank past the end, since the answer is to follow the question.
            let ranks: Vec<u64> = (0..=samples.len() as u64).rev().collect();
            let mut expected = sorted(&samples);
            expected.push(expected[expected.len() - 1]);
            expected.reverse();
            prop_assert_eq!(shape.at_ranks(&samples, &ranks), expected);
        }

        #[test]
        fn quartiles_are_of_type_7(samples in any_samples()) {
            let shape = Shape::of(&samples).unwrap();
            let sorted = sorted(&samples);
            let wanted = [Quantile::LOWER_QUARTILE, Quantile::MEDIAN, Quantile::UPPER_QUARTILE];
            let expected: Vec<f64> = [0.25, 0.5, 0.75].iter().map(|&p| type_7(&sorted, p)).collect();
            prop_assert_eq!(shape.quantiles(&samples, &wanted), expected);
        }
    }
}
