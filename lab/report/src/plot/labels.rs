//! Labels beside lines, in place of a key.
//!
//! [`place`] looks for a free spot along each curve. It gives up rather than lay a name over another line, and the
//! figure then has a key. [`spread`] moves labels at the right edge apart while keeping their order.

use super::frame::{Area, SMALL};
use super::svg::Svg;
use super::text;
use super::tone::Tone;

/// Where a label could stand: beside (x, y), y being the middle of its letters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spot {
    pub x: f64,
    pub y: f64,
    /// Whether the text ends at `x` rather than beginning there.
    pub ends: bool,
}

#[derive(Clone, Copy)]
struct Rect {
    left: f64,
    top: f64,
    right: f64,
    bottom: f64,
}

impl Rect {
    fn of(spot: Spot, width: f64) -> Self {
        let left = if spot.ends { spot.x - width } else { spot.x };
        Self { left, top: spot.y - 8.0, right: left + width, bottom: spot.y + 8.0 }
    }

    fn overlaps(&self, other: &Rect) -> bool {
        self.left < other.right + 4.0
            && other.left < self.right + 4.0
            && self.top < other.bottom
            && other.top < self.bottom
    }

    /// Whether the segment comes into the rectangle (Liang and Barsky's clipping).
    fn is_crossed(&self, a: (f64, f64), b: (f64, f64)) -> bool {
        let (dx, dy) = (b.0 - a.0, b.1 - a.1);
        let (mut enter, mut leave) = (0.0_f64, 1.0_f64);
        for (p, q) in [(-dx, a.0 - self.left), (dx, self.right - a.0), (-dy, a.1 - self.top), (dy, self.bottom - a.1)] {
            if p == 0.0 {
                if q < 0.0 {
                    return false;
                }
            } else if p < 0.0 {
                enter = enter.max(q / p);
            } else {
                leave = leave.min(q / p);
            }
        }
        enter <= leave
    }
}

/// A spot for every name, or none when one of them finds no free one. `spots` holds the candidates of each name in
/// order of preference; `curves` are all the lines that must stay uncovered.
pub fn place(names: &[&str], spots: &[Vec<Spot>], curves: &[Vec<(f64, f64)>], bounds: Area) -> Option<Vec<Spot>> {
    let mut taken: Vec<Rect> = Vec::new();
    let mut out = Vec::new();
    for (name, candidates) in names.iter().zip(spots) {
        let width = text::width(name, SMALL);
        let free = candidates.iter().find(|spot| {
            let rect = Rect::of(**spot, width);
            rect.left >= bounds.left
                && rect.right <= bounds.right
                && rect.top >= bounds.top
                && rect.bottom <= bounds.bottom
                && !taken.iter().any(|other| rect.overlaps(other))
                && !curves.iter().any(|curve| curve.windows(2).any(|s| rect.is_crossed(s[0], s[1])))
        })?;
        taken.push(Rect::of(*free, width));
        out.push(*free);
    }
    Some(out)
}

/// Whether `name` at `spot` would stand clear of `others`.
pub fn is_free(name: &str, spot: Spot, others: &[(&str, Spot)]) -> bool {
    let rect = Rect::of(spot, text::width(name, SMALL));
    !others.iter().any(|(other, at)| rect.overlaps(&Rect::of(*at, text::width(other, SMALL))))
}

/// How many of `dots` would lie under `name` at `spot`.
pub fn covered(name: &str, spot: Spot, dots: &[(f64, f64)]) -> usize {
    let rect = Rect::of(spot, text::width(name, SMALL));
    dots.iter().filter(|dot| rect.is_crossed(**dot, **dot)).count()
}

/// A free corner of `area` for a block of `rows` lines, `width` wide: its left end and its top. For curves that leave no
/// place beside each of them, a key in a corner of the plot is still nearer than one below it.
pub fn corner(width: f64, rows: usize, curves: &[Vec<(f64, f64)>], area: Area) -> Option<(f64, f64)> {
    let height = rows as f64 * ROW;
    let (left, right) = (area.left + 12.0, area.right - 12.0 - width);
    let (top, bottom) = (area.top + 10.0, area.bottom - 10.0 - height);
    let inside = left + width <= area.right && top + height <= area.bottom;
    [(right, bottom), (right, top), (left, top), (left, bottom)].into_iter().filter(|_| inside).find(|(x, y)| {
        let block = Rect { left: x - 6.0, top: y - 6.0, right: x + width + 6.0, bottom: y + height + 6.0 };
        !curves.iter().any(|curve| curve.windows(2).any(|s| block.is_crossed(s[0], s[1])))
    })
}

