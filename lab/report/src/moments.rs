//! The worst samples of a series, and when they were taken.
//!
//! A recording has no time beside each sample: recording one would be a second clock reading and a second store in every
//! loop. When a sample was taken follows from what a trial tells of itself:
//!
//! - a column `since_start`, where the workload has one: the time from the fact `began_unix_seconds` on;
//! - the fact `interval_ns`: samples have planned times, one interval apart, the first one interval after the beginning;
//! - otherwise the samples are pieces of time one after another, between the facts `began_unix_seconds` and
//!   `ended_unix_seconds` and with at least the fact `pause_ns` between two: those before a sample and those after it leave
//!   it a span, which is as good as a time where it is short.
//!
//! A fact can be of one part: `interval_ns_cpu0`. Where a trial tells nothing of this (another tool's samples, an Erlang
//! VM's), the answer is the sample's number and the start of its trial.

use kizami_recording::folder::{Loaded, Measured, Unit};
use kizami_recording::stats::Samples;

use crate::numbers::whole;

/// One of the worst samples of a series.
#[derive(Debug, Clone, PartialEq)]
pub struct Moment {
    /// Its place among the warm samples of all trials, from 0.
    pub ordinal: u64,
    pub value: u64,
    /// "at 08:52:41.317", in UTC; or "in" the number of the sample in its trial, with the start of that.
    pub when: String,
}

/// At most this many samples of a series are told of.
const MOST: usize = 3;
/// The series is looked at in so many pieces. What lies within a fortieth of it is one event.
const PIECES: u64 = 720;
const APART: usize = 18;

/// Which samples of a series are the worst.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Worst {
    /// Of a throughput.
    Least,
    Greatest,
}

/// The worst samples, the worst first. Beside the very worst, only samples that `counts` says are extreme are among them.
pub fn worst(loaded: Loaded<'_>, counts: impl Fn(u64, Worst) -> bool) -> Vec<Moment> {
    let values = loaded.values();
    let worst = match loaded.series.measured() {
        Measured::Throughput => Worst::Least,
        _ => Worst::Greatest,
    };
    let least = worst == Worst::Least;
    let worse = |a: u64, b: u64| if least { a < b } else { a > b };
    let step = values.len().div_ceil(PIECES).max(1);
    // The worst of each piece: its place and its value.
    let mut pieces: Vec<(u64, u64)> = Vec::new();
    let mut at = 0;
    values.visit(0, values.len(), &mut |samples| {
        for &value in samples {
            let piece = (at / step) as usize;
            match pieces.get_mut(piece) {
                None => pieces.push((at, value)),
                Some(known) if worse(value, known.1) => *known = (at, value),
                Some(_) => {}
            }
            at += 1;
        }
    });
    let apart = APART.min(pieces.len() / 40);
    let mut order: Vec<usize> = (0..pieces.len()).collect();
    order.sort_by(|a, b| if least { pieces[*a].1.cmp(&pieces[*b].1) } else { pieces[*b].1.cmp(&pieces[*a].1) });
    let mut chosen: Vec<usize> = Vec::new();
    for piece in order {
        let told = chosen.is_empty() || counts(pieces[piece].1, worst);
        if told && chosen.len() < MOST && chosen.iter().all(|other| piece.abs_diff(*other) > apart) {
            chosen.push(piece);
        }
    }
    let moment = |piece: &usize| {
        let (ordinal, value) = pieces[*piece];
        Moment { ordinal, value, when: when(loaded, ordinal) }
    };
    chosen.iter().map(moment).collect()
}

/// When the warm sample `ordinal` was taken, in words.
fn when(loaded: Loaded<'_>, ordinal: u64) -> String {
    let mut before = 0;
    for (index, trial) in loaded.series.trials.iter().enumerate() {
        let warm = trial.rows - trial.cold_rows;
        if ordinal < before + warm {
            let row = ordinal - before;
            let known = span(loaded, index, row).and_then(|(from, to)| clock(from, to));
            return known.map_or_else(|| place(loaded, index, row), |time| format!("at {time}"));
        }
        before += warm;
    }
    String::new()
}

/// The number of a sample in its trial, and the start of that.
fn place(loaded: Loaded<'_>, index: usize, row: u64) -> String {
    let trial = &loaded.series.trials[index];
    let of = if loaded.series.trials.len() > 1 { format!(" of trial {}", index + 1) } else { String::new() };
    // Of 2026-11-25T08:52:41.317Z, the time of day.
    let begun = trial.started.get(11..19).map(|time| {
        let which = if of.is_empty() { "the trial" } else { "which" };
        format!(", {which} began at {time}")
    });
    format!("in sample {}{of}{}", whole(row + 1), begun.unwrap_or_default())
}

/// The span of time in which the warm row `row` of trial `index` began, in seconds since 1970.
fn span(loaded: Loaded<'_>, index: usize, row: u64) -> Option<(f64, f64)> {
    let series = loaded.series;
    let trial = &series.trials[index];
    let fact = |name: &str| {
        let of_part = trial.facts.get(&format!("{name}_{}", series.part));
        of_part.or_else(|| trial.facts.get(name)).copied()
    };
    let seconds = |nanoseconds: f64| nanoseconds * 1e-9;
    let began = fact("began_unix_seconds")?;
    if let Some(column) = series.column("since_start") {
        let mut since = None;
        loaded.trials_of(column)[index].visit(row, row + 1, &mut |cells| since = cells.first().copied());
        return since.map(|since| began + seconds(since as f64)).map(|at| (at, at));
    }
    let row = trial.cold_rows + row;
    if let Some(interval) = fact("interval_ns") {
        let at = began + seconds(interval * (row + 1) as f64);
        return Some((at, at));
    }
    if series.columns.first().is_none_or(|column| column.unit != Unit::Nanoseconds) {
        return None;
    }
    let (before, after) = sums(loaded, index, row);
    let pause = fact("pause_ns").unwrap_or(0.0);
    let from = began + seconds(before + pause * row as f64);
    let to = fact("ended_unix_seconds")? - seconds(after + pause * (trial.rows - row - 1) as f64);
    (from <= to).then_some((from, to))
}

/// The sum of the rows of trial `index` before `row`, and of `row` and those after it.
fn sums(loaded: Loaded<'_>, index: usize, row: u64) -> (f64, f64) {
    let all = loaded.everything(0);
    let sum = |from: u64, to: u64| {
        let mut sum = 0.0;
        all.visit(from, to, &mut |cells| sum += cells.iter().map(|cell| *cell as f64).sum::<f64>());
        sum
    };
    let trials = &loaded.series.trials;
    let first: u64 = trials[..index].iter().map(|trial| trial.rows).sum();
    (sum(first, first + row), sum(first + row, first + trials[index].rows))
}

/// The time of day with as many digits as a span supports; none where it is longer than two seconds.
fn clock(from: f64, to: f64) -> Option<String> {
    let middle = from + (to - from) / 2.0;
    let digits = match to - from {
        span if span <= 0.002 => 3,
        span if span <= 0.2 => 1,
        span if span <= 2.0 => 0,
        _ => return None,
    };
    let ticks = (middle * 10f64.powi(digits)) as u64;
    let unit = 10u64.pow(digits as u32);
    let (seconds, part) = (ticks / unit, ticks % unit);
    let [hours, minutes, seconds] = [seconds / 3600 % 24, seconds / 60 % 60, seconds % 60];
    let fraction = if digits > 0 { format!(".{part:0width$}", width = digits as usize) } else { String::new() };
    Some(format!("{hours:02}:{minutes:02}:{seconds:02}{fraction}"))
}
