//! Every sample in the order in which it was taken: where a run drifts, jumps or stalls, a distribution cannot say it.
//!
//! Few samples are drawn as dots, many as columns: a translucent bar from the smallest to the largest sample, a line
//! through the medians, and a dot at the largest, so that every maximum stays visible. Several series are panels above
//! each other with the same axes.

use super::axis::{Axis, Extent};
use super::frame::{self, Area, LABEL, SMALL};
use super::key::{self, Mark};
use super::svg::{Path, Svg};
use super::{Figure, Scale, Table, Unit, Width, half_pixel, text, theme};

/// Up to so many dots are drawn large.
const FEW: usize = 150;

/// The samples between two positions, reduced to three.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Column {
    pub x: f64,
    pub min: f64,
    pub median: f64,
    pub max: f64,
}

#[derive(Clone, Debug)]
pub enum Samples {
    /// (ordinal or time, value), every one of them.
    Points(Vec<(f64, f64)>),
    /// In rising order of x, about as many as there are pixels.
    Columns(Vec<Column>),
}

impl Samples {
    /// (x, smallest, largest) of whatever is drawn at x.
    fn ranges(&self) -> Box<dyn Iterator<Item = (f64, f64, f64)> + '_> {
        match self {
            Samples::Points(points) => Box::new(points.iter().map(|p| (p.0, p.1, p.1))),
            Samples::Columns(columns) => Box::new(columns.iter().map(|c| (c.x, c.min, c.max))),
        }
    }

    /// Where the largest sample is, and how large it is.
    fn worst(&self) -> Option<(f64, f64)> {
        self.ranges().map(|r| (r.0, r.2)).filter(|w| w.1.is_finite()).max_by(|a, b| a.1.total_cmp(&b.1))
    }
}

#[derive(Clone, Debug)]
pub struct Series {
    pub label: String,
    pub samples: Samples,
}

#[derive(Clone, Debug)]
pub struct Trials {
    pub title: String,
    pub subtitle: String,
    /// What x counts: "sample" or "time".
    pub order: String,
    pub order_unit: Unit,
    pub quantity: String,
    pub unit: Unit,
    pub scale: Scale,
    pub series: Vec<Series>,
    /// A horizontal line with a name: the planned time, a deadline.
    pub limit: Option<(f64, String)>,
}

impl Trials {
    fn describe(&self) -> String {
        let mut out = String::from("Samples in the order taken.");
        for series in &self.series {
            match series.samples.worst() {
                Some((x, max)) => out.push_str(&format!(
                    " {}: the largest is {} at {} {}.",
                    series.label,
                    self.unit.value(max),
                    self.order,
                    self.order_unit.value(x)
                )),
                None => out.push_str(&format!(" {}: no samples.", series.label)),
            }
        }
        out
    }

