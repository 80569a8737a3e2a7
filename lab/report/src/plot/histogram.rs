//! Histograms with a logarithmic count axis, as the real-time community draws latency: the many usual samples must not
//! hide the one that was late.
//!
//! The samples come as fine buckets. They are put into drawn bins about four pixels wide; a bin's edge never cuts a
//! bucket, so counts stay whole numbers and the sum of what is drawn is the number of samples. All series share their
//! bins. The worst case of each series is marked where it is and named above, which is also the key.

use super::axis::{Axis, Extent};
use super::frame::{self, Area, SMALL};
use super::svg::{Path, Svg};
use super::{Figure, Scale, Table, Unit, Width, terminal, text, theme};

/// Samples in `low..high`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bucket {
    pub low: u64,
    /// Exclusive.
    pub high: u64,
    pub count: u64,
}

#[derive(Clone, Debug, Default)]
pub struct Series {
    pub label: String,
    /// In rising order, without overlap; empty ones may be left out.
    pub buckets: Vec<Bucket>,
    /// The largest sample, exact.
    pub max: u64,
}

#[derive(Clone, Debug)]
pub struct Histogram {
    pub title: String,
    pub subtitle: String,
    pub quantity: String,
    pub unit: Unit,
    pub scale: Scale,
    pub series: Vec<Series>,
    /// A vertical line with a name: a deadline, a period.
    pub limit: Option<(f64, String)>,
}

/// Width of a drawn bin, in pixels, where the buckets are fine enough.
const BIN: f64 = 4.0;
const FLAG: f64 = 18.0;

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
    /// The series that have samples, each with its colour, which it keeps when another one is empty.
    fn drawn(&self) -> Vec<(usize, &Series)> {
        let with_tone = self.series.iter().enumerate().map(|(i, s)| (theme::tone(i), s));
        with_tone.filter(|(_, s)| s.buckets.iter().any(|b| b.count > 0)).collect()
    }

    fn describe(&self) -> String {
        let mut out = String::from("Histogram with a logarithmic count axis.");
        for (_, series) in self.drawn() {
            let total: u64 = series.buckets.iter().map(|b| b.count).sum();
            out.push_str(&format!(
                " {}: {} samples, maximum {}.",
                series.label,
                Unit::Count.value(total as f64),
                self.unit.value(series.max as f64)
            ));
        }
        out
    }

    /// The names and worst cases above the plot, and the limit among them, one line each, with a thin line down to the
    /// axis.
    fn draw_flags(&self, svg: &mut Svg, series: &[(usize, &Series)], axis: &Axis, top: f64, area: Area) {
        let mut flags: Vec<Flag> = series
            .iter()
            .map(|(tone, s)| Flag {
                at: s.max as f64,
                name: &s.label,
                worst: format!("worst {}", self.unit.value(s.max as f64)),
                line: format!("k-thin k-dash k-c{tone}"),
                text: format!("k-f{tone} k-halo"),
            })
            .collect();
        flags.extend(self.limit.iter().map(|(at, name)| Flag {
            at: *at,
            name,
            worst: String::new(),
            line: "k-deadline".into(),
            text: "k-fw k-halo".into(),
        }));
        // The largest on top: the texts stand left of their lines, so that no line goes down through a text.
        flags.sort_by(|a, b| b.at.total_cmp(&a.at));
        for (line, flag) in flags.iter().enumerate() {
            let (x, y) = (axis.at(flag.at), top + line as f64 * FLAG + 12.0);
            let room = svg.width() - text::width(&flag.worst, SMALL) - 30.0;
            let parts = [text::fit(flag.name, SMALL, room), flag.worst.clone()];
            let words = parts.iter().filter(|p| !p.is_empty()).cloned().collect::<Vec<_>>().join(" · ");
            let width = text::width(&words, SMALL);
            svg.line(&flag.line, x, y - 10.0, x, area.bottom);
            let (left, end) = if x - 6.0 - width >= 0.0 {
                (x - 6.0, " k-e")
            } else if x + 6.0 + width <= svg.width() {
                (x + 6.0, "")
            } else {
                (0.0, "")
            };
            let full = [flag.name, &flag.worst].iter().filter(|p| !p.is_empty()).copied().collect::<Vec<_>>();
            svg.text_with_title(&format!("{}{end}", flag.text), left, y, &words, &full.join(" · "));
        }
    }
}

