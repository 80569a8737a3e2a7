//! An axis: positions for values, with ticks at round numbers.
//!
//! Invariants: every value has a finite position inside the axis, also a value outside of the axis's range; the range
//! is wider than zero for any data; on a logarithmic axis zero has a place of its own at the low end, apart from the
//! smallest positive value, because a sample of 0 ns is a sample.

use super::units::Unit;

/// How values are laid out along an axis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scale {
    /// Logarithmic when the largest value drawn is more than 50 times the smallest positive one, otherwise linear.
    #[default]
    Auto,
    Linear,
    Log,
}

/// The values that an axis has to hold.
#[derive(Clone, Copy, Debug)]
pub struct Extent {
    pub min: f64,
    pub max: f64,
    /// The smallest value above zero; infinite when there is none.
    pub min_positive: f64,
}

impl Extent {
    pub fn new() -> Self {
        Self { min: f64::INFINITY, max: f64::NEG_INFINITY, min_positive: f64::INFINITY }
    }

    pub fn of(values: impl IntoIterator<Item = f64>) -> Self {
        let mut extent = Self::new();
        extent.extend(values);
        extent
    }

    pub fn extend(&mut self, values: impl IntoIterator<Item = f64>) {
        for value in values.into_iter().filter(|v| v.is_finite()) {
            self.min = self.min.min(value);
            self.max = self.max.max(value);
            if value > 0.0 {
                self.min_positive = self.min_positive.min(value);
            }
        }
    }

    pub fn is_empty(&self) -> bool {
        self.min > self.max
    }

    fn wants_log(&self, scale: Scale) -> bool {
        let possible = self.min >= 0.0 && self.min_positive.is_finite();
        match scale {
            Scale::Linear => false,
            Scale::Log => possible,
            Scale::Auto => possible && self.max / self.min_positive > 50.0,
        }
    }
}

/// A tick: a round value, its position, and its label. A tick without a label is a minor one.
#[derive(Clone, Debug, PartialEq)]
pub struct Tick {
    pub value: f64,
    pub at: f64,
    pub label: Option<String>,
}

/// An axis that runs from position `from` (its low end) to `to`, which may be the smaller number.
#[derive(Clone, Debug)]
pub struct Axis {
    pub lo: f64,
    pub hi: f64,
    pub log: bool,
    from: f64,
    to: f64,
    /// Where the logarithmic part begins when zero needs a place before it.
    start: f64,
    /// Share of a logarithmic axis for each factor of e; kept because millions of positions are asked for.
    per_e: f64,
    unit: Unit,
}

/// Room between zero and the first positive value of a logarithmic axis.
const ZERO_GUTTER: f64 = 22.0;

impl Axis {
    /// An axis that holds all of `extent` with a little air at its ends. A linear one begins at zero when zero is near
    /// enough that leaving it out would mislead.
    pub fn fit(extent: &Extent, scale: Scale, unit: Unit, from: f64, to: f64) -> Self {
        let extent = if extent.is_empty() { Extent::of([0.0, 1.0]) } else { *extent };
        if extent.wants_log(scale) {
            let lo = round_down(extent.min_positive);
            let hi = round_up(extent.max).max(lo * 2.0);
            return Self::log(lo, hi, extent.min <= 0.0, unit, from, to);
        }
        let (min, max) = (extent.min, extent.max);
        let span = max - min;
        let (lo, hi) = if span <= 0.0 {
            match max {
                0.0 => (0.0, 1.0),
                v if v > 0.0 => (0.0, v * 1.25),
                v => (v * 1.25, 0.0),
            }
        } else if min >= 0.0 && min <= 0.4 * max {
            (0.0, max + 0.03 * max)
        } else {
            let lo = min - 0.04 * span;
            (if min >= 0.0 { lo.max(0.0) } else { lo }, max + 0.04 * span)
        };
        Self::linear(lo, hi, unit, from, to)
    }

