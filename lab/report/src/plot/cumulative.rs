//! Cumulative curves, in two forms. The plain form shows the share of samples up to a value. The tail shows the share
//! above a value, on a logarithmic axis: how often the value is exceeded, down to one sample in a million.

use super::axis::{Axis, Extent, Scale};
use super::csv::Table;
use super::figure::{Figure, Width};
use super::frame::{self, Area};
use super::key::{self, Mark};
use super::labels;
use super::limit::{Limit, Place};
use super::svg::{Path, Svg, half_pixel};
use super::tone::Tone;
use super::units::Unit;

/// Which way the curves are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Share of samples at or below a value, from 0 % to 100 %.
    Ordinary,
    /// Share of samples above a value, on a logarithmic axis.
    Tail,
}

#[derive(Clone, Debug, Default)]
pub struct Curve {
    pub label: String,
    pub tone: Tone,
    /// (value, share of samples at or below it), both rising; the last share is 1.
    pub points: Vec<(f64, f64)>,
}

#[derive(Clone, Debug)]
pub struct Cumulative {
    pub title: String,
    pub subtitle: String,
    pub quantity: String,
    pub unit: Unit,
    pub scale: Scale,
    pub form: Form,
    pub curves: Vec<Curve>,
    /// What the values are held against.
    pub limit: Option<Limit>,
}

impl Cumulative {
    fn has_data(&self) -> bool {
        self.curves.iter().any(|c| !c.points.is_empty())
    }

    /// The smallest share above a value that is not zero, which is where a tail ends.
    fn rarest(&self) -> f64 {
        let above = self.curves.iter().flat_map(|c| c.points.iter().map(|p| 1.0 - p.1));
        above.filter(|share| *share > 1e-12).fold(1.0, f64::min)
    }

    /// The steps of a curve in drawing units. Steps smaller than half a pixel both ways are left out.
    fn steps(&self, curve: &Curve, x: &Axis, y: &Axis) -> Vec<(f64, f64)> {
        let height = |share: f64| match self.form {
            Form::Ordinary => y.at(share * 100.0),
            Form::Tail => y.at((1.0 - share) * 100.0),
        };
        let mut out = Vec::new();
        let Some(&(first, _)) = curve.points.first() else { return out };
        let mut level = height(0.0);
        out.push((if self.form == Form::Tail { x.at(f64::NEG_INFINITY) } else { x.at(first) }, level));
        let mut drawn = (i64::MIN, i64::MIN);
        let last = curve.points.len() - 1;
        for (i, &(value, share)) in curve.points.iter().enumerate() {
            let (at, next) = (x.at(value), height(share));
            let cell = (half_pixel(at), half_pixel(next));
            if cell != drawn || i == last {
                out.push((at, level));
                // A tail ends where its last sample is; below it there is nothing to be shown.
                if !(self.form == Form::Tail && i == last) {
                    out.push((at, next));
                }
                level = next;
                drawn = cell;
            }
        }
        out
    }

    fn describe(&self) -> String {
        let mut out = String::from(match self.form {
            Form::Ordinary => "Share of samples up to a value.",
            Form::Tail => "Share of samples above a value, logarithmic.",
        });
        for curve in &self.curves {
            let at = |share: f64| curve.points.iter().find(|p| p.1 >= share).map(|p| self.unit.value(p.0));
            if let (Some(median), Some(p99), Some(max)) = (at(0.5), at(0.99), curve.points.last()) {
                let (max, all) = (self.unit.value(max.0), max.1);
                let rest = if all < 1.0 - 1e-12 { "all that were recorded" } else { "all" };
                out.push_str(&format!(" {}: half up to {median}, 99 % up to {p99}, {rest} up to {max}.", curve.label));
            }
        }
        out.extend(self.limit.iter().map(Limit::words));
        out
    }
}

impl Figure for Cumulative {
    fn title(&self) -> &str {
        &self.title
    }

