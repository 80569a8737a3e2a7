//! The analysis of a series: its statistics, computed once and used by tables, figures and findings.
//!
//! Memory is bounded: only results of a fixed size are kept, not the samples (summary, box, at most some ten thousand
//! non-empty buckets). Drawings are made from the buckets, whose resolution of about 0.1 % is finer than a screen's.

use kizami_recording::folder::{Loaded, Measured, Series, Unit as SampleUnit};
use kizami_recording::stats::{BoxPlot, Bucket, Extreme, Options, Samples, Shape, Summary};

use crate::plot::{Unit, rates};

/// How many times as many samples the estimated maximum is for.
pub const FURTHER: u64 = 100;

/// The statistics of a series. Figures are those of whole samples; [`Self::scale`] makes them one operation's.
#[derive(Debug)]
pub struct Analysis<'a> {
    pub loaded: Loaded<'a>,
    pub summary: Option<Summary>,
    pub boxes: Option<BoxPlot>,
    pub buckets: Vec<Bucket>,
    /// The maximum to expect in [`FURTHER`] times as many samples; absent where the samples do not support an estimate.
    pub further_maximum: Option<f64>,
    /// The first, cold sample; the median of them over the trials.
    pub cold: Option<u64>,
}

impl<'a> Analysis<'a> {
    pub fn of(loaded: Loaded<'a>, options: &Options) -> Self {
        let values = loaded.values();
        let mut cold =
            if loaded.series.measured() == Measured::Throughput { Vec::new() } else { loaded.cold().to_vec() };
        cold.sort_unstable();
        let cold = cold.get(cold.len() / 2).copied();
        let shape = Shape::of(&*values);
        let Some(shape) = shape.filter(|_| loaded.series.measured() != Measured::Watched) else {
            return Self { loaded, summary: None, boxes: None, buckets: Vec::new(), further_maximum: None, cold };
        };
        Self {
            loaded,
            summary: Some(Summary::with_shape(&*values, &shape, options)),
            boxes: BoxPlot::with_shape(&*values, &shape),
            buckets: shape.buckets().collect(),
            further_maximum: further_maximum(loaded, &*values, options),
            cold,
        }
    }

    pub fn series(&self) -> &'a Series {
        self.loaded.series
    }

    /// The unit of what [`Self::scale`] gives.
    pub fn unit(&self) -> Unit {
        unit_of(self.series())
    }

    /// What one operation took, where samples time several.
    pub fn scale(&self, value: f64) -> f64 {
        value / self.series().operations_of_one()
    }

    /// The outliers of the box, one for each bucket beyond its whiskers: as many as can be told apart on a screen. The
    /// extremes are exact.
    pub fn outliers(&self) -> Vec<u64> {
        let Some(boxes) = &self.boxes else { return Vec::new() };
        let scaled = |value: u64| self.scale(value as f64).round() as u64;
        let outside =
            |bucket: &&Bucket| (bucket.high as f64) < boxes.lower_whisker || bucket.low as f64 > boxes.upper_whisker;
        let max = boxes.max.bound();
        let middle = |bucket: &Bucket| (bucket.low / 2 + bucket.high / 2).clamp(boxes.min, max);
        let mut outliers: Vec<u64> = self.buckets.iter().filter(outside).map(middle).map(scaled).collect();
        let extremes = [(boxes.min, boxes.outliers_below), (max, boxes.outliers_above)];
        outliers.extend(extremes.iter().filter(|(_, count)| *count > 0).map(|(value, _)| scaled(*value)));
        outliers
    }

    /// Points of the cumulative curve: value and share of samples at or below it.
    pub fn cumulative(&self) -> Vec<(f64, f64)> {
        let Some(summary) = &self.summary else { return Vec::new() };
        let mut below = 0;
        let point = |bucket: &Bucket| {
            below += bucket.count;
            let value = bucket.high.min(summary.max.bound());
            (self.scale(value as f64), below as f64 / summary.count as f64)
        };
        self.buckets.iter().map(point).collect()
    }

    /// The samples in the order taken, in about `columns` pieces: first ordinal, least, middle, greatest. None of a series that
    /// is kept as counts, which has no order.
    pub fn pieces(&self, columns: u64) -> Vec<(f64, f64, f64, f64)> {
        let values = self.loaded.values();
        if values.unrecorded().unordered {
            return Vec::new();
        }
        let count = values.len();
        let step = count.div_ceil(columns.max(1)).max(1);
        let mut pieces = Vec::new();
        let mut start = 0;
        while start < count {
            let end = (start + step).min(count);
            // A piece of a very long series is itself looked at through a fixed number of its samples for its middle;
            // its extremes are exact.
            let (mut least, mut greatest, mut seen) = (u64::MAX, 0, Vec::with_capacity(256));
            let stride = ((end - start) / 255).max(1);
            let mut at = start;
            values.visit(start, end, &mut |piece| {
                for &value in piece {
                    least = least.min(value);
                    greatest = greatest.max(value);
                    if (at - start).is_multiple_of(stride) {
                        seen.push(value);
                    }
                    at += 1;
                }
            });
            seen.sort_unstable();
            let middle = seen.get(seen.len() / 2).copied().unwrap_or(least);
            let [least, middle, greatest] = [least, middle, greatest].map(|v| self.scale(v as f64));
            pieces.push((start as f64, least, middle, greatest));
            start = end;
        }
        pieces
    }
}

