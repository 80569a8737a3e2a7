//! Every sample in the order in which it was taken, one panel a series. This order shows drifts, jumps and stalls,
//! which a distribution hides.
//!
//! Few samples are drawn as dots, many as columns: a translucent bar from the smallest to the largest sample, a line
//! through the medians, and a dot at the largest, so that every maximum stays visible. The panels of several series
//! stand above each other with the same axes.
//!
//! The worst samples are ringed, and named with the time at which they were taken, so that they can be looked up in the
//! logs of the machine. Which ones are the worst, and when that was, is given.

use super::axis::{Axis, Extent, Scale};
use super::csv::Table;
use super::figure::{Figure, Width};
use super::frame::{self, Area, LABEL, SMALL};
use super::key::{self, Mark};
use super::labels::{self, Spot};
use super::limit::{Limit, Place};
use super::svg::{Path, Svg, half_pixel};
use super::tone::Tone;
use super::units::Unit;
use super::{terminal, text};

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

    fn is_empty(&self) -> bool {
        !self.ranges().any(|r| r.2.is_finite())
    }
}

impl Default for Samples {
    fn default() -> Self {
        Self::Points(Vec::new())
    }
}

/// One of the worst samples of a series.
#[derive(Clone, Debug)]
pub struct Worst {
    pub x: f64,
    pub value: f64,
    /// What stands before it where a worse one may not have been recorded: `≥ `.
    pub bound: &'static str,
    /// When it was taken, as far as that is known: "at 08:52:41.317".
    pub when: String,
}

#[derive(Clone, Debug, Default)]
pub struct Series {
    pub label: String,
    pub tone: Tone,
    pub samples: Samples,
    /// The worst first.
    pub worst: Vec<Worst>,
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
    /// What the values are held against.
    pub limit: Option<Limit>,
}

impl Trials {
    fn words(&self, worst: &Worst) -> String {
        format!("{}{} {}", worst.bound, self.unit.value(worst.value), worst.when).trim_end().to_owned()
    }

    fn describe(&self) -> String {
        let mut out = String::from("Samples in the order taken.");
        for series in &self.series {
            if series.samples.is_empty() {
                out.push_str(&format!(" {}: no samples.", series.label));
                continue;
            }
            let worst: Vec<String> = series.worst.iter().map(|worst| self.words(worst)).collect();
            if !worst.is_empty() {
                out.push_str(&format!(" {}: the worst {}.", series.label, worst.join(", ")));
            }
        }
        out.extend(self.limit.iter().map(Limit::words));
        out
    }

    /// Rings the worst samples. The worst of all is named in any case; the others where their names find room beside them,
    /// which a narrow drawing does not have.
    fn draw_worst(&self, svg: &mut Svg, series: &Series, x: &Axis, y: &Axis, area: Area) {
        let worst: Vec<&Worst> = series.worst.iter().filter(|worst| worst.value.is_finite()).collect();
        let rings: Vec<(f64, f64)> = worst.iter().map(|worst| (x.at(worst.x), y.at(worst.value))).collect();
        for (px, py) in &rings {
            svg.circle(&format!("k-hollow k-c{}", series.tone), *px, *py, 3.4);
        }
        let dots: Vec<(f64, f64)> = series.samples.ranges().map(|range| (x.at(range.0), y.at(range.2))).collect();
        let mut named: Vec<(String, Spot)> = Vec::new();
        let most = if Width(svg.width()).is_narrow() { 1 } else { worst.len() };
        for (worst, (px, py)) in worst.iter().zip(&rings).take(most) {
            let name = text::fit(&self.words(worst), SMALL, area.right - area.left);
            let width = text::width(&name, SMALL);
            let beside = [0.0, -12.0, 12.0, 24.0].into_iter().flat_map(|lower: f64| {
                let y = (py + lower).clamp(area.top + 3.0, area.bottom - 8.0);
                [Spot { x: px + 8.0, y, ends: false }, Spot { x: px - 8.0, y, ends: true }]
            });
            let is_inside = |spot: &Spot| match spot.ends {
                false => spot.x + width <= svg.width(),
                true => spot.x - width >= area.left,
            };
            let others: Vec<(&str, Spot)> = named.iter().map(|(name, spot)| (name.as_str(), *spot)).collect();
            // Only the name of the worst may cover a ring.
            let is_free = |spot: &Spot| {
                let covers = || labels::covered(&name, *spot, &rings) > 0;
                labels::is_free(&name, *spot, &others) && (named.is_empty() || !covers())
            };
            // Of places that cover equally little the first.
            let covered = |spot: &Spot| (labels::covered(&name, *spot, &rings), labels::covered(&name, *spot, &dots));
            let place = beside.filter(is_inside).filter(is_free).min_by_key(covered);
            // Where there is no room for the name of the worst, it stands at the edge, over the plot.
            let at_edge = || Spot { x: area.left + 2.0, y: py.clamp(area.top + 3.0, area.bottom - 8.0), ends: false };
            if let Some(spot) = place.or_else(|| named.is_empty().then(at_edge)) {
                let class = if spot.ends { "k-halo k-e" } else { "k-halo" };
                svg.text_with_title(class, spot.x, spot.y + 4.0, &name, &self.words(worst));
                named.push((name, spot));
            }
        }
    }

