//! Figures from analysed series: the choice of the numbers for each figure. [`crate::plot`] draws them.

use kizami_recording::folder::{Column, Loaded};

use crate::analysis::Analysis;
use crate::moments;
use crate::plot::{
    Figure, Scale, Tone, Unit, boxes, composition, cumulative, histogram, limit::Limit, lines, rates, ratios,
    steps::Step, trials,
};

/// One series as a figure needs it.
pub struct Entry<'r, 'a> {
    pub label: String,
    /// Series with the same heading stand together.
    pub heading: String,
    pub analysis: &'r Analysis<'a>,
    pub published: Option<boxes::Published>,
}

/// The heading of a figure and the quantity that it shows.
pub struct About {
    pub title: String,
    pub subtitle: String,
    pub quantity: String,
    /// What the values are held against, in figures of samples.
    pub limit: Option<Limit>,
}

/// More samples than this are drawn as columns of extremes and middle.
const MOST_POINTS: u64 = 3000;
const PIECES: u64 = 720;
/// Slab caches that are drawn: those that moved most.
const MOST_CACHES: usize = 7;
/// What the tasks' control group uses by its own account.
const CGROUP: &str = "cgroup";
/// Memory that is not in use.
const FREE: &str = "free";

/// What stands before the maximum of a series where it is only a bound.
fn bound(analysis: &Analysis<'_>) -> &'static str {
    analysis.summary.as_ref().map_or("", |summary| summary.max.sign())
}

/// The spread of a series, as one operation's.
pub fn spread(analysis: &Analysis<'_>) -> Option<boxes::Spread> {
    let (boxes, summary) = (analysis.boxes.as_ref()?, analysis.summary.as_ref()?);
    let scale = |value| analysis.scale(value);
    Some(boxes::Spread {
        low_whisker: scale(boxes.lower_whisker),
        q1: scale(boxes.lower_quartile),
        median: scale(boxes.median),
        q3: scale(boxes.upper_quartile),
        high_whisker: scale(boxes.upper_whisker),
        mean: scale(summary.mean.bound()),
    })
}

pub fn box_plot(about: About, entries: &[Entry<'_, '_>]) -> boxes::BoxPlot {
    let mut groups: Vec<boxes::Group> = Vec::new();
    for entry in entries {
        let row = boxes::Row {
            label: entry.label.clone(),
            sublabel: String::new(),
            spread: spread(entry.analysis),
            why_none: if entry.analysis.summary.is_some() { "its box lies beyond what was recorded" } else { "" },
            outliers: entry.analysis.outliers(),
            bound: bound(entry.analysis),
            published: entry.published.clone(),
            tone: Tone::default(),
        };
        match groups.last_mut().filter(|group| group.heading == entry.heading) {
            Some(group) => group.rows.push(row),
            None => groups.push(boxes::Group { heading: entry.heading.clone(), rows: vec![row] }),
        }
    }
    boxes::BoxPlot {
        title: about.title,
        subtitle: about.subtitle,
        quantity: about.quantity,
        unit: unit_of(entries),
        scale: Scale::Auto,
        groups,
        limit: about.limit,
    }
}

pub fn histogram(about: About, entries: &[Entry<'_, '_>]) -> histogram::Histogram {
    let series = entries.iter().map(|entry| {
        let scaled = |value: u64| entry.analysis.scale(value as f64).round() as u64;
        let bucket = |b: &kizami_recording::stats::Bucket| histogram::Bucket {
            low: scaled(b.low),
            high: scaled(b.high),
            count: b.count,
        };
        histogram::Series {
            label: entry.label.clone(),
            buckets: entry.analysis.buckets.iter().map(bucket).collect(),
            max: entry.analysis.summary.as_ref().map_or(0, |s| scaled(s.max.bound())),
            bound: bound(entry.analysis),
            tone: Tone::default(),
        }
    });
    histogram::Histogram {
        title: about.title,
        subtitle: about.subtitle,
        quantity: about.quantity,
        unit: unit_of(entries),
        scale: Scale::Auto,
        series: series.collect(),
        limit: about.limit,
    }
}

pub fn cumulative(about: About, entries: &[Entry<'_, '_>], form: cumulative::Form) -> cumulative::Cumulative {
    let curve = |entry: &Entry<'_, '_>| cumulative::Curve {
        label: entry.label.clone(),
        points: entry.analysis.cumulative(),
        tone: Tone::default(),
    };
    cumulative::Cumulative {
        title: about.title,
        subtitle: about.subtitle,
        quantity: about.quantity,
        unit: unit_of(entries),
        scale: Scale::Auto,
        form,
        curves: entries.iter().map(curve).collect(),
        limit: about.limit,
    }
}

pub fn trials(about: About, entries: &[Entry<'_, '_>]) -> trials::Trials {
    let series = entries.iter().map(|entry| {
        let count = entry.analysis.summary.as_ref().map_or(0, |s| s.count);
        let samples = if count <= MOST_POINTS {
            trials::Samples::Points(entry.analysis.pieces(count).iter().map(|p| (p.0, p.3)).collect())
        } else {
            let column = |p: &(f64, f64, f64, f64)| trials::Column { x: p.0, min: p.1, median: p.2, max: p.3 };
            trials::Samples::Columns(entry.analysis.pieces(PIECES).iter().map(column).collect())
        };
        trials::Series { label: entry.label.clone(), samples, worst: worst(entry.analysis), tone: Tone::default() }
    });
    trials::Trials {
        title: about.title,
        subtitle: about.subtitle,
        order: "sample".into(),
        order_unit: Unit::Count,
        quantity: about.quantity,
        unit: unit_of(entries),
        scale: Scale::Auto,
        series: series.collect(),
        limit: about.limit,
    }
}

/// The worst samples of a series: the very worst, and others beyond the whisker of its box.
fn worst(analysis: &Analysis<'_>) -> Vec<trials::Worst> {
    let beyond = |value: u64, worst: moments::Worst| {
        analysis.boxes.as_ref().is_some_and(|boxes| match worst {
            moments::Worst::Least => (value as f64) < boxes.lower_whisker,
            moments::Worst::Greatest => value as f64 > boxes.upper_whisker,
        })
    };
    let greatest = analysis.summary.as_ref().map(|summary| summary.max.bound());
    let one = |moment: moments::Moment| trials::Worst {
        x: moment.ordinal as f64,
        value: analysis.scale(moment.value as f64),
        bound: if Some(moment.value) == greatest { bound(analysis) } else { "" },
        when: moment.when,
    };
    moments::worst(analysis.loaded, beyond).into_iter().map(one).collect()
}

/// Where the memory was while something ran: the parts `meminfo` and `slabinfo` of a series.
pub fn memory(label: &str, part: &str, loaded: Loaded<'_>) -> Vec<Box<dyn Figure>> {
    let watched = Watched::of(loaded);
    if watched.times.is_empty() {
        return Vec::new();
    }
    if part == "meminfo" {
        let mut figures: Vec<Box<dyn Figure>> = vec![Box::new(watched.composition(label))];
        // On a large machine what moved cannot be seen beside the whole.
        figures.extend(watched.moved(format!("{label}: memory, against idle"), usize::MAX));
        figures
    } else {
        let title = format!("{label}: the slab caches that moved most, against idle");
        watched.moved(title, MOST_CACHES).into_iter().collect()
    }
}

/// Columns of bytes over time.
struct Watched {
    times: Vec<f64>,
    columns: Vec<(String, Vec<f64>)>,
    steps: Vec<Step>,
}

impl Watched {
    fn of(loaded: Loaded<'_>) -> Self {
        let column =
            |index: usize| -> Vec<f64> { loaded.everything(index).to_vec().iter().map(|v| *v as f64).collect() };
        let times = column(0);
        let series = loaded.series;
        let steps = series.column("groups").map(|index| steps(&times, &column(index))).unwrap_or_default();
        let is_drawn = |c: &(usize, &Column)| c.1.unit == kizami_recording::folder::Unit::Bytes;
        let columns = series.columns.iter().enumerate().filter(is_drawn).map(|(i, c)| (c.name.clone(), column(i)));
        // A control group's own usage is part of the machine's memory; outside of one it is zero throughout.
        let columns = columns.filter(|(_, values)| values.iter().any(|v| *v > 0.0)).collect();
        Self { times, columns, steps }
    }

    /// The memory in use at first, when all was idle, and when the least was free.
    fn composition(&self, label: &str) -> composition::Composition {
        let fullest = self
            .columns
            .iter()
            .find(|(name, _)| name == FREE)
            .map_or(0, |(_, free)| (0..free.len()).min_by(|a, b| free[*a].total_cmp(&free[*b])).unwrap_or(0));
        let moments = if fullest == 0 { vec![("idle", 0)] } else { vec![("idle", 0), ("at the most", fullest)] };
        let part = |(name, values): &(String, Vec<f64>)| composition::Part {
            label: name.clone(),
            sizes: moments.iter().filter_map(|(_, at)| values.get(*at).copied()).collect(),
            tone: Tone::default(),
        };
        let used = self.columns.iter().filter(|(name, _)| name != CGROUP && name != FREE);
        composition::Composition {
            title: format!("{label}: where the memory is"),
            subtitle: String::new(),
            unit: Unit::Bytes,
            moments: moments.iter().map(|(name, _)| (*name).to_owned()).collect(),
            parts: used.map(part).collect(),
            rest: self.columns.iter().find(|(name, _)| name == FREE).map(part),
            follow: true,
        }
    }

    /// The `most` columns that moved most, as the difference to the first row, when all was idle: a large one that hardly
    /// moved would press all others flat. `None` where nothing moved.
    fn moved(&self, title: String, most: usize) -> Option<Box<dyn Figure>> {
        let range = |values: &[f64]| {
            let least = values.iter().copied().fold(f64::INFINITY, f64::min);
            values.iter().copied().fold(0.0, f64::max) - least
        };
        let mut moved: Vec<&(String, Vec<f64>)> = self.columns.iter().filter(|(_, v)| range(v) > 0.0).collect();
        moved.sort_by(|a, b| range(&b.1).total_cmp(&range(&a.1)));
        moved.truncate(most);
        let line = |(name, values): &(String, Vec<f64>)| {
            let idle = values.first().copied().unwrap_or(0.0);
            let points = self.times.iter().copied().zip(values.iter().map(|v| v - idle)).collect();
            let tone = if name == FREE { Tone::Quiet } else { Tone::default() };
            lines::Line { label: name.clone(), points, tone }
        };
        if moved.is_empty() {
            return None;
        }
        Some(Box::new(lines::Lines {
            title,
            subtitle: String::new(),
            time: "time".into(),
            time_unit: Unit::Nanoseconds,
            quantity: "more than idle".into(),
            unit: Unit::Bytes,
            scale: Scale::Linear,
            lines: moved.into_iter().map(line).collect(),
            steps: self.steps.clone(),
        }))
    }
}

/// Where the number of groups changes.
fn steps(times: &[f64], groups: &[f64]) -> Vec<Step> {
    let changed =
        |pair: &[(&f64, &f64)]| (pair[0].1 != pair[1].1 && *pair[1].1 > 0.0).then_some((*pair[1].0, *pair[1].1));
    let rows: Vec<_> = times.iter().zip(groups).collect();
    let label = |n: f64| if n == 1.0 { "1 group".to_owned() } else { format!("{n:.0} groups") };
    rows.windows(2).filter_map(changed).map(|(at, n)| Step { at, label: label(n) }).collect()
}

/// What arrived of what was offered. `curves` are series with the same label at several rates.
pub fn rates(about: About, curves: Vec<(String, Vec<rates::Point>)>) -> rates::Rates {
    let series = curves.into_iter().map(|(label, mut points)| {
        points.sort_by(|a, b| a.offered.total_cmp(&b.offered));
        rates::Series { label, points, tone: Tone::default() }
    });
    rates::Rates {
        title: about.title,
        subtitle: about.subtitle,
        unit: Unit::BitsPerSecond,
        scale: Scale::Auto,
        series: series.collect(),
    }
}

/// Figures over a parameter. Lines that are far apart stand on a logarithmic axis: on another one, those of the fast would all lie on
/// the ground.
pub fn sweep(about: About, parameter: &str, unit: Unit, drawn: Vec<lines::Line>) -> lines::Lines {
    const FAR_APART: f64 = 10.0;
    let tops = drawn.iter().map(|line| line.points.iter().map(|point| point.1).fold(0.0, f64::max));
    let (least, most) = tops.fold((f64::INFINITY, 0.0), |(least, most), top| (top.min(least), top.max(most)));
    let far_apart = least > 0.0 && most > FAR_APART * least;
    lines::Lines {
        title: about.title,
        subtitle: about.subtitle,
        time: parameter.to_owned(),
        time_unit: Unit::Count,
        quantity: about.quantity,
        unit,
        scale: if far_apart { Scale::Log } else { Scale::Linear },
        lines: drawn,
        steps: Vec::new(),
    }
}

pub fn ratio_plot(about: About, band: (f64, f64), rows: Vec<ratios::Row>) -> ratios::Ratios {
    ratios::Ratios { title: about.title, subtitle: about.subtitle, quantity: about.quantity, band, rows }
}

fn unit_of(entries: &[Entry<'_, '_>]) -> Unit {
    entries.first().map_or(Unit::Nanoseconds, |entry| entry.analysis.unit())
}