    pub fn linear(lo: f64, hi: f64, unit: Unit, from: f64, to: f64) -> Self {
        let hi = if hi > lo { hi } else { lo + 1.0 };
        Self { lo, hi, log: false, from, to, start: from, per_e: 0.0, unit }
    }

    /// `lo` and `hi` are positive.
    pub fn log(lo: f64, hi: f64, zero: bool, unit: Unit, from: f64, to: f64) -> Self {
        let lo = if lo > 0.0 && lo.is_finite() { lo } else { 1.0 };
        let hi = if hi > lo { hi } else { lo * 10.0 };
        let start = if zero { from + ZERO_GUTTER.min((to - from).abs() / 4.0) * (to - from).signum() } else { from };
        Self { lo, hi, log: true, from, to, start, per_e: 1.0 / (hi / lo).ln(), unit }
    }

    /// The high end moved to the next round tick, for a vertical axis that should end in a line.
    pub fn rounded(mut self, spacing: f64) -> Self {
        // The wider range can ask for a wider step, which moves the ends once more; it settles at once after that.
        for _ in 0..3 {
            if !self.log {
                let step = self.step(spacing);
                self.hi = (self.hi / step - 1e-9).ceil() * step;
                if self.lo != 0.0 {
                    self.lo = (self.lo / step + 1e-9).floor() * step;
                }
            }
        }
        self
    }

    /// The position of a value.
    pub fn at(&self, value: f64) -> f64 {
        if self.log {
            if value <= 0.0 || value.is_nan() {
                return self.from;
            }
            let share = (value / self.lo).ln() * self.per_e;
            return self.start + share.clamp(0.0, 1.0) * (self.to - self.start);
        }
        let share = (value - self.lo) / (self.hi - self.lo);
        self.from + if share.is_nan() { 0.0 } else { share.clamp(0.0, 1.0) } * (self.to - self.from)
    }

    /// The value at a position: the inverse of [`Axis::at`] between the ends.
    pub fn value_at(&self, position: f64) -> f64 {
        if self.log {
            let share = (position - self.start) / (self.to - self.start);
            return self.lo * (self.hi / self.lo).powf(share);
        }
        self.lo + (position - self.from) / (self.to - self.from) * (self.hi - self.lo)
    }

    pub fn length(&self) -> f64 {
        (self.to - self.from).abs()
    }

    fn step(&self, spacing: f64) -> f64 {
        let wanted = (self.length() / spacing).max(1.0);
        let raw = (self.hi - self.lo) / wanted;
        // Steps of bytes are round in the unit that they are written in: 200 MiB, not 200 million bytes.
        let base = if self.unit.is_binary() { self.unit.scale_of(self.hi.abs().max(self.lo.abs())) } else { 1.0 };
        let step = round_up(raw / base) * base;
        if matches!(self.unit, Unit::Count | Unit::Instructions | Unit::Cycles | Unit::Nanoseconds | Unit::Bytes) {
            step.max(1.0)
        } else {
            step
        }
    }

    /// Ticks at round values that stand at least `spacing` apart, in rising order.
    pub fn ticks(&self, spacing: f64) -> Vec<Tick> {
        if self.log {
            return self.log_ticks(spacing);
        }
        let step = self.step(spacing);
        let first = (self.lo / step - 1e-9).ceil() as i64;
        let last = (self.hi / step + 1e-9).floor() as i64;
        let values: Vec<f64> = (first..=last.min(first + 100)).map(|i| i as f64 * step).collect();
        self.labelled(&values, &[])
    }