    fn draw_panel(&self, svg: &mut Svg, series: &Series, tone: usize, x: &Axis, y: &Axis, area: Area) {
        match &series.samples {
            Samples::Points(points) => {
                let mut cells: Vec<(i64, i64)> =
                    points.iter().map(|p| (half_pixel(x.at(p.0)), half_pixel(y.at(p.1)))).collect();
                cells.sort_unstable();
                cells.dedup();
                // Dots in one path do not darken each other; four layers let a crowd look like one.
                let mut layers: [Path; 4] = Default::default();
                for (i, (x, y)) in cells.iter().enumerate() {
                    layers[i % 4].dot(*x as f64 / 2.0, *y as f64 / 2.0);
                }
                // Specks far apart would be taken for dirt.
                let mark = if cells.len() <= FEW { "k-few" } else { "k-speck" };
                for layer in &layers {
                    svg.path(&format!("{mark} k-c{tone}"), layer);
                }
            }
            Samples::Columns(columns) => {
                let step = (area.right - area.left) / columns.len().max(1) as f64;
                let mut bars = Path::new();
                let mut tops = Path::new();
                let mut drawn = (i64::MIN, i64::MIN);
                for c in columns {
                    let at = x.at(c.x);
                    bars.move_to(at, y.at(c.min)).down(y.at(c.max));
                    let cell = (half_pixel(at), half_pixel(y.at(c.max)));
                    if cell != drawn {
                        tops.dot(at, y.at(c.max));
                        drawn = cell;
                    }
                }
                let thickness = if step > 1.6 { "k-bar-wide" } else { "k-bar" };
                svg.path(&format!("{thickness} k-c{tone}"), &bars);
                svg.path(&format!("k-speck k-c{tone}"), &tops);
                let medians: Vec<_> = columns.iter().map(|c| (x.at(c.x), y.at(c.median))).collect();
                svg.path("k-ink", &Path::through(&medians));
            }
        }
        if let Some((at, max)) = series.samples.worst() {
            let (px, py) = (x.at(at), y.at(max));
            svg.circle(&format!("k-hollow k-c{tone}"), px, py, 3.4);
            let words = self.unit.value(max);
            let ends = px + 8.0 + text::width(&words, SMALL) > area.right;
            let class = if ends { "k-halo k-e" } else { "k-halo" };
            svg.text(class, if ends { px - 8.0 } else { px + 8.0 }, (py + 4.0).max(area.top + 11.0), &words);
        }
    }
}

impl Figure for Trials {
    fn title(&self) -> &str {
        &self.title
    }

    fn render(&self, width: Width) -> String {
        let drawn: Vec<(usize, &Series)> =
            self.series.iter().enumerate().filter(|(_, s)| s.samples.worst().is_some()).collect();
        if drawn.is_empty() {
            return frame::no_samples(&self.title, &self.subtitle, width);
        }
        let all = || drawn.iter().flat_map(|(_, s)| s.samples.ranges());
        let mut values = Extent::of(all().flat_map(|r| [r.1, r.2]));
        values.extend(self.limit.iter().map(|l| l.0));
        let orders = Extent::of(all().map(|r| r.0));

        let mut svg = Svg::new(width.0);
        let mut top = frame::heading(&mut svg, &self.title, &self.subtitle);
        top += frame::left_title(&mut svg, top, &self.quantity);
        let height = match drawn.len() {
            1 => 220.0,
            2 | 3 => 130.0,
            _ => 92.0,
        };
        let spacing = if drawn.len() == 1 { frame::SPACING_Y } else { 30.0 };
        let y_at = |top: f64| Axis::fit(&values, self.scale, self.unit, top + height, top).rounded(spacing);
        let limit_room = self.limit.as_ref().map_or(0.0, |l| text::width(&l.1, SMALL) + 8.0).min(width.0 * 0.3);
        let left = frame::left_room(&y_at(0.0), spacing);
        let right = width.0 - if width.is_narrow() { 6.0 } else { limit_room.max(10.0) };
        let x = Axis::linear(orders.min, orders.max, self.order_unit, left + 2.0, right - 2.0);

        let mut area = Area { left, top, right, bottom: top };
        for (index, series) in &drawn {
            if drawn.len() > 1 || !series.label.is_empty() {
                let cut = text::fit(&series.label, LABEL, width.0 - left);
                svg.text_with_title("k-l", left, top + 12.0, &cut, &series.label);
                top += 19.0;
            }
            area = Area { left, top, right, bottom: top + height };
            let y = y_at(top);
            frame::left_axis(&mut svg, area, &y, spacing);
            svg.line("k-axis", left, area.bottom, right, area.bottom);
            let tone = theme::tone(*index);
            self.draw_panel(&mut svg, series, tone, &x, &y, area);
            if let Some((limit, name)) = &self.limit {
                let at = y.at(*limit);
                svg.line("k-deadline", left, at, right, at);
                if width.is_narrow() {
                    let cut = text::fit(name, SMALL, right - left - 8.0);
                    svg.text("k-fw k-halo k-e", right - 2.0, at - 5.0, &cut);
                } else {
                    svg.text_with_title("k-fw", right + 6.0, at + 4.0, &text::fit(name, SMALL, limit_room), name);
                }
            }
            top = area.bottom + 14.0;
        }
        let mut under = frame::bottom_labels(&mut svg, area, &x, frame::spacing_x(width), &self.order);
        if drawn.iter().any(|(_, s)| matches!(s.samples, Samples::Columns(_))) {
            let tone = theme::tone(drawn[0].0);
            let items =
                [(Mark::Box(tone), "smallest to largest sample of each column of pixels"), (Mark::Ink, "its median")];
            under = key::draw(&mut svg, under + 4.0, &items);
        }
        svg.finish(under, &self.title, &self.describe())
    }

