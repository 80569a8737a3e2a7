//! Several lines over time on one axis, each named where it ends.

use super::axis::{Axis, Extent, Scale};
use super::csv::Table;
use super::figure::{Figure, Width};
use super::frame::{self, Area};
use super::key::{self, Mark};
use super::labels::{self, Edge};
use super::steps::{self, Step};
use super::svg::{Path, Svg, half_pixel};
use super::tone::Tone;
use super::units::Unit;

#[derive(Clone, Debug, Default)]
pub struct Line {
    pub label: String,
    pub tone: Tone,
    /// (time, value) in rising order of time.
    pub points: Vec<(f64, f64)>,
}

#[derive(Clone, Debug)]
pub struct Lines {
    pub title: String,
    pub subtitle: String,
    pub time: String,
    pub time_unit: Unit,
    pub quantity: String,
    pub unit: Unit,
    pub scale: Scale,
    pub lines: Vec<Line>,
    pub steps: Vec<Step>,
}

impl Lines {
    fn describe(&self) -> String {
        let mut out = String::from("Lines over time.");
        for line in &self.lines {
            let extent = Extent::of(line.points.iter().map(|p| p.1));
            if let (false, Some(last)) = (extent.is_empty(), line.points.last()) {
                out.push_str(&format!(
                    " {}: between {} and {}, at the end {}.",
                    line.label,
                    self.unit.value(extent.min),
                    self.unit.value(extent.max),
                    self.unit.value(last.1)
                ));
            }
        }
        out
    }
}

impl Figure for Lines {
    fn title(&self) -> &str {
        &self.title
    }

    fn render(&self, width: Width) -> String {
        let drawn: Vec<&Line> = self.lines.iter().filter(|l| l.points.iter().any(|p| p.1.is_finite())).collect();
        if drawn.is_empty() {
            return frame::no_samples(&self.title, &self.subtitle, width);
        }
        let values = Extent::of(drawn.iter().flat_map(|l| l.points.iter().map(|p| p.1)));
        let times = drawn.iter().flat_map(|l| l.points.iter().map(|p| p.0));
        let times = Extent::of(times.chain(self.steps.iter().map(|s| s.at)));

        let mut svg = Svg::new(width.0);
        let top = frame::heading(&mut svg, &self.title, &self.subtitle);
        let height = if width.is_narrow() { 200.0 } else { 260.0 };
        let y_at = |top: f64| Axis::fit(&values, self.scale, self.unit, top + height, top).rounded(frame::SPACING_Y);
        let left = frame::left_room(&y_at(0.0), frame::SPACING_Y);
        let room = labels::right_room(drawn.iter().map(|l| l.label.as_str()), width.0);
        let right = width.0 - if width.is_narrow() { 8.0 } else { room };
        let x = Axis::linear(times.min, times.max, self.time_unit, left, right);
        let top = top + frame::left_title(&mut svg, top, &self.quantity) + steps::room(&self.steps, &x, width.0);
        let y = y_at(top);
        let area = Area { left, top, right, bottom: top + height };

        frame::left_axis(&mut svg, area, &y, frame::SPACING_Y);
        steps::draw(&mut svg, &self.steps, &x, area);
        let mut names = Vec::new();
        for line in &drawn {
            let mut points: Vec<(f64, f64)> =
                line.points.iter().filter(|p| p.1.is_finite()).map(|p| (x.at(p.0), y.at(p.1))).collect();
            points.dedup_by_key(|p| (half_pixel(p.0), half_pixel(p.1)));
            let tone = line.tone;
            svg.open(&line.label);
            svg.path(&tone.line(), &Path::through(&points));
            svg.close();
            if let Some((x, y)) = points.last() {
                svg.circle(&format!("k-f{tone}"), *x, *y, 2.4);
                names.push(Edge { y: *y, label: &line.label, class: format!("k-f{tone}") });
            }
        }
        let mut under = frame::bottom_labels(&mut svg, area, &x, frame::spacing_x(width), &self.time);
        if width.is_narrow() {
            let items: Vec<(Mark, &str)> = drawn.iter().map(|l| (Mark::Line(l.tone), l.label.as_str())).collect();
            under = key::draw(&mut svg, under + 4.0, &items);
        } else {
            labels::at_right_edge(&mut svg, &names, area);
        }
        svg.finish(under, &self.title, &self.describe())
    }

    fn coloured(&mut self) -> Vec<(&str, &mut Tone)> {
        let lines = self.lines.iter_mut().filter(|line| line.tone != Tone::Quiet);
        lines.map(|line| (line.label.as_str(), &mut line.tone)).collect()
    }

    fn tells_by_colour(&self) -> bool {
        true
    }

    fn csv(&self) -> String {
        let mut table = Table::new(&["series", "time", "value"]);
        for line in &self.lines {
            for (time, value) in &line.points {
                table.row([line.label.clone(), time.to_string(), value.to_string()]);
            }
        }
        table.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::super::svg::assert_well_formed;
    use super::*;

    fn plot(lines: Vec<Line>) -> Lines {
        Lines {
            title: "t".into(),
            subtitle: String::new(),
            time: "time".into(),
            time_unit: Unit::Nanoseconds,
            quantity: "objects".into(),
            unit: Unit::Count,
            scale: Scale::Auto,
            lines,
            steps: vec![],
        }
    }

    fn line(label: &str, points: &[(f64, f64)]) -> Line {
        Line { label: label.into(), points: points.to_vec(), ..Line::default() }
    }

    #[test]
    fn every_line_is_drawn_and_named() {
        let named = |i| Line { tone: Tone::Series(i), ..line(&format!("slab-{i}"), &[(0.0, 5.0), (9.0, 5.0)]) };
        let lines: Vec<Line> = (0..6).map(named).collect();
        for width in [Width::WIDE, Width::NARROW] {
            let svg = plot(lines.clone()).render(width);
            assert!((0..6).all(|i| svg.contains(&format!("k-c{}\"", i + 1))), "lines");
            assert!((0..6).all(|i| svg.contains(&format!(">slab-{i}</text>"))), "names");
        }
    }

    #[test]
    fn degenerate_data_still_make_a_drawing() {
        for lines in [
            vec![],
            vec![line("a", &[])],
            vec![line("<", &[(0.0, f64::NAN)])],
            vec![line(&"long ".repeat(60), &[(3.0, 0.0)])],
            vec![line("a", &[(0.0, 0.0), (1e15, 1e18)]), line("b", &[(0.0, 1.0)])],
            vec![line("a", &[(0.0, 1.0)]); 40],
        ] {
            let figure = plot(lines);
            assert_well_formed(&figure.render(Width::WIDE));
            assert_well_formed(&figure.render(Width::NARROW));
        }
    }
}
