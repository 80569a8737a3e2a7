//! Tukey's box plot: a box from quartile to quartile, whiskers, and every sample beyond them.
//!
//! The whiskers end at the most extreme samples within 1.5 interquartile ranges of the box (Tukey, "Exploratory Data
//! Analysis", 1977), so they are clipped to the data and never show a value that did not occur. One case needs a rule: an
//! interpolated quartile may lie beyond the last sample within the fence; the whisker then has no length and ends at the
//! box, as in matplotlib. Outliers are counted here and can be visited one by one, since in real-time work they are the
//! result and a plot has to draw them all.

use super::quantile::Quantile;
use super::samples::Samples;
use super::shape::Shape;

/// In the unit of the samples.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "std", derive(serde::Serialize))]
pub struct BoxPlot {
    pub count: u64,
    pub min: u64,
    pub max: u64,
    /// Quartiles by linear interpolation, type 7.
    pub lower_quartile: f64,
    pub median: f64,
    pub upper_quartile: f64,
    pub lower_whisker: f64,
    pub upper_whisker: f64,
    /// The numbers of samples below the lower fence and above the upper one.
    pub outliers_below: u64,
    pub outliers_above: u64,
}

impl BoxPlot {
    /// `None` of an empty series.
    pub fn of(samples: &dyn Samples) -> Option<BoxPlot> {
        Shape::of(samples).map(|shape| BoxPlot::with_shape(samples, &shape))
    }

    /// The same, for who already has the shape of these samples.
    pub fn with_shape(samples: &dyn Samples, shape: &Shape) -> BoxPlot {
        let wanted = [Quantile::LOWER_QUARTILE, Quantile::MEDIAN, Quantile::UPPER_QUARTILE];
        let quartiles = shape.quantiles(samples, &wanted);
        let (lower_quartile, median, upper_quartile) = (quartiles[0], quartiles[1], quartiles[2]);
        let (lower_fence, upper_fence) = fences(lower_quartile, upper_quartile);
        let (mut lowest, mut highest) = (u64::MAX, 0);
        let (mut outliers_below, mut outliers_above) = (0, 0);
        samples.visit(0, samples.len(), &mut |piece| {
            for &sample in piece {
                let value = sample as f64;
                outliers_below += u64::from(value < lower_fence);
                outliers_above += u64::from(value > upper_fence);
                if value >= lower_fence {
                    lowest = lowest.min(sample);
                }
                if value <= upper_fence {
                    highest = highest.max(sample);
                }
            }
        });
        BoxPlot {
            count: shape.count(),
            min: shape.min(),
            max: shape.max(),
            lower_quartile,
            median,
            upper_quartile,
            lower_whisker: lower_quartile.min(lowest as f64),
            upper_whisker: upper_quartile.max(highest as f64),
            outliers_below,
            outliers_above,
        }
    }

    /// Calls `see` with the index and the value of every outlier, in the order in which the samples were taken.
    /// `samples` must be those that the box is of.
    pub fn visit_outliers(&self, samples: &dyn Samples, see: &mut dyn FnMut(u64, u64)) {
        let (lower_fence, upper_fence) = fences(self.lower_quartile, self.upper_quartile);
        let mut index = 0;
        samples.visit(0, samples.len(), &mut |piece| {
            for &sample in piece {
                if (sample as f64) < lower_fence || (sample as f64) > upper_fence {
                    see(index, sample);
                }
                index += 1;
            }
        });
    }
}

fn fences(lower_quartile: f64, upper_quartile: f64) -> (f64, f64) {
    let reach = 1.5 * (upper_quartile - lower_quartile);
    (lower_quartile - reach, upper_quartile + reach)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::testing::{sorted, type_7};
    use alloc::vec;
    use alloc::vec::Vec;
    use proptest::prelude::*;

    #[test]
    fn whiskers_end_at_samples_and_outliers_are_all_shown() {
        let samples = vec![100u64, 10, 11, 12, 13, 14, 15, 16, 0, 200];
        let plot = BoxPlot::of(&samples).unwrap();
        assert_eq!((plot.lower_quartile, plot.median, plot.upper_quartile), (11.25, 13.5, 15.75));
        assert_eq!((plot.lower_whisker, plot.upper_whisker), (10.0, 16.0));
        assert_eq!((plot.outliers_below, plot.outliers_above), (1, 2));
        let mut seen = vec![];
        plot.visit_outliers(&samples, &mut |index, value| seen.push((index, value)));
        assert_eq!(seen, [(0, 100), (8, 0), (9, 200)]);
    }

    #[test]
    fn a_whisker_never_ends_inside_the_box() {
        let plot = BoxPlot::of(&vec![0u64, 100, 100, 100]).unwrap();
        assert_eq!((plot.lower_quartile, plot.lower_whisker, plot.outliers_below), (75.0, 75.0, 1));
    }

    proptest! {
        #[test]
        fn the_box_agrees_with_its_definition(samples in proptest::collection::vec(prop_oneof![9 => 1000u64..2000, 1 => 0u64..100_000], 1..300)) {
            let plot = BoxPlot::of(&samples).unwrap();
            let sorted = sorted(&samples);
            let (q1, q3) = (type_7(&sorted, 0.25), type_7(&sorted, 0.75));
            prop_assert_eq!((plot.lower_quartile, plot.upper_quartile), (q1, q3));
            let (low, high) = (q1 - 1.5 * (q3 - q1), q3 + 1.5 * (q3 - q1));
            let below = sorted.iter().filter(|&&x| (x as f64) < low).count();
            let above = sorted.iter().filter(|&&x| (x as f64) > high).count();
            prop_assert_eq!((plot.outliers_below, plot.outliers_above), (below as u64, above as u64));
            prop_assert_eq!(plot.lower_whisker, q1.min(sorted[below] as f64));
            prop_assert_eq!(plot.upper_whisker, q3.max(sorted[sorted.len() - 1 - above] as f64));
            let mut seen: Vec<u64> = vec![];
            plot.visit_outliers(&samples, &mut |_, value| seen.push(value));
            prop_assert_eq!(seen.len(), below + above);
        }
    }
}