    fn csv(&self) -> String {
        let mut table = Table::new(&["series", "x", "min", "median", "max"]);
        for series in &self.series {
            let mut put = |x: f64, min: f64, median: f64, max: f64| {
                table.row([series.label.clone(), x.to_string(), min.to_string(), median.to_string(), max.to_string()]);
            };
            match &series.samples {
                Samples::Points(points) => points.iter().for_each(|p| put(p.0, p.1, p.1, p.1)),
                Samples::Columns(columns) => columns.iter().for_each(|c| put(c.x, c.min, c.median, c.max)),
            }
        }
        table.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::super::svg::assert_well_formed;
    use super::*;

    fn plot(series: Vec<Series>) -> Trials {
        Trials {
            title: "t".into(),
            subtitle: String::new(),
            order: "sample".into(),
            order_unit: Unit::Count,
            quantity: "execution time".into(),
            unit: Unit::Nanoseconds,
            scale: Scale::Auto,
            series,
            limit: Some((6e6, "deadline <5 ms>".into())),
        }
    }

    #[test]
    fn the_maximum_of_every_column_has_a_mark_at_its_height() {
        let columns: Vec<Column> = (0..700)
            .map(|i| Column { x: f64::from(i), min: 10.0, median: 20.0, max: 30.0 + f64::from(i * 37 % 991) })
            .collect();
        let figure = Trials {
            scale: Scale::Linear,
            limit: None,
            ..plot(vec![Series { label: String::new(), samples: Samples::Columns(columns) }])
        };
        let svg = figure.render(Width::WIDE);
        let tops = svg.lines().find(|l| l.contains("k-speck")).unwrap();
        assert_eq!(tops.matches("h0").count(), 700);
    }

    #[test]
    fn every_point_is_drawn_once_a_half_pixel() {
        let points: Vec<(f64, f64)> = (0..200_000).map(|i| (f64::from(i), 5e6 + f64::from(i % 50) * 1e4)).collect();
        let svg = plot(vec![Series { label: "a".into(), samples: Samples::Points(points) }]).render(Width::NARROW);
        let dots = svg.matches("h0").count();
        assert!(dots > 10_000 && dots < 2 * 360 * 50 + 100, "{dots}");
    }

    #[test]
    fn degenerate_data_still_make_a_drawing() {
        let points = |p: &[(f64, f64)]| Series { label: "<&".repeat(90), samples: Samples::Points(p.to_vec()) };
        for series in [
            vec![],
            vec![points(&[])],
            vec![points(&[(0.0, 0.0)])],
            vec![points(&[(1.0, 5.0), (2.0, 5.0)]), points(&[])],
            vec![points(&[(f64::NAN, f64::NAN), (1.0, 1e18), (2.0, 1.0)])],
            (0..12).map(|i| points(&[(1.0, f64::from(i)), (3.0, 1e9)])).collect(),
        ] {
            let figure = plot(series);
            assert_well_formed(&figure.render(Width::WIDE));
            assert_well_formed(&figure.render(Width::NARROW));
        }
        assert!(plot(vec![]).render(Width::WIDE).contains("no samples"));
    }
}
