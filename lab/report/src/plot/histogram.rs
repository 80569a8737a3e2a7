//! Histograms with a logarithmic count axis, the usual form for latency in the real-time community: one late sample
//! stays visible beside many usual ones.
//!
//! Each series has a row of its own, all with the same axes: bars of several series in one frame cover each other. The
//! worst case of each series is marked at its place, and named beside the mark.
//!
//! The samples come as fine buckets, which are put into drawn bins about four pixels wide. The edge of a bin never cuts
//! a bucket, so counts stay whole numbers and the drawn counts add up to the number of samples. All series share their
//! bins.

use super::axis::{Axis, Extent};
pub use super::buckets::{Bucket, Histogram, Series};
use super::csv::Table;
use super::figure::{Figure, Width};
use super::frame::{self, Area, LABEL, SMALL};
use super::limit::Limit;
use super::svg::{Path, Svg};
use super::tone::Tone;
use super::units::Unit;
use super::{terminal, text};

/// Width of a drawn bin, in pixels, where the buckets are fine enough.
const BIN: f64 = 4.0;
/// Height of the name above a row.
const NAME: f64 = 19.0;
/// From one row to the name of the next.
const GAP: f64 = 12.0;
/// Ticks of the counts in one of several rows.
const SPACING_ROW: f64 = 26.0;

/// Edges of the drawn bins over `axis`: a regular grid of pixels, each edge that would cut a bucket moved to its low
/// end.
fn edges(axis: &Axis, left: f64, right: f64, series: &[Series]) -> Vec<f64> {
    let mut edges: Vec<f64> = Vec::new();
    let bins = ((right - left) / BIN).ceil() as usize;
    for i in 0..=bins {
        let mut edge = axis.value_at(left + i as f64 * BIN);
        // Moving below one bucket can come to lie in a bucket of another series; each move is downwards, so it ends.
        loop {
            let cut = series.iter().find_map(|s| {
                let index = s.buckets.partition_point(|b| (b.high as f64) <= edge);
                s.buckets.get(index).filter(|b| (b.low as f64) < edge).map(|b| b.low as f64)
            });
            match cut {
                Some(low) => edge = low,
                None => break,
            }
        }
        if edges.last().is_none_or(|last| edge > *last) {
            edges.push(edge);
        }
    }
    edges
}

/// Counts of `buckets` between `edges`; what lies outside counts in the first or last bin.
fn counts(buckets: &[Bucket], edges: &[f64]) -> Vec<u64> {
    let mut counts = vec![0; edges.len().saturating_sub(1).max(1)];
    for bucket in buckets {
        let bin = edges.partition_point(|e| *e <= bucket.low as f64).saturating_sub(1);
        let bin = bin.min(counts.len() - 1);
        counts[bin] += bucket.count;
    }
    counts
}

impl Histogram {
    /// The series that have samples.
    fn drawn(&self) -> Vec<&Series> {
        self.series.iter().filter(|s| s.buckets.iter().any(|b| b.count > 0)).collect()
    }

    fn describe(&self) -> String {
        let mut out = String::from("Histogram with a logarithmic count axis.");
        for series in self.drawn() {
            out.push_str(&format!(
                " {}: {} samples, {}.",
                series.label,
                Unit::Count.value(series.count() as f64),
                series.worst(self.unit)
            ));
        }
        out.extend(self.limit.iter().map(Limit::words));
        out
    }

    /// Draws one row: its bars, and a mark at its worst case.
    fn draw_row(&self, svg: &mut Svg, series: &Series, bars: &[(f64, f64)], worst: f64, area: Area) {
        let tone = series.tone;
        svg.open(&series.label);
        svg.path(&format!("k-box k-f{tone}"), &Path::through(bars));
        svg.path(&format!("k-line k-thin k-c{tone}"), &Path::through(bars));
        svg.close();
        svg.line(&format!("k-thin k-dash k-c{tone}"), worst, area.top, worst, area.bottom);
        let words = series.worst(self.unit);
        // Right of the worst case there is nothing; left of it there are bars, which end below the top of the row.
        let fits = worst + 6.0 + text::width(&words, SMALL) <= svg.width();
        let (class, x) = if fits { ("k-halo", worst + 6.0) } else { ("k-halo k-e", worst - 6.0) };
        svg.text(class, x, area.top + 10.0, &words);
    }
}

/// The outline of `counts` over `edges` as steps, from the base line up and back to it.
fn outline(counts: &[u64], edges: &[f64], x: &Axis, y: &Axis, base: f64) -> Vec<(f64, f64)> {
    let mut points = Vec::new();
    let mut at = base;
    for (i, &count) in counts.iter().enumerate() {
        let level = if count == 0 { base } else { y.at(count as f64) };
        let left = x.at(edges[i]);
        if level != at {
            points.push((left, at));
            points.push((left, level));
            at = level;
        }
    }
    if at != base {
        // A bin that the axis cuts off would end before it began.
        let end = edges.last().map_or(0.0, |e| x.at(*e));
        let end = end.max(points.last().map_or(0.0, |p| p.0 + 1.0));
        points.push((end, at));
        points.push((end, base));
    }
    points
}