    fn draw_panel(&self, svg: &mut Svg, series: &Series, x: &Axis, y: &Axis, area: Area) {
        let tone = series.tone;
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
        self.draw_worst(svg, series, x, y, area);
    }
}

impl Figure for Trials {
    fn title(&self) -> &str {
        &self.title
    }

    fn render(&self, width: Width) -> String {
        let drawn: Vec<&Series> = self.series.iter().filter(|s| !s.samples.is_empty()).collect();
        if drawn.is_empty() {
            return frame::no_samples(&self.title, &self.subtitle, width);
        }
        let all = || drawn.iter().flat_map(|s| s.samples.ranges());
        let mut values = Extent::of(all().flat_map(|r| [r.1, r.2]));
        if let Some(limit) = &self.limit {
            limit.widen(&mut values);
        }
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
        let within = |limit: &&Limit| matches!(limit.place(&y_at(0.0)), Place::Within(_)) && !width.is_narrow();
        let beside = self.limit.as_ref().filter(within);
        let limit_room = beside.map_or(0.0, |limit| text::width(&limit.name, SMALL) + 8.0).min(width.0 * 0.3);
        let left = frame::left_room(&y_at(0.0), spacing);
        let right = width.0 - if width.is_narrow() { 6.0 } else { limit_room.max(10.0) };
        let x = Axis::linear(orders.min, orders.max, self.order_unit, left + 2.0, right - 2.0);

        let mut area = Area { left, top, right, bottom: top };
        for series in &drawn {
            if drawn.len() > 1 || !series.label.is_empty() {
                let cut = text::fit_name(&series.label, LABEL, width.0 - left);
                svg.text_with_title("k-l", left, top + 12.0, &cut, &series.label);
                top += 19.0;
            }
            area = Area { left, top, right, bottom: top + height };
            let y = y_at(top);
            frame::left_axis(&mut svg, area, &y, spacing);
            svg.line("k-axis", left, area.bottom, right, area.bottom);
            if let Some(limit) = &self.limit {
                limit.draw_across(&mut svg, &y, area, limit_room);
            }
            // The names of the worst stand over everything else.
            self.draw_panel(&mut svg, series, &x, &y, area);
            top = area.bottom + 14.0;
        }
        let mut under = frame::bottom_labels(&mut svg, area, &x, frame::spacing_x(width), &self.order);
        let tone = drawn[0].tone;
        let mut items = Vec::new();
        if drawn.iter().any(|s| matches!(s.samples, Samples::Columns(_))) {
            items.push((Mark::Box(tone), "smallest to largest sample of each column of pixels"));
            items.push((Mark::Ink, "its median"));
        }
        if drawn.iter().any(|s| !s.worst.is_empty()) {
            items.push((Mark::Ring, "the worst, with the time (UTC) as far as it is known"));
        }
        under = key::draw(&mut svg, under + 4.0, &items);
        svg.finish(under, &self.title, &self.describe())
    }

