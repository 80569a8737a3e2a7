//! The composition of a whole at a few moments, such as the memory of a machine, or of several wholes, such as the starts of
//! several environments: a bar each, made of the parts that are in use.
//!
//! What is not in use (free memory) is told as a number: drawn, it would be most of the bar on a large machine, and the
//! parts could not be seen. How the parts changed between the moments is for [`super::lines`] to show, on an axis of their
//! changes.

use super::axis::{Axis, Extent, Scale};
use super::csv::Table;
use super::figure::{Figure, Width};
use super::frame::{self, Area, LABEL, SMALL};
use super::key::{self, Mark};
use super::svg::Svg;
use super::tone::Tone;
use super::units::Unit;
use super::{terminal, text};

const BAR: f64 = 20.0;
const ROW: f64 = 30.0;

/// One part of the whole, with its size at each of the moments; what is missing or not finite counts as 0.
#[derive(Clone, Debug, Default)]
pub struct Part {
    pub label: String,
    pub tone: Tone,
    pub sizes: Vec<f64>,
}

impl Part {
    fn at(&self, moment: usize) -> f64 {
        self.sizes.get(moment).copied().filter(|size| size.is_finite()).unwrap_or(0.0).max(0.0)
    }
}

#[derive(Clone, Debug)]
pub struct Composition {
    pub title: String,
    pub subtitle: String,
    pub unit: Unit,
    /// The name of each moment.
    pub moments: Vec<String>,
    /// What is in use, from the left.
    pub parts: Vec<Part>,
    /// What is not.
    pub rest: Option<Part>,
    /// Whether the moments follow each other: what a part was at each of them is told together then.
    pub follow: bool,
}

impl Composition {
    fn used(&self, moment: usize) -> f64 {
        self.parts.iter().map(|part| part.at(moment)).sum()
    }

    /// "1.40 GiB, 22.1 GiB free".
    fn total(&self, moment: usize) -> String {
        let used = self.unit.value(self.used(moment));
        let rest = self.rest.iter().map(|rest| format!(", {} {}", self.unit.value(rest.at(moment)), rest.label));
        used + &rest.collect::<String>()
    }

    /// "slab 610 MiB → 655 MiB", or one size where it stayed; of wholes that do not follow each other, its name.
    fn sizes(&self, part: &Part) -> String {
        if !self.follow {
            return part.label.clone();
        }
        let mut sizes: Vec<String> = (0..self.moments.len()).map(|moment| self.unit.value(part.at(moment))).collect();
        sizes.dedup();
        format!("{} {}", part.label, sizes.join(" → "))
    }

    fn describe(&self) -> String {
        let mut out = String::from("Parts of a whole.");
        for (moment, name) in self.moments.iter().enumerate() {
            let part = |part: &Part| format!("{} {}", part.label, self.unit.value(part.at(moment)));
            let parts: Vec<String> = self.parts.iter().chain(&self.rest).map(part).collect();
            out.push_str(&format!(" {name}: {}.", parts.join(", ")));
        }
        out
    }
}

impl Figure for Composition {
    fn title(&self) -> &str {
        &self.title
    }

