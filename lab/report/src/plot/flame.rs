//! What was called by what, and what each took: a row for each depth of calls, the outermost on top, and a box for each function whose width
//! is what it took with everything that it called. Boxes under a box are what it called; what is left free of it, it took itself.

use super::csv::Table;
use super::figure::{Figure, Width};
use super::frame::{self, SMALL};
use super::svg::Svg;
use super::text;
use super::tone::Tone;
use super::units::Unit;

const ROW: f64 = 17.0;
/// Narrower boxes would be lines.
const LEAST: f64 = 0.6;
/// Text starts this far into its box.
const INSET: f64 = 3.0;

/// A function with what it called; sizes are in the unit of the figure.
#[derive(Clone, Debug, Default)]
pub struct Box {
    pub label: String,
    /// With everything that it called.
    pub size: f64,
    /// Itself.
    pub own: f64,
    pub calls: Vec<Box>,
}

#[derive(Clone, Debug)]
pub struct Flame {
    pub title: String,
    pub subtitle: String,
    pub unit: Unit,
    /// What nothing called.
    pub boxes: Vec<Box>,
}

impl Flame {
    fn whole(&self) -> f64 {
        self.boxes.iter().map(|one| one.size).filter(|size| size.is_finite()).sum()
    }

    fn draw(&self, svg: &mut Svg, boxes: &[Box], (left, top): (f64, f64), scale: f64, deepest: &mut f64) {
        let mut x = left;
        for one in boxes {
            let width = one.size * scale;
            if width >= LEAST {
                *deepest = deepest.max(top + ROW);
                svg.open(&format!(
                    "{}: {} ({:.1} %), {} itself",
                    one.label,
                    self.unit.value(one.size),
                    one.size / self.whole() * 100.0,
                    self.unit.value(one.own)
                ));
                svg.rect(&format!("k-stack k-f{}", Tone::default()), x, top, width, ROW - 1.0);
                let room = width - 2.0 * INSET;
                if room > 24.0 {
                    svg.text("k-s", x + INSET, top + ROW - 5.0, &text::fit(&one.label, SMALL, room));
                }
                svg.close();
                svg.line("k-edge", x + width, top, x + width, top + ROW - 1.0);
                self.draw(svg, &one.calls, (x, top + ROW), scale, deepest);
            }
            x += width;
        }
    }
}

impl Figure for Flame {
    fn title(&self) -> &str {
        &self.title
    }

    fn render(&self, width: Width) -> String {
        let whole = self.whole();
        if whole <= 0.0 {
            return frame::no_samples(&self.title, &self.subtitle, width);
        }
        let mut svg = Svg::new(width.0);
        let top = frame::heading(&mut svg, &self.title, &self.subtitle);
        let mut bottom = top;
        self.draw(&mut svg, &self.boxes, (0.0, top), width.0 / whole, &mut bottom);
        let largest: Vec<String> =
            self.boxes.iter().map(|one| format!("{} {}", one.label, self.unit.value(one.size))).collect();
        svg.finish(bottom + 6.0, &self.title, &format!("Calls: {}.", largest.join(", ")))
    }

    fn csv(&self) -> String {
        fn rows(table: &mut Table, below: &str, boxes: &[Box]) {
            for one in boxes {
                let stack = if below.is_empty() { one.label.clone() } else { format!("{below};{}", one.label) };
                table.row([stack.clone(), one.size.to_string(), one.own.to_string()]);
                rows(table, &stack, &one.calls);
            }
        }
        let mut table = Table::new(&["stack", "all", "own"]);
        rows(&mut table, "", &self.boxes);
        table.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::super::svg::assert_well_formed;
    use super::*;

    fn leaf(label: &str, size: f64) -> Box {
        Box { label: label.into(), size, own: size, calls: Vec::new() }
    }

    #[test]
    fn boxes_are_as_wide_as_what_they_took() {
        let calls = vec![leaf("<read>", 60.0), leaf("write", 20.0), leaf("tiny", 0.01)];
        let boxes = vec![Box { label: "program".into(), size: 100.0, own: 19.99, calls }];
        let flame = |boxes| Flame { title: "calls".into(), subtitle: String::new(), unit: Unit::Instructions, boxes };
        let none = flame(Vec::new());
        let flame = flame(boxes);
        let drawn = flame.render(Width::WIDE);
        assert_well_formed(&drawn);
        assert!(drawn.contains("width=\"456\"") && drawn.contains("width=\"152\""), "{drawn}");
        assert!(!drawn.contains("tiny"));
        assert!(flame.csv().contains("program;tiny,0.01,0.01"));
        assert_well_formed(&none.render(Width::NARROW));
    }
}