/// Names the lines of a plot: beside each of them, else in a free corner, else not at all, which is `false`. `names` are
/// (text, tone); `spots` the candidates of each; `obstacles` all that must stay uncovered.
pub fn name_lines(
    svg: &mut Svg,
    names: &[(&str, Tone)],
    spots: &[Vec<Spot>],
    obstacles: &[Vec<(f64, f64)>],
    area: Area,
) -> bool {
    let room = svg.width() * 0.42;
    let cut: Vec<String> = names.iter().map(|(name, _)| text::fit_name(name, SMALL, room)).collect();
    let short: Vec<&str> = cut.iter().map(String::as_str).collect();
    if let Some(found) = place(&short, spots, obstacles, area) {
        for (((full, tone), name), spot) in names.iter().zip(&short).zip(found) {
            let class = format!("k-f{tone} k-halo{}", if spot.ends { " k-e" } else { "" });
            svg.text_with_title(&class, spot.x, spot.y + 4.0, name, full);
        }
        return true;
    }
    let width = short.iter().map(|name| text::width(name, SMALL)).fold(0.0, f64::max) + 22.0;
    let Some((x, y)) = corner(width, names.len(), obstacles, area) else { return false };
    for (i, ((full, tone), name)) in names.iter().zip(&short).enumerate() {
        let middle = y + (i as f64 + 0.5) * ROW;
        svg.line(&tone.line(), x, middle, x + 14.0, middle);
        svg.text_with_title(&format!("k-f{tone} k-halo"), x + 22.0, middle + 4.0, name, full);
    }
    true
}

const ROW: f64 = 17.0;

/// Candidates to the right and to the left of a curve, nearest its last point first.
pub fn beside(curve: &[(f64, f64)]) -> Vec<Spot> {
    let mut spots = Vec::new();
    let Some(&(x, y)) = curve.last() else { return spots };
    spots.push(Spot { x: x + 7.0, y, ends: false });
    for step in 0..24 {
        let index = (curve.len() - 1) * (23 - step) / 23;
        let (x, y) = curve[index];
        for (dx, dy, ends) in [(8.0, 11.0, false), (8.0, -11.0, false), (-8.0, -11.0, true), (-8.0, 11.0, true)] {
            spots.push(Spot { x: x + dx, y: y + dy, ends });
        }
        spots.push(Spot { x: x + 9.0, y, ends: false });
        spots.push(Spot { x: x - 9.0, y, ends: true });
    }
    spots
}

/// Candidates beside a rising curve where it is steep, half-way up first: its end lies on the line of all the others.
pub fn beside_rise(curve: &[(f64, f64)], area: Area) -> Vec<Spot> {
    let mut spots = Vec::new();
    for share in [0.5, 0.62, 0.38, 0.74, 0.26, 0.86, 0.14] {
        let y = area.bottom + (area.top - area.bottom) * share;
        if let Some(&(x, _)) = curve.iter().find(|p| p.1 <= y) {
            spots.push(Spot { x: x + 8.0, y, ends: false });
            spots.push(Spot { x: x - 8.0, y, ends: true });
        }
    }
    spots
}

/// `wanted` positions moved apart to at least `gap`, inside `lo..hi`, each as near to its wish as the others allow. The
/// order of the result is that of `wanted`.
pub fn spread(wanted: &[f64], gap: f64, lo: f64, hi: f64) -> Vec<f64> {
    let mut order: Vec<usize> = (0..wanted.len()).collect();
    order.sort_by(|a, b| wanted[*a].total_cmp(&wanted[*b]));
    // Blocks of labels that touch; each block sits at the mean of its members' wishes (pool adjacent violators).
    let mut blocks: Vec<(f64, usize)> = Vec::new();
    let clamp = |middle: f64, count: usize| {
        let half = gap * (count - 1) as f64 / 2.0;
        middle.min(hi - half).max(lo + half)
    };
    for &index in &order {
        blocks.push((clamp(wanted[index], 1), 1));
        while let [.., a, b] = blocks[..] {
            let end = a.0 + gap * (a.1 - 1) as f64 / 2.0;
            let start = b.0 - gap * (b.1 - 1) as f64 / 2.0;
            if start - end >= gap - 1e-9 {
                break;
            }
            let count = a.1 + b.1;
            // The middle of the merged block, from the middles that the two would have alone.
            let middle = (a.0 * a.1 as f64 + b.0 * b.1 as f64) / count as f64;
            blocks.truncate(blocks.len() - 2);
            blocks.push((clamp(middle, count), count));
        }
    }
    let mut out = vec![0.0; wanted.len()];
    let mut next = order.into_iter();
    for (middle, count) in blocks {
        for i in 0..count {
            if let Some(index) = next.next() {
                out[index] = middle - gap * (count - 1) as f64 / 2.0 + gap * i as f64;
            }
        }
    }
    out
}