    fn terminal(&self, columns: usize) -> Option<String> {
        let lines = self.series.iter().filter(|series| !series.worst.is_empty()).map(|series| {
            let worst: Vec<String> = series.worst.iter().map(|worst| self.words(worst)).collect();
            (series.label.clone(), worst)
        });
        let lines: Vec<(String, Vec<String>)> = lines.collect();
        (!lines.is_empty()).then(|| terminal::list(&format!("{}: the worst (UTC)", self.title), &lines, columns))
    }

    fn coloured(&mut self) -> Vec<(&str, &mut Tone)> {
        self.series.iter_mut().map(|series| (series.label.as_str(), &mut series.tone)).collect()
    }

    fn csv(&self) -> String {
        let mut table = Table::new(&["series", "x", "min", "median", "max", "when"]);
        for series in &self.series {
            let mut put = |x: f64, min: f64, median: f64, max: f64, when: &str| {
                let numbers = [x, min, median, max].map(|number| number.to_string());
                table.row([series.label.clone()].into_iter().chain(numbers).chain([when.to_owned()]));
            };
            match &series.samples {
                Samples::Points(points) => points.iter().for_each(|p| put(p.0, p.1, p.1, p.1, "")),
                Samples::Columns(columns) => columns.iter().for_each(|c| put(c.x, c.min, c.median, c.max, "")),
            }
            series.worst.iter().for_each(|w| put(w.x, w.value, w.value, w.value, &w.when));
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
            limit: Some(Limit { value: 6e6, name: "deadline <5 ms>".into() }),
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
            ..plot(vec![Series { samples: Samples::Columns(columns), ..Series::default() }])
        };
        let svg = figure.render(Width::WIDE);
        let tops = svg.lines().find(|l| l.contains("k-speck")).unwrap();
        assert_eq!(tops.matches("h0").count(), 700);
    }

    #[test]
    fn every_point_is_drawn_once_a_half_pixel() {
        let points: Vec<(f64, f64)> = (0..200_000).map(|i| (f64::from(i), 5e6 + f64::from(i % 50) * 1e4)).collect();
        let svg = plot(vec![Series { label: "a".into(), samples: Samples::Points(points), ..Series::default() }])
            .render(Width::NARROW);
        let dots = svg.matches("h0").count();
        assert!(dots > 10_000 && dots < 2 * 360 * 50 + 100, "{dots}");
    }

    #[test]
    fn the_worst_samples_are_named_with_the_time_at_which_they_were_taken() {
        let points: Vec<(f64, f64)> = (0..900).map(|i| (f64::from(i), 5e3 + f64::from(i % 50))).collect();
        let worst = |x: f64, value: f64, when: &str| Worst { x, value, bound: "", when: when.into() };
        let series = Series {
            label: "cpu0".into(),
            samples: Samples::Points(points),
            worst: vec![worst(100.0, 2.92e6, "at 08:52:41.317"), worst(700.0, 1.5e6, "at 08:52:41.917")],
            ..Series::default()
        };
        let figure = plot(vec![series]);
        for width in [Width::WIDE, Width::NARROW] {
            let svg = figure.render(width);
            assert!(svg.contains(">2.92 ms at 08:52:41.317</text>"), "{svg}");
            assert_eq!(svg.contains(">1.50 ms at 08:52:41.917</text>"), width == Width::WIDE, "{svg}");
        }
        assert!(figure.terminal(80).unwrap().contains("2.92 ms at 08:52:41.317"));
        assert!(figure.csv().contains("cpu0,100,2920000,2920000,2920000,at 08:52:41.317\n"));
    }

    #[test]
    fn degenerate_data_still_make_a_drawing() {
        let points = |p: &[(f64, f64)]| Series {
            label: "<&".repeat(90),
            samples: Samples::Points(p.to_vec()),
            worst: p
                .iter()
                .map(|(x, value)| Worst { x: *x, value: *value, bound: "≥ ", when: "<".repeat(200) })
                .collect(),
            ..Series::default()
        };
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
