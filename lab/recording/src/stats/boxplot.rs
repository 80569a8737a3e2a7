//! Tukey's box plot: a box from quartile to quartile, whiskers, and every sample beyond them.
//!
//! The whiskers end at the most extreme samples within 1.5 interquartile ranges of the box (Tukey, "Exploratory Data
//! Analysis", 1977), so they are clipped to the data and never show a value that did not occur. One case needs a rule:
//! an interpolated quartile may lie beyond the last sample within the fence; the whisker then has no length and ends at
//! the box, as in matplotlib.

use super::quantile::Quantile;
use super::ranks::Ranks;
use super::samples::Samples;
use super::shape::Shape;
use super::unrecorded::Known;

/// In the unit of the samples.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "std", derive(serde::Serialize))]
pub struct BoxPlot {
    pub count: u64,
    pub min: u64,
    pub max: Known<u64>,
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
    /// `None` of an empty series, and of one whose box or upper fence lies where samples are only known to be beyond a limit.
    pub fn of(samples: &dyn Samples) -> Option<BoxPlot> {
        Shape::of(samples).and_then(|shape| BoxPlot::with_shape(samples, &shape))
    }

    /// The same, for who already has the shape of these samples.
    pub fn with_shape(samples: &dyn Samples, shape: &Shape) -> Option<BoxPlot> {
        let missing = samples.unrecorded();
        let ranks = Ranks::of(samples, shape, &missing);
        let wanted = [Quantile::LOWER_QUARTILE, Quantile::MEDIAN, Quantile::UPPER_QUARTILE];
        let positions = wanted.map(|quantile| quantile.position(ranks.count));
        if !ranks.is_known(positions[2].rank + u64::from(positions[2].fraction > 0.0)) {
            return None;
        }
        let values = shape.at_ranks(samples, &positions.map(|position| [position.rank, position.rank + 1]).concat());
        let quartile = |index: usize| positions[index].between(values[2 * index], values[2 * index + 1]);
        let (lower_quartile, median, upper_quartile) = (quartile(0), quartile(1), quartile(2));
        let (lower_fence, upper_fence) = fences(lower_quartile, upper_quartile);
        if missing.beyond.is_some_and(|beyond| beyond.count > 0 && (beyond.limit as f64) < upper_fence) {
            return None;
        }
        let (mut lowest, mut highest) = (u64::MAX, 0);
        let (mut outliers_below, mut outliers_above) = (0, 0);
        samples.visit_counted(&mut |piece, times| {
            for &sample in piece {
                let value = sample as f64;
                outliers_below += times * u64::from(value < lower_fence);
                outliers_above += times * u64::from(value > upper_fence);
                if value >= lower_fence {
                    lowest = lowest.min(sample);
                }
                if value <= upper_fence {
                    highest = highest.max(sample);
                }
            }
        });
        Some(BoxPlot {
            count: ranks.count,
            min: shape.min(),
            max: ranks.max,
            lower_quartile,
            median,
            upper_quartile,
            lower_whisker: lower_quartile.min(lowest as f64),
            upper_whisker: upper_quartile.max(highest as f64),
            outliers_below,
            outliers_above: outliers_above + missing.beyond(),
        })
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
    use proptest::prelude::*;

    #[test]
    fn whiskers_end_at_samples_and_outliers_are_counted() {
        let samples = vec![100u64, 10, 11, 12, 13, 14, 15, 16, 0, 200];
        let plot = BoxPlot::of(&samples).unwrap();
        assert_eq!((plot.lower_quartile, plot.median, plot.upper_quartile), (11.25, 13.5, 15.75));
        assert_eq!((plot.lower_whisker, plot.upper_whisker), (10.0, 16.0));
        assert_eq!((plot.outliers_below, plot.outliers_above), (1, 2));
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
        }
    }
}