/// A name for what ends at height `y` of the right edge.
pub struct Edge<'a> {
    pub y: f64,
    pub label: &'a str,
    /// The class that colours the text.
    pub class: String,
}

/// Names right of `area`, each near the height it belongs to and tied to it by a thin line where it had to move.
pub fn at_right_edge(svg: &mut Svg, edges: &[Edge<'_>], area: Area) {
    let wanted: Vec<f64> = edges.iter().map(|e| e.y).collect();
    let gap = 15.0_f64.min((area.bottom - area.top) / edges.len().max(1) as f64);
    let places = spread(&wanted, gap, area.top + 4.0, area.bottom - 4.0);
    for (edge, y) in edges.iter().zip(places) {
        svg.line("k-leader", area.right + 2.0, edge.y, area.right + 12.0, y);
        let cut = text::fit_name(edge.label, SMALL, svg.width() - area.right - 16.0);
        svg.text_with_title(&edge.class, area.right + 16.0, y + 4.0, &cut, edge.label);
    }
}

/// Room right of an area for [`at_right_edge`], at most a quarter of the drawing.
pub fn right_room<'a>(labels: impl Iterator<Item = &'a str>, width: f64) -> f64 {
    (labels.map(|l| text::width(l, SMALL)).fold(0.0, f64::max) + 18.0).min(width / 4.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOUNDS: Area = Area { left: 0.0, top: 0.0, right: 200.0, bottom: 100.0 };

    #[test]
    fn a_name_never_lies_over_a_line() {
        let curves = vec![vec![(0.0, 50.0), (150.0, 50.0)]];
        let spots = vec![vec![Spot { x: 10.0, y: 50.0, ends: false }, Spot { x: 10.0, y: 20.0, ends: false }]];
        assert_eq!(place(&["name"], &spots, &curves, BOUNDS), Some(vec![spots[0][1]]));
    }

    #[test]
    fn without_a_free_spot_there_are_no_labels_at_all() {
        let wall: Vec<_> = (0..40).map(|i| (5.0 * f64::from(i), if i % 2 == 0 { 0.0 } else { 100.0 })).collect();
        assert_eq!(place(&["name"], &[beside(&wall)], &[wall], BOUNDS), None);
    }

    #[test]
    fn a_corner_is_taken_only_when_no_curve_passes_through_it() {
        let diagonal = vec![(0.0, 100.0), (200.0, 0.0)];
        assert_eq!(corner(60.0, 2, std::slice::from_ref(&diagonal), BOUNDS), Some((128.0, 56.0)));
        let low = vec![(0.0, 80.0), (200.0, 80.0)];
        assert_eq!(corner(60.0, 2, &[diagonal, low], BOUNDS), Some((12.0, 10.0)));
        assert_eq!(corner(300.0, 2, &[], BOUNDS), None);
    }

    #[test]
    fn spread_labels_keep_their_order_and_their_distance() {
        let wanted = [50.0, 52.0, 10.0, 51.0, 99.0];
        let out = spread(&wanted, 14.0, 0.0, 100.0);
        let mut sorted = out.clone();
        sorted.sort_by(f64::total_cmp);
        assert!(sorted.windows(2).all(|w| w[1] - w[0] >= 14.0 - 1e-6), "{out:?}");
        assert!(sorted[0] >= 0.0 && sorted[4] <= 100.0);
        assert!(out[2] < out[0] && out[0] < out[3] && out[3] < out[1] && out[1] < out[4]);
        assert_eq!(out[2], 10.0);
    }
}
