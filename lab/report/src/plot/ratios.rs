//! Ratios with their intervals, one row a comparison, around the line at 1 (a forest plot).
//!
//! The axis is logarithmic, so that twice and half stand equally far from 1. The colour of a row depends on its
//! interval, which lies inside the band of ratios that count as equal, or wholly outside of it, or neither; in the last
//! case no verdict is supported.

use super::axis::{Axis, Extent};
use super::csv::Table;
use super::figure::{Figure, Width};
use super::frame::{self, Area, LABEL, SMALL};
use super::key::{self, Mark};
use super::svg::Svg;
use super::text;
use super::tone::Tone;
use super::units::Unit;

#[derive(Clone, Debug, Default)]
pub struct Row {
    pub label: String,
    pub sublabel: String,
    /// None when there was nothing to compare.
    pub ratio: Option<Ratio>,
}

#[derive(Clone, Copy, Debug)]
pub struct Ratio {
    pub value: f64,
    pub low: f64,
    pub high: f64,
}

#[derive(Clone, Debug)]
pub struct Ratios {
    pub title: String,
    pub subtitle: String,
    /// What is divided by what: "median of A over median of B".
    pub quantity: String,
    /// What counts as equal, such as 0.9 to 1.1.
    pub band: (f64, f64),
    pub rows: Vec<Row>,
}

impl Ratios {
    /// A line for each ratio, for a terminal.
    fn lines(&self, columns: usize) -> String {
        let mut out = format!("{} ({})", self.title, self.quantity);
        let cut = |text: String| text.chars().take(columns.max(40)).collect::<String>();
        out = cut(out);
        let name = |row: &Row| format!("{} {}", row.label, row.sublabel);
        let widest = self.rows.iter().map(|row| name(row).chars().count()).max().unwrap_or(0);
        for row in &self.rows {
            let figure = match &row.ratio {
                Some(r) => {
                    let write = |value| Unit::Ratio.value(value);
                    format!("{:>7}  ({} to {})", write(r.value), write(r.low), write(r.high))
                }
                None => "      –".to_owned(),
            };
            let line = format!("{:<widest$}  {figure}", name(row));
            out.push('\n');
            out.push_str(&cut(line));
        }
        out
    }

    fn class(&self, r: &Ratio) -> &'static str {
        if r.low >= self.band.0 && r.high <= self.band.1 {
            "1"
        } else if r.high < self.band.0 || r.low > self.band.1 {
            "w"
        } else {
            "q"
        }
    }

    fn describe(&self) -> String {
        let mut out = format!("Ratios with intervals: {}.", self.quantity);
        for row in &self.rows {
            match row.ratio {
                Some(r) => out.push_str(&format!(" {} {}: {}.", row.label, row.sublabel, words(&r))),
                None => out.push_str(&format!(" {}: no samples.", row.label)),
            }
        }
        out
    }
}

fn interval(r: &Ratio) -> String {
    format!("{}–{}", number(r.low), number(r.high))
}

fn words(r: &Ratio) -> String {
    format!("{} ({})", number(r.value), interval(r))
}

/// A ratio without its sign of multiplication, which a column does not need in every row. Around 1 two decimals, so
/// that a column of ratios stands in line.
fn number(value: f64) -> String {
    if (0.0995..9.995).contains(&value) {
        return format!("{value:.2}");
    }
    Unit::Ratio.value(value).trim_end_matches('×').to_owned()
}

/// Round ratios that fit, 1 first, then the rounder before the others; a decade axis has too few near 1. A ratio and its
/// inverse stand or fall together where both are on the axis.
fn ticks(axis: &Axis, spacing: f64) -> Vec<f64> {
    const BY_ROUNDNESS: [&[f64]; 11] = [
        &[1.0],
        &[0.5, 2.0],
        &[0.1, 10.0],
        &[0.01, 100.0],
        &[0.2, 5.0],
        &[0.9, 1.1],
        &[0.8, 1.25],
        &[0.7, 1.5],
        &[0.95, 1.05],
        &[0.05, 20.0],
        &[0.02, 50.0],
    ];
    let mut chosen: Vec<f64> = Vec::new();
    for pair in BY_ROUNDNESS {
        let inside: Vec<f64> = pair.iter().copied().filter(|t| *t >= axis.lo && *t <= axis.hi).collect();
        if inside.iter().all(|t| chosen.iter().all(|c| (axis.at(*c) - axis.at(*t)).abs() >= spacing)) {
            chosen.extend(inside);
        }
    }
    chosen
}

