//! Count, sum and sum of squares of a series, exactly, and the mean and variance that follow from them.
//!
//! A running mean and variance in floating point lose digits when the samples are large and close together, which is
//! the normal case for a good real-time series. Here the sums are integers: the sum of n samples below 2^64 fits 128
//! bits for every n below 2^64, and the sum of their squares fits 192. Only the very last division is in floating
//! point, so the mean and the variance are as exact as an `f64` can be, whatever the order and number of the samples.

/// Exact sums of a series. Sums of two series can be had by adding the samples of both.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sums {
    count: u64,
    sum: u128,
    /// The sum of squares is `squares + carries * 2^128`.
    squares: u128,
    carries: u64,
}

impl Sums {
    /// Adds each of the samples so many times.
    pub fn add(&mut self, samples: &[u64], times: u64) {
        if times != 1 {
            return samples.iter().for_each(|&sample| self.add_times(sample, times));
        }
        let (mut sum, mut squares, mut carries) = (self.sum, self.squares, self.carries);
        for &sample in samples {
            let wide = u128::from(sample);
            sum += wide;
            let (total, carry) = squares.overflowing_add(wide * wide);
            squares = total;
            carries += u64::from(carry);
        }
        *self = Sums { count: self.count + samples.len() as u64, sum, squares, carries };
    }

    fn add_times(&mut self, sample: u64, times: u64) {
        self.count += times;
        self.sum += u128::from(sample) * u128::from(times);
        // The square in two halves, each of which has room for the factor.
        let square = u128::from(sample) * u128::from(sample);
        let low = (square & u128::from(u64::MAX)) * u128::from(times);
        let high = (square >> 64) * u128::from(times);
        let (total, carry) = self.squares.overflowing_add(low);
        let (total, carry_of_high) = total.overflowing_add(high << 64);
        self.squares = total;
        self.carries += (high >> 64) as u64 + u64::from(carry) + u64::from(carry_of_high);
    }

    pub fn count(&self) -> u64 {
        self.count
    }

    pub fn sum(&self) -> u128 {
        self.sum
    }

    /// The arithmetic mean; `None` of nothing.
    pub fn mean(&self) -> Option<f64> {
        let count = u128::from(self.count);
        let whole = self.sum.checked_div(count)?;
        // Whole and remainder apart, so that a fraction survives beside a whole part that fills the f64.
        Some(whole as f64 + (self.sum % count) as f64 / self.count as f64)
    }

    /// The sample variance, sum((x - mean)^2) / (n - 1), in the squared unit of the samples; `None` below two samples.
    ///
    /// With the mean written as p + r/n (p its whole part, r the remainder of the sum), the sum of squared deviations is
    /// sum(x^2) - p (sum(x) + r) - r^2/n. All but the last term are integers, and they are subtracted as integers, where
    /// nothing is lost.
    pub fn variance(&self) -> Option<f64> {
        if self.count < 2 {
            return None;
        }
        let count = u128::from(self.count);
        let (whole, rest) = (self.sum / count, self.sum % count);
        // sum + rest stays below 2^128, because the sum is at most (2^64 - 1)^2 and the rest is below 2^64.
        let factor = self.sum + rest;
        let (factor_low, factor_high) = (factor & u128::from(u64::MAX), factor >> 64);
        let upper = whole * factor_high;
        let (product, carry) = (whole * factor_low).overflowing_add(upper << 64);
        let product_carries = (upper >> 64) as u64 + u64::from(carry);

        let (mut low, borrow) = self.squares.overflowing_sub(product);
        let mut high = self.carries - product_carries - u64::from(borrow);

        // Take r^2/n rounded up away as an integer and give the difference back as a fraction.
        let square = rest * rest;
        let (difference, borrow) = low.overflowing_sub(square.div_ceil(count));
        low = difference;
        high -= u64::from(borrow);
        let fraction = (square.div_ceil(count) * count - square) as f64 / self.count as f64;

        let two_to_128 = 2.0 * (1u128 << 127) as f64;
        let squared = high as f64 * two_to_128 + low as f64 + fraction;
        Some(squared / (self.count - 1) as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;
    use proptest::prelude::*;

    fn of(samples: &[u64]) -> Sums {
        let mut sums = Sums::default();
        sums.add(samples, 1);
        sums
    }

    #[test]
    fn nothing_has_no_mean_and_one_sample_no_variance() {
        assert_eq!(of(&[]).mean(), None);
        assert_eq!(of(&[7]).mean(), Some(7.0));
        assert_eq!(of(&[7]).variance(), None);
    }

    #[test]
    fn the_variance_divides_by_n_minus_one() {
        assert_eq!(of(&[2, 4, 4, 4, 5, 5, 7, 9]).variance(), Some(32.0 / 7.0));
        assert_eq!(of(&[1, 2]).variance(), Some(0.5));
    }

    #[test]
    fn the_largest_samples_there_are_do_not_overflow() {
        let many = [u64::MAX; 1000];
        assert_eq!(of(&many).variance(), Some(0.0));
        assert_eq!(of(&many).mean(), Some(u64::MAX as f64));
        let half = (u64::MAX as f64) / 2.0;
        assert_eq!(of(&[0, u64::MAX]).variance(), Some(2.0 * half * half));
    }

    #[test]
    fn large_samples_that_lie_close_together_keep_every_digit() {
        let base = 1u64 << 62;
        assert_eq!(of(&[base, base + 1, base + 2]).variance(), Some(1.0));
    }

    proptest! {
        #[test]
        fn small_samples_agree_with_rational_arithmetic(samples in proptest::collection::vec(0u64..1 << 32, 2..60)) {
            let n = samples.len() as i128;
            let sum: i128 = samples.iter().map(|&x| i128::from(x)).sum();
            // n * sum((x - mean)^2) is an integer.
            let squared: i128 = samples.iter().map(|&x| (n * i128::from(x) - sum).pow(2)).sum::<i128>() / n;
            let expected = squared as f64 / (n * (n - 1)) as f64;
            let got = of(&samples).variance().unwrap();
            prop_assert!((got - expected).abs() <= 4.0 * f64::EPSILON * expected, "{got} {expected}");
            let mean = of(&samples).mean().unwrap();
            prop_assert!((mean - sum as f64 / n as f64).abs() <= 2.0 * f64::EPSILON * mean);
        }

        #[test]
        fn a_shift_of_all_samples_leaves_the_variance_alone(
            samples in proptest::collection::vec(0u64..1 << 40, 2..60), shift in 0u64..1 << 63,
        ) {
            let shifted: Vec<u64> = samples.iter().map(|x| x + shift).collect();
            prop_assert_eq!(of(&samples).variance(), of(&shifted).variance());
        }

        #[test]
        fn pieces_add_up_to_the_whole(a in proptest::collection::vec(any::<u64>(), 0..50), b in proptest::collection::vec(any::<u64>(), 0..50)) {
            let mut parts = of(&a);
            parts.add(&b, 1);
            prop_assert_eq!(parts, of(&[a, b].concat()));
        }

        #[test]
        fn many_times_is_as_often_one_by_one(sample in any::<u64>(), times in 0u64..40) {
            let mut sums = of(&[3, u64::MAX]);
            let mut one_by_one = sums;
            sums.add(&[sample], times);
            (0..times).for_each(|_| one_by_one.add(&[sample], 1));
            prop_assert_eq!(sums, one_by_one);
        }
    }
}
