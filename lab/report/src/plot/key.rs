//! The key under a figure: small marks, each followed by its meaning, flowing over as many lines as they need.

use super::svg::{Path, Svg};
use super::text;
use super::tone::Tone;

use super::frame::SMALL;

/// A mark as it appears in the figure.
#[derive(Clone, Copy, Debug)]
pub enum Mark {
    Line(Tone),
    Area(Tone),
    Box(Tone),
    Median,
    Ink,
    Mean,
    Ring,
    Dot(Tone),
    WarnInterval,
    QuietInterval,
    Interval(Tone),
    Diamond,
    Dashed,
    Band,
}

const MARK: f64 = 18.0;
const GAP: f64 = 16.0;
const ROW: f64 = 18.0;

/// Draws the key with its top at `y`; returns the y under it.
pub fn draw(svg: &mut Svg, y: f64, items: &[(Mark, &str)]) -> f64 {
    let room = svg.width();
    let (mut x, mut row) = (0.0, y);
    for (mark, meaning) in items.iter().filter(|(_, meaning)| !meaning.is_empty()) {
        let mark_width = MARK + 5.0;
        let label = text::fit_name(meaning, SMALL, room - mark_width);
        let width = mark_width + text::width(&label, SMALL);
        if x > 0.0 && x + width > room {
            x = 0.0;
            row += ROW;
        }
        draw_mark(svg, *mark, x, row + 9.0);
        svg.text_with_title("k-s", x + mark_width, row + 13.0, &label, meaning);
        x += width + GAP;
    }
    if items.is_empty() { y } else { row + ROW + 2.0 }
}

/// A diamond, the mark of a published figure.
pub fn diamond(x: f64, y: f64, size: f64) -> Path {
    let mut path = Path::new();
    path.move_to(x - size, y).line_to(x, y - size).line_to(x + size, y).line_to(x, y + size).close();
    path
}

fn draw_mark(svg: &mut Svg, mark: Mark, x: f64, y: f64) {
    let (right, middle) = (x + MARK, x + MARK / 2.0);
    match mark {
        Mark::Line(tone) => svg.line(&tone.line(), x + 1.0, y, right - 1.0, y),
        Mark::Area(tone) => svg.rect(&format!("k-stack k-f{tone}"), x + 4.0, y - 5.0, 11.0, 11.0),
        Mark::WarnInterval => interval(svg, "w", x, y),
        Mark::QuietInterval => interval(svg, "q", x, y),
        Mark::Interval(tone) => interval(svg, &tone.to_string(), x, y),
        Mark::Box(tone) => {
            svg.line(&format!("k-thin k-c{tone}"), x, y, right, y);
            svg.rect("k-hollow k-edge", x + 4.0, y - 4.5, 10.0, 9.0);
            svg.rect(&format!("k-box k-f{tone} k-c{tone}"), x + 4.0, y - 4.5, 10.0, 9.0);
        }
        Mark::Median => svg.line("k-median", middle, y - 6.0, middle, y + 6.0),
        Mark::Ink => svg.line("k-ink", x + 1.0, y, right - 1.0, y),
        Mark::Mean => svg.circle("k-hollow", middle, y, 3.0),
        Mark::Ring => svg.circle("k-hollow", middle, y, 3.4),
        Mark::Dot(tone) => {
            let mut path = Path::new();
            path.dot(x + 4.0, y).dot(x + 10.0, y).dot(x + 14.0, y);
            svg.path(&format!("k-dot k-c{tone}"), &path);
        }
        Mark::Diamond => {
            svg.path("k-ref", &diamond(x + 4.0, y, 3.5));
            svg.line("k-ref", x + 4.0, y, right - 2.0, y);
            svg.line("k-ref", right - 2.0, y - 3.5, right - 2.0, y + 3.5);
        }
        Mark::Dashed => svg.line("k-rule", x, y, right, y),
        Mark::Band => svg.rect("k-band", x, y - 6.0, MARK, 12.0),
    }
}

fn interval(svg: &mut Svg, class: &str, x: f64, y: f64) {
    svg.line(&format!("k-line k-c{class}"), x + 1.0, y, x + MARK - 1.0, y);
    svg.circle(&format!("k-point k-f{class}"), x + MARK / 2.0, y, 3.6);
}