impl Figure for Histogram {
    fn title(&self) -> &str {
        &self.title
    }

    fn render(&self, width: Width) -> String {
        let series = self.drawn();
        if series.is_empty() {
            return frame::no_samples(&self.title, &self.subtitle, width);
        }
        let mut extent = Extent::new();
        for s in &series {
            let filled = s.buckets.iter().filter(|b| b.count > 0);
            extent.extend(filled.map(|b| b.low as f64).chain([s.max as f64]));
        }
        if let Some(limit) = &self.limit {
            limit.widen(&mut extent);
        }
        let mut svg = Svg::new(width.0);
        let top = frame::heading(&mut svg, &self.title, &self.subtitle);
        let (height, spacing) = match (series.len(), width.is_narrow()) {
            (1, true) => (190.0, frame::SPACING_Y),
            (1, false) => (230.0, frame::SPACING_Y),
            (2 | 3, _) => (104.0, SPACING_ROW),
            _ => (72.0, SPACING_ROW),
        };

        // The vertical axis needs the counts, the counts need the bins, and the bins need the horizontal axis, whose
        // left end depends on the width of the vertical labels: a count of all samples is as wide as they can get.
        let most: u64 = series.iter().map(|s| s.count()).max().unwrap_or(1);
        let widest = Axis::log(0.6, (most as f64).max(10.0), false, Unit::Count, height, 0.0);
        let left = frame::left_room(&widest, spacing);
        let right = width.0 - 10.0;
        let x = Axis::fit(&extent, self.scale, self.unit, left, right);
        let edges = edges(&x, left, right, &self.series);
        let binned: Vec<Vec<u64>> = series.iter().map(|s| counts(&s.buckets, &edges)).collect();
        let highest = binned.iter().flatten().copied().max().unwrap_or(1) as f64;

        let top = top + frame::left_title(&mut svg, top, "samples in each bin");
        let limit_room = if self.limit.is_some() { Limit::ROOM } else { 0.0 };
        let mut area = Area { left, top, right, bottom: top + limit_room };
        // Drawn elsewhere at first: the limit's line lies under them, so that it crosses no name.
        let mut rows = Svg::new(width.0);
        for (s, counts) in series.iter().zip(&binned) {
            let mut row_top = area.bottom + if area.bottom > top + limit_room { GAP } else { 0.0 };
            if !s.label.is_empty() {
                let cut = text::fit_name(&s.label, LABEL, width.0 - left);
                rows.text_with_title("k-l k-halo", left, row_top + 13.0, &cut, &s.label);
                row_top += NAME;
            }
            area = Area { left, top: row_top, right, bottom: row_top + height };
            let y = Axis::log(0.6, (highest * 1.15).max(10.0), false, Unit::Count, area.bottom, area.top);
            frame::left_axis(&mut svg, area, &y, spacing);
            frame::grid_down(&mut svg, area, &x, frame::spacing_x(width));
            rows.line("k-axis", left, area.bottom, right, area.bottom);
            let bars = outline(counts, &edges, &x, &y, area.bottom);
            self.draw_row(&mut rows, s, &bars, x.at(s.max as f64), area);
        }
        if let Some(limit) = &self.limit {
            limit.draw_down(&mut svg, &x, top, area);
        }
        svg.append(rows);
        let under = frame::bottom_labels(&mut svg, area, &x, frame::spacing_x(width), &self.quantity);
        svg.finish(under, &self.title, &self.describe())
    }

    fn coloured(&mut self) -> Vec<(&str, &mut Tone)> {
        self.series.iter_mut().map(|series| (series.label.as_str(), &mut series.tone)).collect()
    }

    fn terminal(&self, columns: usize) -> Option<String> {
        Some(terminal::histogram(self, columns))
    }

