//! Rate curves: the rate that arrived and the share that was lost, over one axis of offered rates.

use super::axis::{Axis, Extent, Scale};
use super::csv::Table;
use super::figure::{Figure, Width};
use super::frame::{self, Area};
use super::key::{self, Mark};
use super::labels;
use super::svg::{Path, Svg};
use super::tone::Tone;
use super::units::Unit;

/// A measured value and the interval around it.
#[derive(Clone, Copy, Debug)]
pub struct Estimate {
    pub value: f64,
    pub low: f64,
    pub high: f64,
}

#[derive(Clone, Copy, Debug)]
pub struct Point {
    pub offered: f64,
    /// In the same unit as the offered rate.
    pub achieved: Estimate,
    /// In per cent.
    pub loss: Estimate,
}

#[derive(Clone, Debug, Default)]
pub struct Series {
    pub label: String,
    pub tone: Tone,
    /// In rising order of the offered rate.
    pub points: Vec<Point>,
}

#[derive(Clone, Debug)]
pub struct Rates {
    pub title: String,
    pub subtitle: String,
    pub unit: Unit,
    /// Of the offered rates; the achieved rate follows it, so that the ideal stays a straight line.
    pub scale: Scale,
    pub series: Vec<Series>,
}

type Polyline = Vec<(f64, f64)>;

/// One of the two panels: which estimate it shows, and on which axis.
struct Panel<'a> {
    area: Area,
    y: &'a Axis,
    of: fn(&Point) -> Estimate,
}

impl Rates {
    fn describe(&self) -> String {
        let mut out = String::from("Achieved rate and loss by offered rate.");
        for series in &self.series {
            for p in &series.points {
                out.push_str(&format!(
                    " {}: offered {}, achieved {}, lost {}.",
                    series.label,
                    self.unit.value(p.offered),
                    self.unit.value(p.achieved.value),
                    Unit::Percent.value(p.loss.value)
                ));
            }
        }
        out
    }

    /// Draws all series into a panel; returns their lines, and the bars of their intervals.
    fn draw_series(&self, svg: &mut Svg, x: &Axis, panel: &Panel<'_>) -> (Vec<Polyline>, Vec<Polyline>) {
        let mut lines = Vec::new();
        let mut whiskers = Vec::new();
        for series in &self.series {
            let tone = series.tone;
            let mut bars = Path::new();
            let mut line = Vec::new();
            for point in &series.points {
                let estimate = (panel.of)(point);
                let (at, low, high) = (x.at(point.offered), panel.y.at(estimate.low), panel.y.at(estimate.high));
                if low - high > 1.0 {
                    bars.move_to(at, low).down(high);
                    whiskers.push(vec![(at, low), (at, high)]);
                    bars.move_to(at - 3.0, low).across(at + 3.0).move_to(at - 3.0, high).across(at + 3.0);
                }
                line.push((at, panel.y.at(estimate.value)));
            }
            svg.path(&format!("k-thin k-open k-c{tone}"), &bars);
            svg.path(&tone.line(), &Path::through(&line));
            for ((at, y), point) in line.iter().zip(&series.points) {
                svg.open(&format!(
                    "{}: offered {}, achieved {}, lost {}",
                    series.label,
                    self.unit.value(point.offered),
                    self.unit.value(point.achieved.value),
                    Unit::Percent.value(point.loss.value)
                ));
                svg.circle(&format!("k-point k-f{tone}"), *at, *y, 3.2);
                svg.close();
            }
            lines.push(line);
        }
        (lines, whiskers)
    }

    /// Names beside the lines of a panel, if all of them find room there.
    fn draw_names(&self, svg: &mut Svg, lines: &[Polyline], others: &[Polyline], area: Area) -> bool {
        let names: Vec<(&str, Tone)> = self.series.iter().map(|s| (s.label.as_str(), s.tone)).collect();
        let spots: Vec<_> = lines.iter().map(|line| labels::beside(&fine(line))).collect();
        let obstacles: Vec<_> = lines.iter().chain(others).cloned().collect();
        labels::name_lines(svg, &names, &spots, &obstacles, area)
    }
}

/// The polyline with more corners, so that a name finds a place beside its middle too.
fn fine(line: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let mut out: Vec<(f64, f64)> = Vec::new();
    for pair in line.windows(2) {
        out.extend((0..8).map(|i| {
            let share = f64::from(i) / 8.0;
            (pair[0].0 + (pair[1].0 - pair[0].0) * share, pair[0].1 + (pair[1].1 - pair[0].1) * share)
        }));
    }
    out.extend(line.last());
    out
}

impl Figure for Rates {
    fn title(&self) -> &str {
        &self.title
    }

