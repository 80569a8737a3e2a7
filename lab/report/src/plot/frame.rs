//! The frame that all figures share: the heading, the axes with their grids, and the drawing for empty data.

use super::axis::Axis;
use super::figure::Width;
use super::svg::Svg;
use super::text;

pub const TITLE: f64 = 15.0;
pub const LABEL: f64 = 13.0;
pub const SMALL: f64 = 12.0;

/// The rectangle that data are drawn in.
#[derive(Clone, Copy, Debug)]
pub struct Area {
    pub left: f64,
    pub top: f64,
    pub right: f64,
    pub bottom: f64,
}

/// Draws title and subtitle; returns the height that they take. Nothing is drawn for an empty text.
pub fn heading(svg: &mut Svg, title: &str, subtitle: &str) -> f64 {
    let room = svg.width();
    let mut y = 0.0;
    // The title is set in semibold, a little wider than the metrics of the regular face.
    for line in text::wrap(title, TITLE * 1.07, room, 3) {
        y += 19.0;
        svg.text("k-h", 0.0, y - 4.0, &line);
    }
    for line in text::wrap(subtitle, SMALL, room, 4) {
        y += 17.0;
        svg.text("k-s", 0.0, y - 3.0, &line);
    }
    if y > 0.0 { y + 10.0 } else { 0.0 }
}

/// The whole drawing of a figure without data.
pub fn no_samples(title: &str, subtitle: &str, width: Width) -> String {
    nothing(title, subtitle, width, "no samples")
}

/// The whole drawing of a figure in which nothing can be drawn, for the reason `why`.
pub fn nothing(title: &str, subtitle: &str, width: Width, why: &str) -> String {
    let mut svg = Svg::new(width.0);
    let y = heading(&mut svg, title, subtitle);
    svg.rect("k-band", 0.0, y, width.0, 72.0);
    svg.text("k-s k-m", width.0 / 2.0, y + 40.0, why);
    svg.finish(y + 72.0, title, why)
}

/// Vertical grid lines and the labels of a horizontal axis below `area`; returns the y under all of it.
pub fn bottom_axis(svg: &mut Svg, area: Area, axis: &Axis, spacing: f64, title: &str) -> f64 {
    grid_down(svg, area, axis, spacing);
    bottom_labels(svg, area, axis, spacing, title)
}

/// Only the grid lines, for the upper of two panels that share an axis.
pub fn grid_down(svg: &mut Svg, area: Area, axis: &Axis, spacing: f64) {
    for tick in axis.ticks(spacing) {
        if tick.label.is_some() {
            svg.line("k-grid", tick.at, area.top, tick.at, area.bottom);
        }
    }
}

/// The labels of a horizontal axis below `area`, with small ticks at values without a label.
pub fn bottom_labels(svg: &mut Svg, area: Area, axis: &Axis, spacing: f64, title: &str) -> f64 {
    svg.line("k-axis", area.left, area.bottom, area.right, area.bottom);
    let mut free_from = f64::NEG_INFINITY;
    for tick in axis.ticks(spacing) {
        let Some(label) = &tick.label else {
            svg.line("k-axis", tick.at, area.bottom, tick.at, area.bottom + 3.0);
            continue;
        };
        svg.line("k-axis", tick.at, area.bottom, tick.at, area.bottom + 5.0);
        let half = text::width(label, SMALL) / 2.0;
        let x = tick.at.clamp(half, (svg.width() - half).max(half));
        if x - half > free_from {
            svg.text("k-s k-m", x, area.bottom + 19.0, label);
            free_from = x + half + 4.0;
        }
    }
    let mut y = area.bottom + 22.0;
    if !title.is_empty() {
        y += 16.0;
        let title = text::fit(title, SMALL, area.right - 16.0);
        svg.text("k-s k-e", area.right, y - 1.0, &format!("{title} →"));
    }
    y + 4.0
}

/// Room that the labels of a vertical axis need to its left.
pub fn left_room(axis: &Axis, spacing: f64) -> f64 {
    let widest = axis
        .ticks(spacing)
        .iter()
        .filter_map(|t| t.label.as_deref())
        .map(|l| text::width(l, SMALL))
        .fold(0.0, f64::max);
    widest.ceil() + 8.0
}

/// Horizontal grid lines and the labels of a vertical axis left of `area`.
pub fn left_axis(svg: &mut Svg, area: Area, axis: &Axis, spacing: f64) {
    for tick in axis.ticks(spacing) {
        if let Some(label) = &tick.label {
            svg.line("k-grid", area.left, tick.at, area.right, tick.at);
            svg.text("k-s k-e", area.left - 7.0, tick.at + 4.0, label);
        }
    }
}

/// The name of a vertical axis, above its top and to the left; returns the height that it takes.
pub fn left_title(svg: &mut Svg, y: f64, title: &str) -> f64 {
    if title.is_empty() {
        return 8.0;
    }
    let title = text::fit(title, SMALL, svg.width() - 16.0);
    svg.text("k-s", 0.0, y + 11.0, &format!("↑ {title}"));
    24.0
}

/// How far apart ticks stand, by the width of the drawing.
pub fn spacing_x(width: Width) -> f64 {
    if width.is_narrow() { 62.0 } else { 84.0 }
}

pub const SPACING_Y: f64 = 34.0;