    fn log_ticks(&self, spacing: f64) -> Vec<Tick> {
        let (lo, hi) = (self.lo * (1.0 - 1e-9), self.hi * (1.0 + 1e-9));
        let base: f64 = if self.unit.is_binary() { 4.0 } else { 10.0 };
        let first = lo.log(base).floor() as i32;
        let last = hi.log(base).ceil() as i32;
        let decade = (self.to - self.start).abs() / (self.hi / self.lo).log(base);
        let powers = |factors: &[f64], every: usize| -> Vec<f64> {
            // Powers are counted from zero, so that 1 is always among them.
            (first..=last)
                .filter(|e| e.rem_euclid(every as i32) == 0)
                .flat_map(|e| factors.iter().map(move |f| f * base.powi(e)))
                .filter(|v| *v >= lo && *v <= hi)
                .collect()
        };
        let mut major = if base == 10.0 && decade > 4.2 * spacing {
            powers(&[1.0, 2.0, 5.0], 1)
        } else {
            powers(&[1.0], (spacing / decade).ceil().max(1.0) as usize)
        };
        if major.len() < 2 && base == 10.0 {
            major = powers(&[1.0, 2.0, 5.0], 1);
        }
        if major.len() < 2 {
            // Less than a decade: round steps as on a linear axis, put where the logarithm wants them.
            let linear = Self { log: false, start: self.from, ..self.clone() };
            major = linear.ticks(spacing).iter().map(|t| t.value).filter(|v| *v > 0.0).collect();
        }
        let minor = if base == 10.0 && decade >= 28.0 {
            powers(&[2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0], 1)
        } else if base == 10.0 {
            powers(&[1.0], 1)
        } else {
            Vec::new()
        };
        if self.start != self.from {
            major.insert(0, 0.0);
        }
        self.labelled(&major, &minor)
    }

    fn labelled(&self, major: &[f64], minor: &[f64]) -> Vec<Tick> {
        let labels = self.unit.ticks(major);
        let mut ticks: Vec<Tick> = major
            .iter()
            .zip(labels)
            .map(|(&value, label)| Tick { value, at: self.at(value), label: Some(label) })
            .collect();
        for &value in minor {
            if !major.iter().any(|m| (m - value).abs() <= 1e-9 * value) {
                ticks.push(Tick { value, at: self.at(value), label: None });
            }
        }
        ticks.sort_by(|a, b| a.value.total_cmp(&b.value));
        ticks
    }
}

/// The nearest of 1, 2, 5 times a power of ten that is not below `value`.
fn round_up(value: f64) -> f64 {
    let power = 10f64.powf(value.log10().floor());
    [1.0, 2.0, 5.0, 10.0].iter().map(|f| f * power).find(|v| *v >= value * (1.0 - 1e-9)).unwrap_or(power)
}

