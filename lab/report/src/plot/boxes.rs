//! Box plots, one row a series, with every sample beyond the whiskers drawn and the largest one named.
//!
//! A row's box is the middle half of the samples, its thick line the median, its ring the mean. Whiskers and quartiles
//! are given, not computed. Dots that would fall on the same half pixel are drawn once. The picture is the same and the
//! file stays small: ten million samples cost at most two dots a pixel. A published result stands below its measured
//! box, as a diamond at its average and a bar to its maximum.

use super::axis::{Axis, Extent};
use super::csv::Table;
use super::figure::{Figure, Width};
use super::frame::{self, Area, LABEL, SMALL};
use super::key::{self, Mark};
use super::limit::Limit;
pub use super::spread::{BoxPlot, Group, Published, Row, Spread};
use super::svg::{Path, Svg, half_pixel};
use super::tone::Tone;
use super::{terminal, text};

const BOX: f64 = 17.0;
/// From the middle of a box to the middle of the published mark below it.
const LANE: f64 = 18.0;

/// Sizes that all rows share.
struct Layout {
    /// Labels stand above their boxes rather than beside them.
    stacked: bool,
    label_room: f64,
    area: Area,
}

impl BoxPlot {
    fn rows(&self) -> impl Iterator<Item = &Row> {
        self.groups.iter().flat_map(|g| &g.rows)
    }

    fn describe(&self) -> String {
        let mut out = String::from("Box plots.");
        for row in self.rows() {
            match (&row.spread, row.written_max(self.unit)) {
                (Some(s), Some(max)) => out.push_str(&format!(
                    " {} {}: median {}, middle half {} to {}, maximum {}.",
                    row.label,
                    row.sublabel,
                    self.unit.value(s.median),
                    self.unit.value(s.q1),
                    self.unit.value(s.q3),
                    max
                )),
                _ => out.push_str(&format!(" {}: {}.", row.label, row.without_box())),
            }
        }
        out.extend(self.limit.iter().map(Limit::words));
        out
    }

    /// Draws the row whose top is at `y`; returns the y under it.
    fn draw_row(&self, svg: &mut Svg, row: &Row, axis: &Axis, layout: &Layout, y: f64) -> f64 {
        let middle = if layout.stacked {
            let mut below = y + 16.0;
            svg.text_with_title(
                "k-l k-halo",
                0.0,
                below - 3.0,
                &text::fit_name(&row.label, LABEL, svg.width()),
                &row.label,
            );
            if !row.sublabel.is_empty() {
                let beside = text::width(&row.label, LABEL) + 10.0;
                if beside + text::width(&row.sublabel, SMALL) <= svg.width() {
                    svg.text("k-s k-halo", beside, below - 3.0, &row.sublabel);
                } else {
                    below += 15.0;
                    let cut = text::fit_name(&row.sublabel, SMALL, svg.width());
                    svg.text_with_title("k-s k-halo", 0.0, below - 3.0, &cut, &row.sublabel);
                }
            }
            below + 4.0 + BOX / 2.0
        } else {
            let cut = text::fit_name(&row.label, LABEL, layout.label_room);
            let middle = y + if row.sublabel.is_empty() { 15.0 } else { 18.0 };
            if row.sublabel.is_empty() {
                svg.text_with_title("k-l", 0.0, middle + 4.5, &cut, &row.label);
            } else {
                svg.text_with_title("k-l", 0.0, middle - 3.0, &cut, &row.label);
                let cut = text::fit_name(&row.sublabel, SMALL, layout.label_room);
                svg.text_with_title("k-s", 0.0, middle + 12.0, &cut, &row.sublabel);
            }
            middle
        };
        match &row.spread {
            Some(spread) => self.draw_box(svg, row, spread, axis, middle),
            None => svg.text("k-s k-halo", layout.area.left + 6.0, middle + 4.0, row.without_box()),
        }
        let mut bottom = middle + BOX / 2.0 + 5.0;
        if let Some(published) = &row.published {
            bottom = self.draw_published(svg, published, axis, layout, middle + LANE);
        }
        if layout.stacked { bottom + 7.0 } else { bottom.max(y + if row.sublabel.is_empty() { 30.0 } else { 38.0 }) }
    }