    fn render(&self, width: Width) -> String {
        if !self.has_data() {
            return frame::no_samples(&self.title, &self.subtitle, width);
        }
        let mut extent = Extent::of(self.curves.iter().flat_map(|c| c.points.iter().map(|p| p.0)));
        if let Some(limit) = &self.limit {
            limit.widen(&mut extent);
        }
        let mut svg = Svg::new(width.0);
        let top = frame::heading(&mut svg, &self.title, &self.subtitle);
        let name = match self.form {
            Form::Ordinary => "samples up to this value",
            Form::Tail => "samples above this value",
        };
        let top = top + frame::left_title(&mut svg, top, name) + if self.limit.is_some() { Limit::ROOM } else { 4.0 };
        let bottom = top + if width.is_narrow() { 210.0 } else { 260.0 };
        let y = match self.form {
            Form::Ordinary => Axis::linear(0.0, 100.0, Unit::Percent, bottom, top),
            Form::Tail => Axis::log(self.rarest() * 70.0, 100.0, false, Unit::Percent, bottom, top),
        };
        let left = frame::left_room(&y, frame::SPACING_Y);
        let area = Area { left, top, right: width.0 - 10.0, bottom };
        let x = Axis::fit(&extent, self.scale, self.unit, area.left, area.right);

        frame::left_axis(&mut svg, area, &y, frame::SPACING_Y);
        let mut under = frame::bottom_axis(&mut svg, area, &x, frame::spacing_x(width), &self.quantity);
        if let Some(limit) = &self.limit {
            limit.draw_down(&mut svg, &x, area.top - Limit::ROOM, area);
        }

        let curves: Vec<&Curve> = self.curves.iter().filter(|c| !c.points.is_empty()).collect();
        let lines: Vec<Vec<(f64, f64)>> = curves.iter().map(|c| self.steps(c, &x, &y)).collect();
        for (curve, line) in curves.iter().zip(&lines) {
            svg.path(&curve.tone.line(), &Path::through(line));
            if let (Form::Tail, Some(&(x, y))) = (self.form, line.last()) {
                svg.circle(&format!("k-f{}", curve.tone), x, y, 2.6);
            }
        }
        let names: Vec<(&str, Tone)> = curves.iter().map(|c| (c.label.as_str(), c.tone)).collect();
        let spots: Vec<_> = lines
            .iter()
            .map(|line| match self.form {
                Form::Ordinary => labels::beside_rise(line, area),
                Form::Tail => labels::beside(line),
            })
            .collect();
        let mut obstacles = lines.clone();
        if let Some(Place::Within(at)) = self.limit.as_ref().map(|limit| limit.place(&x)) {
            obstacles.push(vec![(at, area.top), (at, area.bottom)]);
        }
        if !labels::name_lines(&mut svg, &names, &spots, &obstacles, area) {
            let items: Vec<(Mark, &str)> = names.iter().map(|(name, tone)| (Mark::Line(*tone), *name)).collect();
            under = key::draw(&mut svg, under + 4.0, &items);
        }
        svg.finish(under, &self.title, &self.describe())
    }

    fn coloured(&mut self) -> Vec<(&str, &mut Tone)> {
        self.curves.iter_mut().map(|curve| (curve.label.as_str(), &mut curve.tone)).collect()
    }

    fn tells_by_colour(&self) -> bool {
        true
    }

    fn csv(&self) -> String {
        let mut table = Table::new(&["series", "value", "share_at_or_below"]);
        for curve in &self.curves {
            for (value, share) in &curve.points {
                table.row([curve.label.clone(), value.to_string(), share.to_string()]);
            }
        }
        table.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::super::svg::assert_well_formed;
    use super::*;

    fn plot(form: Form, curves: Vec<Curve>) -> Cumulative {
        Cumulative {
            title: "t".into(),
            subtitle: String::new(),
            quantity: "latency".into(),
            unit: Unit::Nanoseconds,
            scale: Scale::Auto,
            form,
            curves,
            limit: Some(Limit { value: 5e6, name: "deadline & more".into() }),
        }
    }

    fn curve(label: &str, n: usize) -> Curve {
        let points = (1..=n).map(|i| ((i * i) as f64 * 10.0, i as f64 / n as f64)).collect();
        Curve { label: label.into(), points, ..Curve::default() }
    }

    #[test]
    fn a_tail_reaches_down_to_one_sample() {
        let figure = plot(Form::Tail, vec![curve("a", 10_000)]);
        let svg = figure.render(Width::WIDE);
        assert!(svg.contains(">0.01 %</text>") && svg.contains(">100 %</text>"), "{svg}");
    }

    #[test]
    fn a_curve_of_many_points_stays_within_the_resolution_of_the_drawing() {
        let figure = plot(Form::Ordinary, vec![curve("a", 500_000)]);
        let svg = figure.render(Width::WIDE);
        assert!(svg.len() < 60_000, "{}", svg.len());
        assert_well_formed(&svg);
    }

    #[test]
    fn curves_that_lie_on_each_other_get_a_key() {
        let same: Vec<Curve> = (0..8).map(|i| curve(&format!("a rather long name, number {i}"), 2)).collect();
        let svg = plot(Form::Ordinary, same).render(Width::NARROW);
        assert_well_formed(&svg);
        assert!((0..8).all(|i| svg.contains(&format!("number {i}<"))));
    }

    #[test]
    fn degenerate_data_still_make_a_drawing() {
        for form in [Form::Ordinary, Form::Tail] {
            for curves in [
                vec![],
                vec![Curve::default()],
                vec![Curve { label: "<".into(), points: vec![(0.0, 1.0)], ..Curve::default() }],
                vec![Curve { label: "x".repeat(400), points: vec![(7.0, 1.0)], ..Curve::default() }, curve("b", 3)],
                vec![Curve { label: "n".into(), points: vec![(f64::NAN, f64::NAN), (1e300, 1.0)], ..Curve::default() }],
            ] {
                let figure = plot(form, curves);
                assert_well_formed(&figure.render(Width::WIDE));
                assert_well_formed(&figure.render(Width::NARROW));
            }
        }
        assert!(plot(Form::Tail, vec![]).render(Width::WIDE).contains("no samples"));
    }
}