    fn render(&self, width: Width) -> String {
        let points = || self.series.iter().flat_map(|s| &s.points);
        if points().next().is_none() {
            return frame::no_samples(&self.title, &self.subtitle, width);
        }
        let narrow = width.is_narrow();
        let offered = Extent::of(points().map(|p| p.offered));
        let achieved = Extent::of(points().flat_map(|p| [p.achieved.value, p.achieved.low, p.achieved.high]));
        let loss = Extent::of(points().flat_map(|p| [p.loss.value, p.loss.low, p.loss.high]).chain([0.0]));

        let mut svg = Svg::new(width.0);
        let top = frame::heading(&mut svg, &self.title, &self.subtitle);
        let top = top + frame::left_title(&mut svg, top, "achieved rate");
        let bottom = top + if narrow { 170.0 } else { 210.0 };
        // The scale of both axes is decided once, by the offered rates.
        let probe = Axis::fit(&offered, self.scale, self.unit, 0.0, 100.0);
        let scale = if probe.log { Scale::Log } else { Scale::Linear };
        let y = Axis::fit(&achieved, scale, self.unit, bottom, top).rounded(frame::SPACING_Y);
        let lost = |top: f64, height: f64| {
            Axis::linear(0.0, (loss.max * 1.05).clamp(1.0, 100.0), Unit::Percent, top + height, top).rounded(30.0)
        };
        let left = frame::left_room(&y, frame::SPACING_Y).max(frame::left_room(&lost(0.0, 90.0), 30.0));
        let area = Area { left, top, right: width.0 - 12.0, bottom };
        let x = Axis::fit(&offered, scale, self.unit, left, area.right);
        let spacing = frame::spacing_x(width);

        frame::left_axis(&mut svg, area, &y, frame::SPACING_Y);
        frame::grid_down(&mut svg, area, &x, spacing);
        let ideal = ideal_line(&x, &y, area);
        svg.path("k-rule", &Path::through(&ideal));
        let (upper, mut obstacles) = self.draw_series(&mut svg, &x, &Panel { area, y: &y, of: |p| p.achieved });

        obstacles.push(ideal);

        let title_at = bottom + 10.0;
        let lower_top = title_at + frame::left_title(&mut svg, title_at, "lost");
        let height = if narrow { 90.0 } else { 110.0 };
        let y = lost(lower_top, height);
        let lower = Area { top: lower_top, bottom: lower_top + height, ..area };
        frame::left_axis(&mut svg, lower, &y, 30.0);
        let mut under = frame::bottom_axis(&mut svg, lower, &x, spacing, "offered rate");
        let panel = Panel { area: lower, y: &y, of: |p| p.loss };
        let (losses, whiskers) = self.draw_series(&mut svg, &x, &panel);

        let named = self.draw_names(&mut svg, &upper, &obstacles, area)
            || self.draw_names(&mut svg, &losses, &whiskers, panel.area);
        let mut items: Vec<(Mark, &str)> = vec![(Mark::Dashed, "everything arrives")];
        if !named {
            items.extend(self.series.iter().map(|s| (Mark::Line(s.tone), s.label.as_str())));
        }
        under = key::draw(&mut svg, under + 4.0, &items);
        svg.finish(under, &self.title, &self.describe())
    }

    fn coloured(&mut self) -> Vec<(&str, &mut Tone)> {
        self.series.iter_mut().map(|series| (series.label.as_str(), &mut series.tone)).collect()
    }

    fn tells_by_colour(&self) -> bool {
        true
    }

    fn csv(&self) -> String {
        let mut table = Table::new(&[
            "series",
            "offered",
            "achieved",
            "achieved_low",
            "achieved_high",
            "loss_percent",
            "loss_percent_low",
            "loss_percent_high",
        ]);
        for series in &self.series {
            for p in &series.points {
                let (a, l) = (p.achieved, p.loss);
                let numbers = [p.offered, a.value, a.low, a.high, l.value, l.low, l.high];
                table.row(std::iter::once(series.label.clone()).chain(numbers.iter().map(f64::to_string)));
            }
        }
        table.finish()
    }
}

/// The part of "achieved = offered" that lies inside the panel.
fn ideal_line(x: &Axis, y: &Axis, area: Area) -> Vec<(f64, f64)> {
    let steps = 200;
    (0..=steps)
        .map(|i| area.left + (area.right - area.left) * f64::from(i) / f64::from(steps))
        .map(|at| (at, x.value_at(at)))
        .filter(|(_, rate)| *rate >= y.lo && *rate <= y.hi)
        .map(|(at, rate)| (at, y.at(rate)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::svg::assert_well_formed;
    use super::*;

    fn estimate(value: f64) -> Estimate {
        Estimate { value, low: value * 0.95, high: value * 1.05 }
    }

    fn plot(series: Vec<Series>) -> Rates {
        Rates { title: "t".into(), subtitle: String::new(), unit: Unit::BitsPerSecond, scale: Scale::Auto, series }
    }

    fn sweep(label: &str, limit: f64) -> Series {
        let points = [1e7, 1e8, 5e8, 1e9]
            .map(|offered: f64| Point {
                offered,
                achieved: estimate(offered.min(limit)),
                loss: estimate((1.0 - offered.min(limit) / offered) * 100.0),
            })
            .to_vec();
        Series { label: label.into(), points, ..Series::default() }
    }

    #[test]
    fn every_point_is_in_both_panels() {
        let svg = plot(vec![sweep("a", 6e8), sweep("b", 9e8)]).render(Width::WIDE);
        assert_eq!(svg.matches("k-point").count(), 2 * 2 * 4);
        assert!(svg.contains(">a</text>") && svg.contains(">b</text>") && svg.contains("lost 40 %"));
    }

    #[test]
    fn degenerate_data_still_make_a_drawing() {
        let zero = Point { offered: 0.0, achieved: estimate(0.0), loss: estimate(0.0) };
        let none = Point { offered: f64::NAN, achieved: estimate(f64::NAN), loss: estimate(f64::INFINITY) };
        for series in [
            vec![],
            vec![Series::default()],
            vec![Series { label: "<".repeat(300), points: vec![zero], ..Series::default() }],
            vec![Series { label: "n".into(), points: vec![none, zero], ..Series::default() }],
            (0..12).map(|i| sweep(&format!("a long name {i}"), 5e8)).collect(),
        ] {
            let figure = plot(series);
            assert_well_formed(&figure.render(Width::WIDE));
            assert_well_formed(&figure.render(Width::NARROW));
        }
    }
}