/// A name above the plot and the line that goes down from it.
struct Flag<'a> {
    at: f64,
    name: &'a str,
    worst: String,
    line: String,
    text: String,
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
        for (_, s) in &series {
            let filled = s.buckets.iter().filter(|b| b.count > 0);
            extent.extend(filled.map(|b| b.low as f64).chain([s.max as f64]));
        }
        if let Some((limit, _)) = &self.limit {
            extent.extend([*limit]);
        }
        let mut svg = Svg::new(width.0);
        let top = frame::heading(&mut svg, &self.title, &self.subtitle);
        let plot = if width.is_narrow() { 190.0 } else { 230.0 };
        let flags = (series.len() + usize::from(self.limit.is_some())) as f64 * FLAG + 10.0;

        // The vertical axis needs the counts, the counts need the bins, and the bins need the horizontal axis, whose
        // left end depends on the width of the vertical labels: a count of all samples is as wide as they can get.
        let most: u64 = series.iter().map(|(_, s)| s.buckets.iter().map(|b| b.count).sum()).max().unwrap_or(1);
        let widest = Axis::log(0.6, (most as f64).max(10.0), false, Unit::Count, plot, 0.0);
        let left = frame::left_room(&widest, frame::SPACING_Y);
        let right = width.0 - 10.0;
        let x = Axis::fit(&extent, self.scale, self.unit, left, right);
        let edges = edges(&x, left, right, &self.series);
        let binned: Vec<Vec<u64>> = series.iter().map(|(_, s)| counts(&s.buckets, &edges)).collect();
        let highest = binned.iter().flatten().copied().max().unwrap_or(1) as f64;
        let titled = frame::left_title(&mut svg, top, "samples in each bin");
        let area = Area { left, top: top + titled + flags, right, bottom: top + titled + flags + plot };
        let y = Axis::log(0.6, (highest * 1.15).max(10.0), false, Unit::Count, area.bottom, area.top);

        frame::left_axis(&mut svg, area, &y, frame::SPACING_Y);
        self.draw_flags(&mut svg, &series, &x, top + titled, area);
        for ((tone, _), counts) in series.iter().zip(&binned) {
            let points = outline(counts, &edges, &x, &y, area.bottom);
            let fill = if series.len() == 1 { "k-box" } else { "k-area" };
            svg.path(&format!("{fill} k-f{tone}"), &Path::through(&points));
            svg.path(&format!("k-line k-thin k-c{tone}"), &Path::through(&points));
        }
        let under = frame::bottom_labels(&mut svg, area, &x, frame::spacing_x(width), &self.quantity);
        svg.finish(under, &self.title, &self.describe())
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
        let series =
            [fine, coarse].map(|buckets| Series { label: String::new(), max: buckets.last().unwrap().low, buckets });
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
        let svg = plot(vec![Series { label: "idle".into(), buckets, max: 999_321 }]).render(Width::WIDE);
        assert!(svg.contains(">idle · worst 999 µs</text>"));
        assert_well_formed(&svg);
    }

    #[test]
    fn degenerate_data_still_make_a_drawing() {
        let hostile = "<&>\"'".repeat(40);
        let cases = [
            vec![],
            vec![Series { label: hostile.clone(), ..Series::default() }],
            vec![Series { label: hostile, buckets: vec![bucket(0, 1, 1)], max: 0 }],
            vec![Series { label: "one".into(), buckets: vec![bucket(5, 6, 1)], max: 5 }],
            vec![Series {
                label: "huge".into(),
                buckets: vec![bucket(0, 1, 9), bucket(1 << 62, u64::MAX, 1)],
                max: 1 << 62,
            }],
            (0..9).map(|i| Series { label: format!("s{i}"), buckets: vec![bucket(5, 6, i)], max: 5 }).collect(),
        ];
        for series in cases {
            let mut figure = plot(series);
            figure.limit = Some((7.0, "deadline <".into()));
            for scale in [Scale::Auto, Scale::Linear, Scale::Log] {
                figure.scale = scale;
                assert_well_formed(&figure.render(Width::WIDE));
                assert_well_formed(&figure.render(Width::NARROW));
            }
        }
        assert!(plot(vec![]).render(Width::WIDE).contains("no samples"));
    }
}