    fn draw_box(&self, svg: &mut Svg, row: &Row, s: &Spread, axis: &Axis, y: f64) {
        let tone = row.tone;
        let max = row.max().unwrap_or(s.high_whisker);
        let written = row.written_max(self.unit).unwrap_or_default();
        svg.open(&format!(
            "{} {}: median {}, mean {}, middle half {} to {}, maximum {}, {} samples beyond the whiskers",
            row.label,
            row.sublabel,
            self.unit.value(s.median),
            self.unit.value(s.mean),
            self.unit.value(s.q1),
            self.unit.value(s.q3),
            written,
            row.outliers.len()
        ));
        for path in dots(&row.outliers, axis, y) {
            svg.path(&format!("k-dot k-c{tone}"), &path);
        }
        let thin = format!("k-thin k-c{tone}");
        let (low, high) = (axis.at(s.low_whisker.min(s.q1)), axis.at(s.high_whisker.max(s.q3)));
        let (left, right) = (axis.at(s.q1), axis.at(s.q3));
        for (a, b, end) in [(low, left, low), (right, high, high)] {
            svg.line(&thin, a, y, b, y);
            svg.line(&thin, end, y - 4.0, end, y + 4.0);
        }
        // A box of no width would vanish; two pixels say that it is there.
        let (left, right) = if right - left < 2.0 { (left - 1.0, right + 1.0) } else { (left, right) };
        svg.rect(&format!("k-box k-f{tone} k-c{tone}"), left, y - BOX / 2.0, right - left, BOX);
        let median = axis.at(s.median);
        svg.line("k-median", median, y - BOX / 2.0 - 1.0, median, y + BOX / 2.0 + 1.0);
        svg.circle("k-hollow", axis.at(s.mean), y, 2.5);
        if !row.outliers.is_empty() {
            svg.circle(&format!("k-f{tone}"), axis.at(max), y, 2.0);
        }
        svg.text("k-halo", axis.at(max) + 8.0, y + 4.0, &written);
        svg.close();
    }

    /// Draws a published mark in the lane at `y`, with its note where there is room; returns the y under it.
    fn draw_published(&self, svg: &mut Svg, p: &Published, axis: &Axis, layout: &Layout, y: f64) -> f64 {
        let (average, maximum) = (axis.at(p.average), axis.at(p.maximum));
        let full =
            format!("{}: average {}, maximum {}", p.note, self.unit.value(p.average), self.unit.value(p.maximum));
        svg.open(&full);
        svg.line("k-ref", average, y, maximum, y);
        svg.line("k-ref", maximum, y - 3.5, maximum, y + 3.5);
        svg.path("k-ref", &key::diamond(average, y, 4.0));
        svg.close();
        let width = text::width(&p.note, SMALL);
        let class = "k-fr k-halo";
        if maximum + 8.0 + width <= svg.width() {
            svg.text(class, maximum + 8.0, y + 4.0, &p.note);
        } else if average - 10.0 - width >= layout.area.left {
            svg.text(&format!("{class} k-e"), average - 10.0, y + 4.0, &p.note);
        } else {
            let cut = text::fit(&p.note, SMALL, svg.width() - layout.area.left);
            svg.text_with_title(class, layout.area.left, y + 19.0, &cut, &p.note);
            return y + 24.0;
        }
        y + 9.0
    }
}

/// The dots of `values`, each half pixel once, in layers within which no two dots touch: only so do near dots darken
/// each other, because a path is painted as one translucent shape.
fn dots(values: &[u64], axis: &Axis, y: f64) -> Vec<Path> {
    const LAYERS: i64 = 6;
    let mut seen = vec![false; (axis.length() * 2.0) as usize + 8];
    let origin = half_pixel(axis.at(f64::NEG_INFINITY)) - 2;
    for value in values {
        let index = (half_pixel(axis.at(*value as f64)) - origin).clamp(0, seen.len() as i64 - 1);
        seen[index as usize] = true;
    }
    let mut layers: Vec<Path> = (0..LAYERS).map(|_| Path::new()).collect();
    for (index, _) in seen.iter().enumerate().filter(|(_, seen)| **seen) {
        let position = index as i64 + origin;
        layers[position.rem_euclid(LAYERS) as usize].dot(position as f64 / 2.0, y);
    }
    layers.retain(|layer| !layer.is_empty());
    layers
}

impl Figure for BoxPlot {
    fn title(&self) -> &str {
        &self.title
    }