/// The nearest of 1, 2, 5 times a power of ten that is not above `value`.
fn round_down(value: f64) -> f64 {
    let power = 10f64.powf(value.log10().floor());
    [5.0, 2.0, 1.0].iter().map(|f| f * power).find(|v| *v <= value * (1.0 + 1e-9)).unwrap_or(power)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(axis: &Axis, spacing: f64) -> Vec<String> {
        axis.ticks(spacing).into_iter().filter_map(|t| t.label).collect()
    }

    #[test]
    fn linear_ticks_are_round_and_apart() {
        let axis = Axis::linear(0.0, 6_400_000.0, Unit::Nanoseconds, 0.0, 600.0);
        assert_eq!(labels(&axis, 80.0), ["0", "1 ms", "2 ms", "3 ms", "4 ms", "5 ms", "6 ms"]);
        for pair in axis.ticks(80.0).windows(2) {
            assert!(pair[1].at - pair[0].at >= 80.0);
        }
    }

    #[test]
    fn logarithmic_ticks_are_decades_with_minor_ones_between() {
        let axis = Axis::log(1e3, 1e7, false, Unit::Nanoseconds, 0.0, 600.0);
        assert_eq!(labels(&axis, 80.0), ["1 µs", "10 µs", "100 µs", "1 ms", "10 ms"]);
        assert_eq!(axis.ticks(80.0).iter().filter(|t| t.label.is_none()).count(), 4 * 8);
    }

    #[test]
    fn a_short_logarithmic_axis_still_has_two_labels() {
        for (lo, hi) in [(1000.0, 2000.0), (3000.0, 4000.0), (5000.0, 50_000.0), (1.0, 2.0)] {
            let axis = Axis::log(lo, hi, false, Unit::Nanoseconds, 0.0, 300.0);
            assert!(labels(&axis, 70.0).len() >= 2, "{lo} to {hi}: {:?}", labels(&axis, 70.0));
        }
    }

    #[test]
    fn the_scale_becomes_logarithmic_above_a_factor_of_fifty() {
        let axis = |min, max, scale| Axis::fit(&Extent::of([min, max]), scale, Unit::Count, 0.0, 100.0);
        assert!(!axis(1.0, 50.0, Scale::Auto).log);
        assert!(axis(1.0, 51.0, Scale::Auto).log);
        assert!(!axis(1.0, 1e9, Scale::Linear).log);
        assert!(axis(10.0, 11.0, Scale::Log).log);
        // There is no logarithm to force on what is nothing but zero, or below it.
        assert!(!axis(0.0, 0.0, Scale::Log).log);
        assert!(!axis(-1.0, 100.0, Scale::Log).log);
    }

    #[test]
    fn zero_has_a_place_of_its_own_on_a_logarithmic_axis() {
        let axis = Axis::fit(&Extent::of([0.0, 10.0, 1e6]), Scale::Auto, Unit::Count, 0.0, 500.0);
        assert!(axis.log);
        assert_eq!(axis.at(0.0), 0.0);
        assert!(axis.at(10.0) >= ZERO_GUTTER);
        assert_eq!(labels(&axis, 60.0)[0], "0");
    }

    #[test]
    fn positions_are_finite_and_inside_whatever_the_values_are() {
        let hostile = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -1e300, 0.0, 1e-300, 1.0, 1e300];
        for scale in [Scale::Auto, Scale::Linear, Scale::Log] {
            for data in [&[][..], &[0.0], &[5.0], &[-3.0], &[f64::NAN], &[1e-9, 1e18], &[7.0, 7.0], &[-1e9, 1e9]] {
                let axis = Axis::fit(&Extent::of(data.iter().copied()), scale, Unit::Nanoseconds, 10.0, 90.0);
                for value in hostile {
                    assert!((10.0..=90.0).contains(&axis.at(value)), "{value} with {data:?} on {axis:?}");
                }
                assert!(axis.ticks(20.0).len() < 200);
            }
        }
    }

    #[test]
    fn a_position_leads_back_to_its_value() {
        for axis in
            [Axis::linear(5.0, 25.0, Unit::Count, 100.0, 20.0), Axis::log(5.0, 2500.0, true, Unit::Count, 0.0, 300.0)]
        {
            for value in [6.0, 12.5, 24.0] {
                assert!((axis.value_at(axis.at(value)) - value).abs() < 1e-9);
            }
        }
    }

    #[test]
    fn a_rounded_axis_begins_and_ends_at_a_tick() {
        for (lo, hi) in [(4.7e6, 5.8e6), (0.0, 7.3e6), (1.01e6, 1.02e6), (-3.0, 11.0)] {
            let axis = Axis::linear(lo, hi, Unit::Nanoseconds, 220.0, 0.0).rounded(34.0);
            let ticks = axis.ticks(34.0);
            assert!(axis.lo <= lo && axis.hi >= hi);
            assert_eq!((ticks[0].at, ticks[ticks.len() - 1].at), (220.0, 0.0), "{lo} to {hi}");
        }
    }

    #[test]
    fn bytes_get_round_binary_ticks() {
        let mib = 1024.0 * 1024.0;
        let axis = Axis::linear(0.0, 900.0 * mib, Unit::Bytes, 0.0, 300.0);
        assert_eq!(labels(&axis, 60.0), ["0", "200 MiB", "400 MiB", "600 MiB", "800 MiB"]);
    }
}
