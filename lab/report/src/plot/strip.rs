//! A strip: a box plot without an axis, for the cell of a table.
//!
//! Strips in one column share a range, so that a reader can compare them down the column. The range is given, because
//! only the table knows which rows belong together.

use super::axis::{Axis, Extent, Scale};
use super::spread::Spread;
use super::svg::{Path, Svg, half_pixel};
use super::tone::Tone;
use super::units::Unit;

#[derive(Clone, Debug)]
pub struct Strip {
    /// What a screen reader says before the numbers.
    pub label: String,
    pub unit: Unit,
    /// None draws an empty strip that says "no samples".
    pub spread: Option<Spread>,
    pub outliers: Vec<u64>,
    /// Smallest and largest value of the whole column.
    pub range: (f64, f64),
    pub scale: Scale,
    pub tone: Tone,
}

impl Strip {
    pub const WIDTH: f64 = 160.0;
    pub const HEIGHT: f64 = 22.0;

    /// A complete `<svg>` element of 160 by 22 units.
    pub fn render(&self) -> String {
        let mut svg = Svg::new(Self::WIDTH);
        let y = Self::HEIGHT / 2.0;
        let Some(s) = &self.spread else {
            svg.text("k-s", 0.0, y + 4.0, "no samples");
            return svg.finish(Self::HEIGHT, &self.label, "No samples.");
        };
        let extent = Extent::of([self.range.0, self.range.1]);
        let axis = Axis::fit(&extent, self.scale, self.unit, 3.0, Self::WIDTH - 3.0);
        let tone = self.tone;
        svg.line("k-grid", 0.0, y, Self::WIDTH, y);

        let mut seen: Vec<i64> = self.outliers.iter().map(|v| half_pixel(axis.at(*v as f64))).collect();
        seen.sort_unstable();
        seen.dedup();
        let mut dots = Path::new();
        for cell in seen {
            dots.dot(cell as f64 / 2.0, y);
        }
        svg.path(&format!("k-speck k-c{tone}"), &dots);
        let (left, right) = (axis.at(s.q1), axis.at(s.q3));
        svg.line(&format!("k-thin k-c{tone}"), axis.at(s.low_whisker.min(s.q1)), y, left, y);
        svg.line(&format!("k-thin k-c{tone}"), right, y, axis.at(s.high_whisker.max(s.q3)), y);
        let (left, right) = if right - left < 2.0 { (left - 1.0, right + 1.0) } else { (left, right) };
        svg.rect(&format!("k-stack k-f{tone}"), left, y - 4.0, right - left, 8.0);
        let median = axis.at(s.median);
        svg.line("k-ink", median, y - 6.0, median, y + 6.0);
        let max = self.outliers.iter().max().map_or(s.high_whisker, |v| (*v as f64).max(s.high_whisker));
        svg.circle(&format!("k-f{tone}"), axis.at(max), y, 2.0);
        let words = format!(
            "median {}, middle half {} to {}, maximum {}",
            self.unit.value(s.median),
            self.unit.value(s.q1),
            self.unit.value(s.q3),
            self.unit.value(max)
        );
        svg.finish(Self::HEIGHT, &format!("{}: {words}", self.label), &words).replacen("k-fig", "k-fig k-strip", 1)
    }
}

#[cfg(test)]
mod tests {
    use super::super::svg::assert_well_formed;
    use super::*;

    #[test]
    fn a_strip_copes_with_anything() {
        let spread = |v: f64| Spread { low_whisker: v, q1: v, median: v, q3: v, high_whisker: v, mean: v };
        for spread in [None, Some(spread(0.0)), Some(spread(5.0)), Some(spread(f64::NAN))] {
            for range in [(0.0, 0.0), (5.0, 5.0), (0.0, 1e12), (f64::NAN, f64::NAN)] {
                let strip = Strip {
                    label: "<&>".into(),
                    unit: Unit::Nanoseconds,
                    spread,
                    outliers: vec![0, 9, u64::MAX],
                    range,
                    scale: Scale::Auto,
                    tone: Tone::Series(3),
                };
                assert_well_formed(&strip.render());
            }
        }
    }
}