impl Figure for Ratios {
    fn title(&self) -> &str {
        &self.title
    }

    fn terminal(&self, columns: usize) -> Option<String> {
        (!self.rows.is_empty()).then(|| self.lines(columns))
    }

    fn render(&self, width: Width) -> String {
        let ratios = || self.rows.iter().filter_map(|r| r.ratio.as_ref());
        if ratios().next().is_none() {
            return frame::no_samples(&self.title, &self.subtitle, width);
        }
        let narrow = width.is_narrow();
        let positive = |v: &f64| *v > 0.0;
        let mut extent = Extent::of(ratios().flat_map(|r| [r.value, r.low, r.high]).filter(positive));
        extent.extend([self.band.0, self.band.1, 1.0].into_iter().filter(positive));
        let labels = self.rows.iter().map(|r| text::width(&r.label, LABEL).max(text::width(&r.sublabel, SMALL)));
        let label_room = labels.fold(0.0, f64::max).min(width.0 * 0.36);
        let interval_room = ratios().map(|r| text::width(&interval(r), SMALL)).fold(0.0, f64::max) + 12.0;
        let value_room = ratios().map(|r| text::width(&number(r.value), SMALL)).fold(0.0, f64::max);
        let (left, right) = if narrow {
            (6.0, width.0 - 6.0)
        } else {
            (label_room + 18.0, width.0 - interval_room - value_room - 16.0)
        };
        let air = (extent.max / extent.min).powf(0.06);
        let axis = Axis::log(extent.min / air, extent.max * air, false, Unit::Ratio, left, right.max(left + 60.0));

        let mut svg = Svg::new(width.0);
        let top = frame::heading(&mut svg, &self.title, &self.subtitle);
        let mut rows = Svg::new(width.0);
        let mut y = top;
        for row in &self.rows {
            let put_value = |svg: &mut Svg, y: f64| match &row.ratio {
                Some(r) => {
                    svg.text("k-e k-halo", width.0 - interval_room, y, &number(r.value));
                    svg.text("k-s k-e k-halo", width.0, y, &interval(r));
                }
                None => svg.text("k-s k-e k-halo", width.0, y, "no samples"),
            };
            let middle = if narrow {
                let room = width.0 - interval_room - value_room - 12.0;
                let cut = text::fit_name(&row.label, LABEL, room);
                rows.text_with_title("k-l k-halo", 0.0, y + 14.0, &cut, &row.label);
                put_value(&mut rows, y + 14.0);
                let mut below = y + 18.0;
                if !row.sublabel.is_empty() {
                    let cut = text::fit_name(&row.sublabel, SMALL, width.0);
                    rows.text_with_title("k-s k-halo", 0.0, below + 11.0, &cut, &row.sublabel);
                    below += 15.0;
                }
                below + 8.0
            } else {
                let middle = y + if row.sublabel.is_empty() { 13.0 } else { 18.0 };
                let up = if row.sublabel.is_empty() { 4.5 } else { -3.0 };
                let cut = text::fit_name(&row.label, LABEL, label_room);
                rows.text_with_title("k-l", 0.0, middle + up, &cut, &row.label);
                if !row.sublabel.is_empty() {
                    let cut = text::fit_name(&row.sublabel, SMALL, label_room);
                    rows.text_with_title("k-s", 0.0, middle + 12.0, &cut, &row.sublabel);
                }
                put_value(&mut rows, middle + 4.0);
                middle
            };
            if let Some(r) = &row.ratio {
                let class = self.class(r);
                rows.open(&format!("{} {}: {}", row.label, row.sublabel, words(r)));
                rows.line(&format!("k-line k-c{class}"), axis.at(r.low), middle, axis.at(r.high), middle);
                rows.circle(&format!("k-point k-f{class}"), axis.at(r.value), middle, 4.2);
                rows.close();
            }
            y = middle + if narrow { 15.0 } else { middle - y };
        }
        let area = Area { left, top, right, bottom: y + 4.0 };
        let (from, to) = (axis.at(self.band.0), axis.at(self.band.1));
        svg.rect("k-band", from, area.top, to - from, area.bottom - area.top);
        let ticks = ticks(&axis, if narrow { 34.0 } else { 38.0 });
        for tick in &ticks {
            let class = if *tick == 1.0 { "k-axis" } else { "k-grid" };
            svg.line(class, axis.at(*tick), area.top, axis.at(*tick), area.bottom);
            svg.text("k-s k-m", axis.at(*tick), area.bottom + 17.0, &format!("{tick}×"));
        }
        svg.append(rows);
        let mut under = area.bottom + 22.0;
        if !self.quantity.is_empty() {
            let cut = text::fit(&self.quantity, SMALL, width.0 - 16.0);
            svg.text("k-s k-e", right, under + 15.0, &format!("{cut} →"));
            under += 20.0;
        }
        let band = format!("{} to {}", number(self.band.0), number(self.band.1));
        let mut items = vec![(Mark::Band, band.as_str())];
        for (class, mark, meaning) in [
            ("1", Mark::Interval(Tone::default()), "interval inside"),
            ("w", Mark::WarnInterval, "interval outside"),
            ("q", Mark::QuietInterval, "undecided"),
        ] {
            if ratios().any(|r| self.class(r) == class) {
                items.push((mark, meaning));
            }
        }
        under = key::draw(&mut svg, under + 4.0, &items);
        svg.finish(under, &self.title, &self.describe())
    }