/// One point of a rate curve: a series at one offered rate, with the range of its rows.
pub fn rate_point(analysis: &Analysis<'_>) -> Option<rates::Point> {
    let summary = analysis.summary.as_ref()?;
    let loaded = analysis.loaded;
    let total = |name: &str| -> Option<u64> {
        Some(loaded.column(analysis.series().column(name)?).to_vec().into_iter().fold(0, u64::saturating_add))
    };
    let offered = loaded.column(analysis.series().column("offered")?).to_vec();
    let (sent, lost) = (total("sent")?, total("lost")?);
    let rows: Vec<f64> = {
        let column = |name| analysis.series().column(name).map(|c| loaded.column(c).to_vec()).unwrap_or_default();
        let percent = |(sent, lost): (u64, u64)| 100.0 * lost as f64 / sent.max(1) as f64;
        column("sent").into_iter().zip(column("lost")).map(percent).collect()
    };
    let loss = 100.0 * lost as f64 / sent.max(1) as f64;
    let range = |values: &[f64], value: f64| {
        let low = values.iter().copied().fold(value, f64::min);
        (low, values.iter().copied().fold(value, f64::max))
    };
    let (low, high) = range(&rows, loss);
    Some(rates::Point {
        offered: *offered.first()? as f64,
        achieved: rates::Estimate {
            value: summary.median.bound(),
            low: summary.min as f64,
            high: summary.max.bound() as f64,
        },
        loss: rates::Estimate { value: loss, low, high },
    })
}

/// The unit in which the values of a series are drawn.
pub fn unit_of(series: &Series) -> Unit {
    match series.unit() {
        SampleUnit::Nanoseconds => Unit::Nanoseconds,
        SampleUnit::Instructions => Unit::Instructions,
        SampleUnit::Cycles => Unit::Cycles,
        SampleUnit::Bytes => Unit::Bytes,
        SampleUnit::BitsPerSecond => Unit::BitsPerSecond,
        SampleUnit::Words | SampleUnit::Count => Unit::Count,
    }
}

fn further_maximum(loaded: Loaded<'_>, values: &dyn Samples, options: &Options) -> Option<f64> {
    if !matches!(loaded.series.measured(), Measured::Time { .. }) {
        return None;
    }
    Extreme::of(values, &[FURTHER], options).ok()?.levels.first().map(|level| level.expected)
}