    fn render(&self, width: Width) -> String {
        if self.moments.is_empty() || self.parts.is_empty() {
            return frame::no_samples(&self.title, &self.subtitle, width);
        }
        let moments = 0..self.moments.len();
        let mut svg = Svg::new(width.0);
        let top = frame::heading(&mut svg, &self.title, &self.subtitle);
        let stacked = width.is_narrow();
        let totals: Vec<String> = moments.clone().map(|moment| self.total(moment)).collect();
        let widest = |texts: &[String], size| texts.iter().map(|t| text::width(t, size)).fold(0.0, f64::max);
        let (left, right) = match stacked {
            true => (0.0, width.0 - 8.0),
            false => {
                let left = widest(&self.moments, LABEL).min(width.0 * 0.25) + 14.0;
                (left, (width.0 - widest(&totals, SMALL) - 12.0).max(width.0 * 0.5))
            }
        };
        let extent = Extent::of(moments.clone().map(|moment| self.used(moment)).chain([0.0]));
        let axis = Axis::fit(&extent, Scale::Linear, self.unit, left, right);

        let mut bars = Svg::new(width.0);
        let mut y = top;
        for (moment, name) in self.moments.iter().enumerate() {
            if stacked {
                let name = text::fit_name(name, LABEL, width.0 * 0.4);
                let words = text::fit(&totals[moment], SMALL, width.0 - text::width(&name, LABEL) - 12.0);
                bars.text("k-l", 0.0, y + 13.0, &name);
                bars.text("k-s k-e", right, y + 13.0, &words);
                y += 18.0;
            } else {
                bars.text("k-l", 0.0, y + BAR / 2.0 + 4.5, &text::fit_name(name, LABEL, left - 14.0));
            }
            let mut below = 0.0;
            for part in &self.parts {
                let (from, to) = (axis.at(below), axis.at(below + part.at(moment)));
                bars.open(&format!("{}: {}", part.label, self.unit.value(part.at(moment))));
                bars.rect(&format!("k-stack k-f{}", part.tone), from, y, to - from, BAR);
                bars.close();
                bars.line("k-edge", to, y, to, y + BAR);
                below += part.at(moment);
            }
            if !stacked {
                bars.text("k-s k-halo", axis.at(below) + 8.0, y + BAR / 2.0 + 4.0, &totals[moment]);
            }
            y += ROW;
        }
        let area = Area { left, top, right, bottom: y - 4.0 };
        let under = frame::bottom_axis(&mut svg, area, &axis, frame::spacing_x(width), "");
        svg.append(bars);
        let words: Vec<String> = self.parts.iter().map(|part| self.sizes(part)).collect();
        let items: Vec<(Mark, &str)> =
            self.parts.iter().zip(&words).map(|(part, words)| (Mark::Area(part.tone), words.as_str())).collect();
        let under = key::draw(&mut svg, under + 4.0, &items);
        svg.finish(under, &self.title, &self.describe())
    }

    fn terminal(&self, columns: usize) -> Option<String> {
        if self.moments.is_empty() {
            return None;
        }
        let all = || self.parts.iter().chain(&self.rest);
        if self.follow {
            let title = format!("{} ({})", self.title, self.moments.join(" → "));
            let parts = all().map(|part| self.sizes(part)).collect();
            return Some(terminal::list(&title, &[(String::new(), parts)], columns));
        }
        // What takes nothing is not there.
        let sizes = |moment: usize| {
            let there = all().filter(move |part| part.at(moment) > 0.0);
            there.map(move |part| format!("{} {}", part.label, self.unit.value(part.at(moment)))).collect()
        };
        let line = |(moment, name): (usize, &String)| (format!("{name}: {}", self.total(moment)), sizes(moment));
        let lines: Vec<_> = self.moments.iter().enumerate().map(line).collect();
        Some(terminal::list(&self.title, &lines, columns))
    }

    fn coloured(&mut self) -> Vec<(&str, &mut Tone)> {
        self.parts.iter_mut().map(|part| (part.label.as_str(), &mut part.tone)).collect()
    }

    fn tells_by_colour(&self) -> bool {
        true
    }

