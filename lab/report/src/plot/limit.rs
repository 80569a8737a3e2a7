//! A limit that a figure is held against, such as a deadline: a dashed line with its name.
//!
//! A limit that is near the data widens the axis, so that the distance to it is seen. One that is far off would press the
//! data flat: it stands at the end of the axis behind which it lies, as its name with an arrow.

use super::axis::{Axis, Extent};
use super::frame::{Area, SMALL};
use super::svg::Svg;
use super::text;

/// A value, and how it is called.
#[derive(Clone, Debug, PartialEq)]
pub struct Limit {
    /// In the unit of the axis.
    pub value: f64,
    /// With the value: "deadline 200 µs".
    pub name: String,
}

/// Where a limit is on an axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Place {
    Within(f64),
    /// Behind the low end.
    Before,
    /// Behind the high end.
    Behind,
}

/// A limit is near if it is at most so many times the greatest value, or the least one so many times the limit.
const NEAR: f64 = 4.0;

impl Limit {
    /// Height of its name above the data that a line goes down through.
    pub const ROOM: f64 = 19.0;

    /// In the description of a drawing.
    pub fn words(&self) -> String {
        format!(" Held against the {}.", self.name)
    }

    /// Makes `extent`, which the data have, hold the limit, where that is near.
    pub fn widen(&self, extent: &mut Extent) {
        let near = self.value <= NEAR * extent.max && self.value * NEAR >= extent.min;
        if extent.is_empty() || near {
            extent.extend([self.value]);
        }
    }

    pub fn place(&self, axis: &Axis) -> Place {
        if self.value < axis.lo {
            Place::Before
        } else if self.value > axis.hi {
            Place::Behind
        } else {
            Place::Within(axis.at(self.value))
        }
    }

    /// Draws it against the horizontal `axis` of `area`: its name in [`Self::ROOM`] below `top`, and a line from there down to
    /// the end of the area.
    pub fn draw_down(&self, svg: &mut Svg, axis: &Axis, top: f64, area: Area) {
        let under = top + 11.0;
        match self.place(axis) {
            Place::Within(at) => {
                svg.line("k-deadline", at, under + 4.0, at, area.bottom);
                let name = text::fit_name(&self.name, SMALL, svg.width() - 12.0);
                let half = text::width(&name, SMALL) / 2.0;
                let middle = at.clamp(half, (svg.width() - half).max(half));
                svg.text_with_title("k-fw k-m k-halo", middle, under, &name, &self.name);
            }
            Place::Before => self.draw_arrow(svg, "k-fw k-halo", area.left, under, "← "),
            Place::Behind => self.draw_arrow(svg, "k-fw k-e k-halo", area.right, under, " →"),
        }
    }

    /// Draws it against the vertical `axis` of `area`. Its name stands right of the area if it has `room` there, and within it
    /// otherwise.
    pub fn draw_across(&self, svg: &mut Svg, axis: &Axis, area: Area, room: f64) {
        match self.place(axis) {
            Place::Within(at) => {
                svg.line("k-deadline", area.left, at, area.right, at);
                if room > 0.0 {
                    let name = text::fit(&self.name, SMALL, room);
                    svg.text_with_title("k-fw", area.right + 6.0, at + 4.0, &name, &self.name);
                } else {
                    let name = text::fit(&self.name, SMALL, area.right - area.left - 8.0);
                    svg.text_with_title("k-fw k-halo k-e", area.right - 2.0, at - 5.0, &name, &self.name);
                }
            }
            Place::Before => self.draw_arrow(svg, "k-fw k-e k-halo", area.right - 2.0, area.bottom - 5.0, "↓ "),
            Place::Behind => self.draw_arrow(svg, "k-fw k-e k-halo", area.right - 2.0, area.top + 10.0, "↑ "),
        }
    }

    /// The name with an arrow, which stands on the side to which it points.
    fn draw_arrow(&self, svg: &mut Svg, class: &str, x: f64, y: f64, arrow: &str) {
        let name = text::fit(&self.name, SMALL, svg.width() - 40.0);
        let words = if arrow.starts_with(' ') { format!("{name}{arrow}") } else { format!("{arrow}{name}") };
        svg.text(class, x, y, &words);
    }
}

#[cfg(test)]
mod tests {
    use super::super::Unit;
    use super::super::axis::Scale;
    use super::*;

    fn placed(data: &[f64], value: f64) -> (Place, Axis) {
        let limit = Limit { value, name: "deadline".into() };
        let mut extent = Extent::of(data.iter().copied());
        limit.widen(&mut extent);
        let axis = Axis::fit(&extent, Scale::Auto, Unit::Nanoseconds, 0.0, 500.0);
        (limit.place(&axis), axis)
    }

    #[test]
    fn a_near_limit_widens_the_axis_and_a_far_one_stands_at_its_end() {
        let data = [40e3, 50e3, 60e3];
        for within in [50e3, 100e3, 240e3, 11e3] {
            let (place, axis) = placed(&data, within);
            let Place::Within(at) = place else { panic!("{within}: {place:?}") };
            assert!((axis.value_at(at) - within).abs() < 1e-6 * within, "{within} at {at} of {axis:?}");
        }
        let (place, axis) = placed(&data, 10e6);
        assert_eq!(place, Place::Behind);
        assert!(axis.hi < 100e3, "the data keep their room: {axis:?}");
        assert_eq!(placed(&data, 1e3).0, Place::Before);
    }

    #[test]
    fn a_limit_without_data_is_on_its_axis() {
        assert!(matches!(placed(&[], 5.0).0, Place::Within(_)));
        assert!(matches!(placed(&[0.0], 0.0).0, Place::Within(_)));
        assert!(matches!(placed(&[7.0, 7.0], 7.0).0, Place::Within(_)));
    }
}