    fn render(&self, width: Width) -> String {
        let mut extent = Extent::new();
        let mut max_room: f64 = 0.0;
        let mut label_room: f64 = 0.0;
        for row in self.rows() {
            extent.extend(row.values());
            if let Some(max) = row.written_max(self.unit) {
                max_room = max_room.max(text::width(&max, SMALL) + 10.0);
            }
            label_room = label_room.max(text::width(&row.label, LABEL)).max(text::width(&row.sublabel, SMALL));
        }
        if self.rows().all(|row| row.spread.is_none()) {
            let why = self.rows().next().map_or("no samples", Row::without_box);
            return frame::nothing(&self.title, &self.subtitle, width, why);
        }
        if let Some(limit) = &self.limit {
            limit.widen(&mut extent);
        }
        // Short labels keep their column on a telephone too.
        let stacked = width.is_narrow() && label_room > width.0 * 0.2;
        let label_room = label_room.min(width.0 * 0.34);
        let left = if stacked { 5.0 } else { label_room + 18.0 };
        let right = (width.0 - max_room).max(left + 60.0);
        let axis = Axis::fit(&extent, self.scale, self.unit, left, right);

        let mut svg = Svg::new(width.0);
        let top = frame::heading(&mut svg, &self.title, &self.subtitle);
        let layout = Layout { stacked, label_room, area: Area { left, top, right, bottom: top } };

        // The rows are drawn first, elsewhere, to learn their height; the grid lies under them.
        let mut rows = Svg::new(width.0);
        let first = top + if self.limit.is_some() { Limit::ROOM } else { 0.0 };
        let mut y = first;
        for group in &self.groups {
            if !group.heading.is_empty() {
                y += if y > first { 12.0 } else { 2.0 };
                let cut = text::fit_name(&group.heading, LABEL * 1.07, width.0);
                rows.text_with_title("k-g k-halo", 0.0, y + 13.0, &cut, &group.heading);
                y += 21.0;
            }
            for row in &group.rows {
                y = self.draw_row(&mut rows, row, &axis, &layout, y);
            }
        }
        let area = Area { bottom: y + 2.0, ..layout.area };
        let spacing = frame::spacing_x(width);
        let mut y = frame::bottom_axis(&mut svg, area, &axis, spacing, &self.quantity);
        if let Some(limit) = &self.limit {
            limit.draw_down(&mut svg, &axis, top, area);
        }
        svg.append(rows);

        let tone = self.rows().map(|r| r.tone).next().unwrap_or_default();
        let outliers = self.rows().any(|r| !r.outliers.is_empty());
        let published = self.rows().any(|r| r.published.is_some());
        let mut items = vec![(Mark::Box(tone), "middle half"), (Mark::Median, "median"), (Mark::Mean, "mean")];
        if outliers {
            items.push((Mark::Dot(tone), "every sample beyond the whiskers"));
        }
        if published {
            items.push((Mark::Diamond, "published average and maximum"));
        }
        y = key::draw(&mut svg, y + 6.0, &items);
        svg.finish(y, &self.title, &self.describe())
    }

    fn terminal(&self, columns: usize) -> Option<String> {
        Some(terminal::box_plot(self, columns))
    }

    fn coloured(&mut self) -> Vec<(&str, &mut Tone)> {
        let rows = self.groups.iter_mut().flat_map(|group| &mut group.rows);
        rows.map(|row| (row.label.as_str(), &mut row.tone)).collect()
    }

    fn csv(&self) -> String {
        let mut table = Table::new(&["group", "series", "condition", "statistic", "value", "count"]);
        for group in &self.groups {
            for row in &group.rows {
                let mut put = |statistic: &str, value: f64, count: usize| {
                    table.row([
                        group.heading.clone(),
                        row.label.clone(),
                        row.sublabel.clone(),
                        statistic.to_owned(),
                        value.to_string(),
                        count.to_string(),
                    ]);
                };
                if let Some(s) = &row.spread {
                    put("low_whisker", s.low_whisker, 1);
                    put("q1", s.q1, 1);
                    put("median", s.median, 1);
                    put("q3", s.q3, 1);
                    put("high_whisker", s.high_whisker, 1);
                    put("mean", s.mean, 1);
                }
                if let Some(p) = &row.published {
                    put("published_average", p.average, 1);
                    put("published_maximum", p.maximum, 1);
                }
                let mut outliers = row.outliers.clone();
                outliers.sort_unstable();
                for same in outliers.chunk_by(|a, b| a == b) {
                    put("outlier", same[0] as f64, same.len());
                }
            }
        }
        table.finish()
    }
}

#[cfg(test)]
#[path = "boxes_tests.rs"]
mod tests;