    fn csv(&self) -> String {
        let mut table = Table::new(&["moment", "part", "size"]);
        for (moment, name) in self.moments.iter().enumerate() {
            for part in self.parts.iter().chain(&self.rest) {
                table.row([name.clone(), part.label.clone(), part.at(moment).to_string()]);
            }
        }
        table.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::super::svg::assert_well_formed;
    use super::*;

    fn part(label: &str, sizes: &[f64]) -> Part {
        Part { label: label.into(), sizes: sizes.to_vec(), ..Part::default() }
    }

    fn plot(moments: &[&str], parts: Vec<Part>, rest: Option<Part>) -> Composition {
        Composition {
            title: "t".into(),
            subtitle: String::new(),
            unit: Unit::Bytes,
            moments: moments.iter().map(|moment| (*moment).into()).collect(),
            parts,
            rest,
            follow: true,
        }
    }

    #[test]
    fn of_wholes_side_by_side_each_is_told_by_itself() {
        let parts = vec![part("monitor", &[4e6, 2e8]), part("kernel", &[0.0, 3e9])];
        let figure = Composition { unit: Unit::Nanoseconds, follow: false, ..plot(&["host", "machine"], parts, None) };
        let svg = figure.render(Width::WIDE);
        assert_well_formed(&svg);
        assert!(
            svg.contains(">4.00 ms</text>") && svg.contains(">3.20 s</text>") && svg.contains(">kernel</text>"),
            "{svg}"
        );
        let text = figure.terminal(80).expect("a list");
        assert!(text.contains("host: 4.00 ms\n  monitor 4.00 ms\n"), "{text}");
        assert!(text.contains("machine: 3.20 s\n  monitor 200 ms · kernel 3.00 s\n"), "{text}");
    }

    #[test]
    fn what_is_free_is_a_number_and_takes_no_room() {
        let gib = 1024.0 * 1024.0 * 1024.0;
        let parts = vec![part("slab", &[0.5 * gib, 0.6 * gib]), part("other", &[0.5 * gib; 2])];
        let figure = plot(&["idle", "at the most"], parts, Some(part("free", &[22.0 * gib, 21.9 * gib])));
        for width in [Width::WIDE, Width::NARROW] {
            let svg = figure.render(width);
            assert_well_formed(&svg);
            let bars = svg.lines().filter(|line| line.contains("k-stack") && line.contains("height=\"20\""));
            let drawn: f64 = bars
                .map(|bar| bar.split("width=\"").nth(1).unwrap().split('"').next().unwrap().parse::<f64>().unwrap())
                .sum();
            assert!(drawn > width.0 * 0.8, "two bars of what is in use take {drawn} of {}", width.0);
            assert!(svg.contains(", 22.0 GiB free</text>") && svg.contains(", 21.9 GiB free</text>"), "{svg}");
            assert!(svg.contains(">slab 512 MiB → 614 MiB</text>") && svg.contains(">other 512 MiB</text>"), "{svg}");
        }
        assert!(figure.terminal(80).unwrap().contains("free 22.0 GiB → 21.9 GiB"));
        assert!(figure.csv().contains("at the most,other,536870912\n"));
    }

    #[test]
    fn each_part_begins_where_the_one_before_it_ends() {
        let parts = vec![part("a", &[1e6, 2e6]), part("b", &[10e6, f64::NAN]), part("c", &[4e6, 1e6])];
        let svg = plot(&["first", "then"], parts, None).render(Width::WIDE);
        let number = |bar: &str, key: &str| -> f64 {
            bar.split(&format!(" {key}=\"")).nth(1).unwrap().split('"').next().unwrap().parse().unwrap()
        };
        let bars = svg.lines().filter(|line| line.contains("k-stack") && line.contains("height=\"20\""));
        let bars: Vec<(f64, f64)> = bars.map(|bar| (number(bar, "x"), number(bar, "width"))).collect();
        assert_eq!(bars.len(), 6);
        for moment in bars.chunks(3) {
            assert_eq!(moment[0].0, bars[0].0, "every bar begins at the axis");
            for pair in moment.windows(2) {
                assert!((pair[0].0 + pair[0].1 - pair[1].0).abs() <= 0.1, "{moment:?}");
            }
        }
        assert_eq!(bars[4].1, 0.0, "what is not a number takes no room");
    }

    #[test]
    fn degenerate_data_still_make_a_drawing() {
        let long = "&".repeat(200);
        for figure in [
            plot(&[], vec![part("a", &[])], None),
            plot(&["one"], vec![], None),
            plot(&["one"], vec![part("a", &[f64::NAN]), part("b", &[-5.0])], Some(part("free", &[]))),
            plot(&[&long, "b"], vec![part(&long, &[0.0, 1e300]); 14], Some(part(&long, &[1e300]))),
        ] {
            assert_well_formed(&figure.render(Width::WIDE));
            assert_well_formed(&figure.render(Width::NARROW));
            figure.terminal(0);
        }
    }
}
