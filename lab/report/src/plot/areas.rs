//! Stacked areas over time: what a whole is made of while something happens to it, memory above all.

use super::axis::{Axis, Extent};
use super::frame::{self, Area};
use super::key::{self, Mark};
use super::labels::{self, Edge};
use super::steps::{self, Step};
use super::svg::{Path, Svg};
use super::{Figure, Scale, Table, Unit, Width, half_pixel, theme};

/// One part of the whole.
#[derive(Clone, Debug, Default)]
pub struct Band {
    pub label: String,
    /// One value for each of the figure's times; what is missing or not finite counts as 0.
    pub values: Vec<f64>,
    /// Which series colour, counted from 0; none is a quiet grey, for what is not in use.
    pub tone: Option<usize>,
}

#[derive(Clone, Debug)]
pub struct StackedAreas {
    pub title: String,
    pub subtitle: String,
    /// In rising order.
    pub times: Vec<f64>,
    pub time: String,
    pub time_unit: Unit,
    pub quantity: String,
    pub unit: Unit,
    /// From the bottom up.
    pub bands: Vec<Band>,
    pub steps: Vec<Step>,
}

impl StackedAreas {
    /// The upper edge of each band at each time.
    fn tops(&self) -> Vec<Vec<f64>> {
        let mut below = vec![0.0; self.times.len()];
        let mut tops = Vec::new();
        for band in &self.bands {
            for (i, sum) in below.iter_mut().enumerate() {
                let value = band.values.get(i).copied().unwrap_or(0.0);
                *sum += if value.is_finite() { value.max(0.0) } else { 0.0 };
            }
            tops.push(below.clone());
        }
        tops
    }

    fn describe(&self) -> String {
        let mut out = String::from("Stacked areas over time, from the bottom:");
        for band in &self.bands {
            let ends = (band.values.first(), band.values.last());
            if let (Some(first), Some(last)) = ends {
                let (first, last) = (self.unit.value(*first), self.unit.value(*last));
                out.push_str(&format!(" {} from {first} to {last};", band.label));
            }
        }
        out
    }
}

/// The points whose drawing differs from that of the one before: at most two a pixel column and height.
fn thinned(points: impl Iterator<Item = (f64, f64)>) -> Vec<(f64, f64)> {
    let mut out: Vec<(f64, f64)> = Vec::new();
    let mut points = points.peekable();
    while let Some(point) = points.next() {
        let same = out
            .last()
            .is_some_and(|last| half_pixel(last.0) == half_pixel(point.0) && half_pixel(last.1) == half_pixel(point.1));
        if !same || points.peek().is_none() {
            out.push(point);
        }
    }
    out
}

impl Figure for StackedAreas {
    fn title(&self) -> &str {
        &self.title
    }