    fn csv(&self) -> String {
        let mut table = Table::new(&["series", "low", "high", "count"]);
        for series in &self.series {
            for b in &series.buckets {
                table.row([series.label.clone(), b.low.to_string(), b.high.to_string(), b.count.to_string()]);
            }
        }
        table.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::super::axis::Scale;
    use super::super::svg::assert_well_formed;
    use super::*;

    fn bucket(low: u64, high: u64, count: u64) -> Bucket {
        Bucket { low, high, count }
    }

    fn plot(series: Vec<Series>) -> Histogram {
        Histogram {
            title: "t".into(),
            subtitle: "s".into(),
            quantity: "latency".into(),
            unit: Unit::Nanoseconds,
            scale: Scale::Auto,
            series,
            limit: None,
        }
    }

    #[test]
    fn no_sample_is_lost_and_no_bucket_is_cut() {
        let fine: Vec<Bucket> = (0..3000).map(|i| bucket(1000 + i * 7, 1007 + i * 7, i % 5)).collect();
        let coarse = vec![bucket(900, 1400, 3), bucket(1400, 9000, 8), bucket(30_000, 90_000, 1)];
        let series = [fine, coarse].map(|buckets| Series {
            label: String::new(),
            max: buckets.last().unwrap().low,
            buckets,
            ..Series::default()
        });
        for axis in [
            Axis::linear(0.0, 91_000.0, Unit::Nanoseconds, 0.0, 700.0),
            Axis::log(500.0, 1e5, false, Unit::Nanoseconds, 0.0, 700.0),
        ] {
            let edges = edges(&axis, 0.0, 700.0, &series);
            assert!(edges.windows(2).all(|e| e[0] < e[1]));
            for s in &series {
                let total: u64 = s.buckets.iter().map(|b| b.count).sum();
                assert_eq!(counts(&s.buckets, &edges).iter().sum::<u64>(), total);
                for b in &s.buckets {
                    assert!(!edges.iter().any(|e| (b.low as f64) < *e && *e < b.high as f64), "{b:?} is cut");
                }
            }
        }
    }

    #[test]
    fn a_single_late_sample_is_seen_and_named() {
        let buckets = vec![bucket(1000, 1010, 1_000_000), bucket(999_000, 1_000_000, 1)];
        let svg =
            plot(vec![Series { label: "idle".into(), buckets, max: 999_321, ..Series::default() }]).render(Width::WIDE);
        assert!(svg.contains(">idle</text>") && svg.contains(">worst 999 µs</text>"));
        assert_well_formed(&svg);
    }

    /// The y of every row's ground line.
    fn grounds(svg: &str) -> Vec<f64> {
        let of = |line: &str| line.split("y1=\"").nth(1)?.split('"').next()?.parse().ok();
        let mut found: Vec<f64> = svg
            .lines()
            .filter(|line| line.starts_with("<line class=\"k-axis\""))
            .filter(|line| line.split('"').nth(5) == line.split('"').nth(9))
            .filter_map(of)
            .collect();
        found.dedup();
        found
    }

    #[test]
    fn each_series_has_a_row_of_its_own_on_one_axis() {
        let one = |i: u64| Series {
            label: format!("series {i}"),
            buckets: vec![bucket(1000 + i, 1010 + i, 500), bucket(90_000, 90_100, 1)],
            max: 90_050,
            ..Series::default()
        };
        for width in [Width::WIDE, Width::NARROW] {
            let svg = plot((0..8).map(one).collect()).render(width);
            assert_well_formed(&svg);
            let grounds = grounds(&svg);
            assert_eq!(grounds.len(), 8, "{grounds:?}");
            // The bars of each row end on its own ground, above which lies the ground of the row before.
            let bars: Vec<&str> = svg.lines().filter(|line| line.contains("k-box")).collect();
            assert_eq!(bars.len(), 8);
            for (row, bars) in bars.iter().enumerate() {
                let path = bars.split("d=\"M").nth(1).unwrap().trim_end_matches("\"/>");
                let ys: Vec<f64> = path.split('L').map(|p| p.split(' ').nth(1).unwrap().parse().unwrap()).collect();
                let above = if row == 0 { 0.0 } else { grounds[row - 1] };
                assert!(ys.iter().all(|y| *y > above && *y <= grounds[row]), "row {row}: {ys:?} in {grounds:?}");
                assert!(svg.contains(&format!(">series {row}</text>")));
            }
            assert_eq!(svg.matches(">10 µs</text>").count(), 1, "one axis for all");
        }
    }

    #[test]
    fn a_maximum_that_is_only_a_bound_is_written_as_one() {
        let one = Series { buckets: vec![bucket(1000, 1010, 5)], max: 1005, bound: "≥ ", ..Series::default() };
        let figure = plot(vec![one]);
        assert!(figure.render(Width::WIDE).contains(">worst ≥ 1.00 µs</text>"));
        assert!(figure.terminal(80).unwrap().contains("worst ≥ 1.00 µs"));
    }

    #[test]
    fn degenerate_data_still_make_a_drawing() {
        let hostile = "<&>\"'".repeat(40);
        let cases = [
            vec![],
            vec![Series { label: hostile.clone(), ..Series::default() }],
            vec![Series { label: hostile, buckets: vec![bucket(0, 1, 1)], ..Series::default() }],
            vec![Series { label: "one".into(), buckets: vec![bucket(5, 6, 1)], max: 5, ..Series::default() }],
            vec![Series {
                label: "huge".into(),
                buckets: vec![bucket(0, 1, 9), bucket(1 << 62, u64::MAX, 1)],
                max: 1 << 62,
                ..Series::default()
            }],
            (0..9)
                .map(|i| Series { label: format!("s{i}"), buckets: vec![bucket(5, 6, i)], max: 5, ..Series::default() })
                .collect(),
        ];
        for series in cases {
            let mut figure = plot(series);
            figure.limit = Some(Limit { value: 7.0, name: "deadline <".into() });
            for scale in [Scale::Auto, Scale::Linear, Scale::Log] {
                figure.scale = scale;
                assert_well_formed(&figure.render(Width::WIDE));
                assert_well_formed(&figure.render(Width::NARROW));
            }
        }
        assert!(plot(vec![]).render(Width::WIDE).contains("no samples"));
    }
}
