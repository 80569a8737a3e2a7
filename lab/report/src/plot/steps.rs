//! Steps: vertical marks at the times at which the condition of a measurement changed, with their labels ("4 groups").

use super::axis::Axis;
use super::frame::{Area, SMALL};
use super::svg::Svg;
use super::text;

/// A moment at which the condition of a measurement changed.
#[derive(Clone, Debug)]
pub struct Step {
    pub at: f64,
    pub label: String,
}

/// Height of a line of labels, and from the lowest one to the plot.
const LINE: f64 = 15.0;

/// Where each label goes: its left end, its text, and which of the lines above the plot, if any has room. `right` is the
/// end of the drawing.
fn arrange(steps: &[Step], x: &Axis, right: f64) -> Vec<(f64, String, Option<usize>)> {
    let mut free_from = [f64::NEG_INFINITY; 2];
    steps
        .iter()
        .map(|step| {
            let at = x.at(step.at);
            let label = text::fit(&step.label, SMALL, right / 3.0);
            let width = text::width(&label, SMALL);
            let left = if at + 4.0 + width > right { at - 4.0 - width } else { at + 4.0 };
            let line = (0..2).find(|line| left > free_from[*line] + 6.0);
            if let Some(line) = line {
                free_from[line] = left + width;
                // A mark of the upper line goes down through the lower one.
                if line == 1 {
                    free_from[0] = free_from[0].max(at);
                }
            }
            (left, label, line)
        })
        .collect()
}

/// Height that the labels take above an area.
pub fn room(steps: &[Step], x: &Axis, right: f64) -> f64 {
    let lines = arrange(steps, x, right).iter().filter_map(|a| a.2).max();
    lines.map_or(0.0, |highest| LINE * (highest + 1) as f64 + 2.0)
}

/// Draws the steps over `area`. A label that has no room in either of the two lines above the plot is left to the title
/// that shows when the pointer rests on its line.
pub fn draw(svg: &mut Svg, steps: &[Step], x: &Axis, area: Area) {
    let arranged = arrange(steps, x, svg.width());
    for (step, (_, _, line)) in steps.iter().zip(&arranged) {
        let at = x.at(step.at);
        let top = area.top - line.map_or(4.0, |line| LINE * (line + 1) as f64 - 1.0);
        svg.open(&step.label);
        svg.line("k-rule", at, top, at, area.bottom);
        svg.close();
    }
    // Texts last: their rims keep them legible where the mark of the upper line goes down through the lower one.
    for (left, label, line) in &arranged {
        if let Some(line) = line {
            svg.text("k-s k-halo", *left, area.top - LINE * (line + 1) as f64 + 10.0, label);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Unit;
    use super::*;

    #[test]
    fn labels_in_one_line_never_overlap() {
        let x = Axis::linear(0.0, 100.0, Unit::Count, 0.0, 300.0);
        let steps: Vec<Step> =
            (0..30).map(|i| Step { at: f64::from(i * i % 97), label: format!("{i} groups") }).collect();
        let mut sorted = steps;
        sorted.sort_by(|a, b| a.at.total_cmp(&b.at));
        let arranged = arrange(&sorted, &x, 300.0);
        for line in 0..2 {
            let ends: Vec<(f64, f64)> = arranged
                .iter()
                .filter(|a| a.2 == Some(line))
                .map(|(left, label, _)| (*left, left + text::width(label, SMALL)))
                .collect();
            assert!(ends.windows(2).all(|e| e[0].1 < e[1].0), "{ends:?}");
        }
        assert!(arranged.iter().filter(|a| a.2.is_some()).count() >= 8);
    }
}