    fn render(&self, width: Width) -> String {
        if self.times.is_empty() || self.bands.is_empty() {
            return frame::no_samples(&self.title, &self.subtitle, width);
        }
        let tops = self.tops();
        let extent = Extent::of(tops.iter().flatten().copied().chain([0.0]));
        let mut svg = Svg::new(width.0);
        let top = frame::heading(&mut svg, &self.title, &self.subtitle);
        let height = if width.is_narrow() { 200.0 } else { 260.0 };
        let y_at = |top: f64| Axis::fit(&extent, Scale::Linear, self.unit, top + height, top);
        let left = frame::left_room(&y_at(0.0), frame::SPACING_Y);
        let room = labels::right_room(self.bands.iter().map(|b| b.label.as_str()), width.0);
        let right = width.0 - if width.is_narrow() { 8.0 } else { room };
        let times = Extent::of(self.times.iter().copied().chain(self.steps.iter().map(|s| s.at)));
        let x = Axis::linear(times.min, times.max, self.time_unit, left, right);
        let top = top + frame::left_title(&mut svg, top, &self.quantity) + steps::room(&self.steps, &x, width.0);
        let (y, bottom) = (y_at(top), top + height);
        let area = Area { left, top, right, bottom };

        frame::left_axis(&mut svg, area, &y, frame::SPACING_Y);
        let class = |band: &Band| match band.tone {
            Some(tone) => theme::tone(tone).to_string(),
            None => "q".to_owned(),
        };
        let edge = |tops: &[f64]| thinned(self.times.iter().zip(tops).map(|(t, v)| (x.at(*t), y.at(*v))));
        let mut below = vec![(x.at(self.times[0]), bottom), (x.at(self.times[self.times.len() - 1]), bottom)];
        let mut names = Vec::new();
        for (band, tops) in self.bands.iter().zip(&tops) {
            let upper = edge(tops);
            let outline: Vec<_> = upper.iter().chain(below.iter().rev()).copied().collect();
            let quiet = if band.tone.is_none() { "k-quiet" } else { "k-stack" };
            svg.open(&band.label);
            svg.path(&format!("{quiet} k-f{}", class(band)), &Path::through(&outline));
            svg.close();
            svg.path("k-edge", &Path::through(&upper));
            let ends = (upper.last().map_or(bottom, |p| p.1), below.last().map_or(bottom, |p| p.1));
            names.push(Edge { y: (ends.0 + ends.1) / 2.0, label: &band.label, class: format!("k-f{}", class(band)) });
            below = upper;
        }
        steps::draw(&mut svg, &self.steps, &x, area);
        let mut under = frame::bottom_labels(&mut svg, area, &x, frame::spacing_x(width), &self.time);
        if width.is_narrow() {
            let mark = |band: &Band| band.tone.map_or(Mark::QuietArea, |t| Mark::Area(theme::tone(t)));
            let items: Vec<(Mark, &str)> = self.bands.iter().rev().map(|b| (mark(b), b.label.as_str())).collect();
            under = key::draw(&mut svg, under + 4.0, &items);
        } else {
            labels::at_right_edge(&mut svg, &names, area);
        }
        svg.finish(under, &self.title, &self.describe())
    }

    fn csv(&self) -> String {
        let mut header = vec!["time"];
        header.extend(self.bands.iter().map(|b| b.label.as_str()));
        let mut table = Table::new(&header);
        for (i, time) in self.times.iter().enumerate() {
            let value = |b: &Band| b.values.get(i).map(f64::to_string).unwrap_or_default();
            table.row(std::iter::once(time.to_string()).chain(self.bands.iter().map(value)));
        }
        table.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::super::svg::assert_well_formed;
    use super::*;

    fn plot(times: Vec<f64>, bands: Vec<Band>) -> StackedAreas {
        StackedAreas {
            title: "t".into(),
            subtitle: String::new(),
            times,
            time: "time".into(),
            time_unit: Unit::Nanoseconds,
            quantity: "memory".into(),
            unit: Unit::Bytes,
            bands,
            steps: vec![Step { at: 1.0, label: "2 groups <".into() }],
        }
    }

    fn band(label: &str, values: &[f64]) -> Band {
        Band { label: label.into(), values: values.to_vec(), tone: Some(0) }
    }

    #[test]
    fn bands_stand_on_each_other() {
        let figure = plot(vec![0.0, 1.0], vec![band("a", &[1.0, 2.0]), band("b", &[10.0, f64::NAN])]);
        assert_eq!(figure.tops(), [[1.0, 2.0], [11.0, 2.0]]);
    }

    #[test]
    fn degenerate_data_still_make_a_drawing() {
        for (times, bands) in [
            (vec![], vec![band("a", &[])]),
            (vec![1.0], vec![]),
            (vec![1.0], vec![band("one", &[5.0])]),
            (vec![1.0, 2.0], vec![band("&".repeat(200).as_str(), &[0.0, 0.0]); 14]),
            (vec![0.0, 1e12], vec![band("short", &[1.0]), band("huge", &[1e300, 1e300])]),
        ] {
            let figure = plot(times, bands);
            assert_well_formed(&figure.render(Width::WIDE));
            assert_well_formed(&figure.render(Width::NARROW));
        }
    }

    #[test]
    fn the_numbers_come_out_as_one_column_a_band() {
        let csv = plot(vec![0.0, 1.0], vec![band("a", &[1.0, 2.0]), band("b", &[3.0])]).csv();
        assert_eq!(csv, "time,a,b\n0,1,3\n1,2,\n");
    }
}