    fn csv(&self) -> String {
        let mut table = Table::new(&["comparison", "condition", "ratio", "low", "high"]);
        for row in &self.rows {
            let numbers = match row.ratio {
                Some(r) => [r.value, r.low, r.high].map(|v| v.to_string()),
                None => Default::default(),
            };
            table.row([row.label.clone(), row.sublabel.clone()].into_iter().chain(numbers));
        }
        table.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::super::svg::assert_well_formed;
    use super::*;

    fn row(label: &str, value: f64, low: f64, high: f64) -> Row {
        Row { label: label.into(), sublabel: String::new(), ratio: Some(Ratio { value, low, high }) }
    }

    fn plot(rows: Vec<Row>) -> Ratios {
        Ratios {
            title: "t".into(),
            subtitle: String::new(),
            quantity: "ours over theirs".into(),
            band: (0.9, 1.1),
            rows,
        }
    }

    #[test]
    fn the_colour_follows_where_the_interval_lies() {
        let rows = vec![row("in", 1.0, 0.95, 1.05), row("out", 1.5, 1.3, 1.7), row("both", 1.1, 1.0, 1.2)];
        let figure = plot(rows);
        let classes: Vec<_> = figure.rows.iter().map(|r| figure.class(&r.ratio.unwrap())).collect();
        assert_eq!(classes, ["1", "w", "q"]);
    }

    #[test]
    fn one_is_always_among_the_ticks_and_ticks_stand_apart() {
        for (lo, hi) in [(0.9, 1.1), (0.5, 3.0), (0.01, 80.0), (0.98, 1.3)] {
            let axis = Axis::log(lo, hi, false, Unit::Ratio, 0.0, 350.0);
            let found = ticks(&axis, 34.0);
            assert!(found.contains(&1.0));
            for a in &found {
                assert!(found.iter().all(|b| a == b || (axis.at(*a) - axis.at(*b)).abs() >= 34.0));
            }
        }
    }

    #[test]
    fn degenerate_data_still_make_a_drawing() {
        for rows in [
            vec![],
            vec![Row::default()],
            vec![row("<\"&", 1.0, 1.0, 1.0), Row { label: "none".into(), ..Row::default() }],
            vec![row(&"long ".repeat(70), 0.0, -1.0, f64::INFINITY), row("n", f64::NAN, f64::NAN, f64::NAN)],
            vec![row("huge", 1e9, 1e-9, 1e12)],
            vec![row("r", 1.0, 0.9, 1.2); 40],
        ] {
            let figure = plot(rows);
            assert_well_formed(&figure.render(Width::WIDE));
            assert_well_formed(&figure.render(Width::NARROW));
        }
    }
}
