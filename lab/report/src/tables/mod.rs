//! The tables of a section.
//!
//! Their columns are those of the papers (average, maximum, variance, standard deviation), with the published figures
//! below the measured ones, and further ones that the papers do not have: median, tail, the first cold call. Times and
//! throughputs stand in tables of their own, because they share no unit.

mod across;
mod flushes;
mod losses;

use std::collections::HashMap;

use kizami_recording::folder::{Measured, Series};
use kizami_recording::stats::Known;
use kizami_studies::{Group, Published, Statistic, Study};

use crate::measure::Measure;
use crate::missing;
use crate::numbers::{Scale, whole};
use crate::plot::Unit;
use crate::profiles;
use crate::table::{RowKind, Table};

/// One column: its header, and its cell for a measured row and for a published one.
struct Column {
    header: &'static str,
    measured: fn(&Cells<'_, '_>) -> Option<String>,
    published: Option<Statistic>,
}

/// A measured row with what its cells are made of.
struct Cells<'r, 'a> {
    measure: &'r Measure<'r, 'a>,
    summary: &'r kizami_recording::stats::Summary,
    scale: Scale,
}

impl Cells<'_, '_> {
    fn write(&self, value: f64) -> String {
        self.scale.write(self.measure.analysis.scale(value))
    }

    /// A figure that may be known from one side only.
    fn known(&self, figure: Known<f64>) -> String {
        format!("{}{}", figure.sign(), self.write(figure.bound()))
    }

    fn tail(&self, figure: Option<Known<u64>>) -> Option<String> {
        figure.map(|figure| self.known(figure.map(|value| value as f64)))
    }

    fn max(&self) -> Option<String> {
        self.tail(Some(self.summary.max))
    }
}

/// The column of the estimated maximum.
pub(crate) const FURTHER: &str = "×100";

const TIMES: &[Column] = &[
    Column { header: "AVG", measured: |c| Some(c.known(c.summary.mean)), published: Some(Statistic::Mean) },
    Column { header: "MAX", measured: |c| c.max(), published: Some(Statistic::Max) },
    Column { header: "VAR", measured: variance, published: Some(Statistic::Variance) },
    Column {
        header: "STDEV",
        measured: |c| c.summary.standard_deviation.map(|v| c.write(v)),
        published: Some(Statistic::Stdev),
    },
    Column { header: "median", measured: |c| Some(c.known(c.summary.median)), published: Some(Statistic::Median) },
    Column { header: "p99", measured: |c| c.tail(c.summary.p99), published: Some(Statistic::P99) },
    Column { header: "p99.9", measured: |c| c.tail(c.summary.p99_9), published: None },
    Column { header: FURTHER, measured: |c| c.measure.analysis.further_maximum.map(|v| c.write(v)), published: None },
    Column { header: "first", measured: |c| c.measure.analysis.cold.map(|v| c.write(v as f64)), published: None },
    Column { header: "n", measured: |c| Some(whole(c.summary.count)), published: None },
];

/// Of a throughput the low end is what matters. Its average is that of the whole transfer: all bits over all time.
const THROUGHPUTS: &[Column] = &[
    Column {
        header: "AVG",
        measured: |c| c.measure.analysis.loaded.throughput().map(|v| c.scale.write(v)),
        published: Some(Statistic::Mean),
    },
    Column { header: "MIN", measured: |c| Some(c.write(c.summary.min as f64)), published: Some(Statistic::Min) },
    Column { header: "median", measured: |c| Some(c.known(c.summary.median)), published: Some(Statistic::Median) },
    Column { header: "MAX", measured: |c| c.max(), published: Some(Statistic::Max) },
    Column { header: "STDEV", measured: |c| c.summary.standard_deviation.map(|v| c.write(v)), published: None },
    Column { header: "intervals", measured: |c| Some(whole(c.summary.count)), published: None },
];

/// What is counted is the same every time, or the extremes say so.
const COUNTS: &[Column] = &[
    Column { header: "MIN", measured: |c| Some(c.write(c.summary.min as f64)), published: Some(Statistic::Min) },
    Column { header: "median", measured: |c| Some(c.known(c.summary.median)), published: Some(Statistic::Median) },
    Column { header: "MAX", measured: |c| c.max(), published: Some(Statistic::Max) },
    Column { header: "n", measured: |c| Some(whole(c.summary.count)), published: None },
];

fn variance(cells: &Cells<'_, '_>) -> Option<String> {
    let of_one = cells.measure.analysis.scale(1.0).powi(2);
    cells.summary.variance.map(|v| cells.scale.write_square(v * of_one))
}

/// The tables of `group`.
pub(crate) fn of(study: &Study, group: &Group, measures: &[Measure<'_, '_>]) -> Vec<Table> {
    let with_unit = |unit: Unit| -> Vec<&Measure<'_, '_>> {
        let is_shown = |m: &&Measure<'_, '_>| m.series().measured() != Measured::Watched && m.analysis.unit() == unit;
        measures.iter().filter(is_shown).collect()
    };
    if let Some(name) = &group.across {
        return group.statistics.iter().flat_map(|statistic| across::of(name, *statistic, measures)).collect();
    }
    let kinds = [
        (Unit::Nanoseconds, TIMES),
        (Unit::BitsPerSecond, THROUGHPUTS),
        (Unit::Bytes, TIMES),
        (Unit::Instructions, COUNTS),
        (Unit::Cycles, COUNTS),
    ];
    let tables = kinds.into_iter().filter_map(|(unit, columns)| table(study, group, &with_unit(unit), unit, columns));
    tables.chain(flushes::of(measures)).chain(losses::of(measures)).chain(profiles::tables(measures)).collect()
}

fn table(study: &Study, group: &Group, measures: &[&Measure<'_, '_>], unit: Unit, columns: &[Column]) -> Option<Table> {
    if measures.is_empty() {
        return None;
    }
    let typical = |m: &&Measure<'_, '_>| m.analysis.summary.as_ref().map(|s| m.analysis.scale(s.median.bound()));
    let smallest = measures.iter().filter_map(typical).filter(|v| *v > 0.0).fold(f64::INFINITY, f64::min);
    let scale = Scale::for_values(unit, if smallest.is_finite() { smallest } else { 1.0 });
    let what = match unit {
        Unit::Nanoseconds => "times",
        Unit::Bytes => "memory",
        Unit::Instructions => "instructions",
        Unit::Cycles => "cycles",
        _ => "throughput",
    };
    let headers: Vec<&str> = columns.iter().map(|c| c.header).collect();
    let unit = if scale.name.is_empty() { String::new() } else { format!(" in {}", scale.name) };
    let mut table = Table::new(&[&format!("{what}{unit}")], &headers);
    if let Some(variance) = table.headers.iter_mut().find(|h| h.text == "VAR") {
        variance.text = format!("VAR {}²", scale.name);
    }
    for measure in measures {
        let label = measure.row.label.clone();
        let Some(summary) = &measure.analysis.summary else {
            table.push(RowKind::Missing, [label, missing::why_none(measure.series())]);
            continue;
        };
        let cells = Cells { measure, summary, scale };
        let own = columns.iter().map(|column| (column.measured)(&cells).unwrap_or_default());
        table.push(RowKind::Measured, std::iter::once(label).chain(own));
        for (machine, figures) in published_of(study, group, measure.series()) {
            let cell = |column: &Column| {
                let figure = column.published.and_then(|statistic| Some((statistic, figures.get(&statistic)?)));
                match figure {
                    Some((Statistic::Variance, value)) => scale.write_square(*value),
                    Some((_, value)) => scale.write(*value),
                    None => String::new(),
                }
            };
            let cells = columns.iter().map(cell);
            table.push(RowKind::Published, std::iter::once(machine.clone()).chain(cells));
        }
    }
    table.drop_empty_columns();
    table.note = note(&table, measures);
    Some(table)
}

fn note(table: &Table, measures: &[&Measure<'_, '_>]) -> String {
    let mut notes = Vec::new();
    if table.headers.iter().any(|h| h.text == "first") {
        notes.push("first: the cold call before all others, not part of the other figures.".to_owned());
    }
    if table.headers.iter().any(|h| h.text == FURTHER) {
        notes.push(
            "×100: the maximum to expect in a hundred times as many samples, by extreme-value theory; left out where the \
             samples do not support an estimate."
                .to_owned(),
        );
    }
    let operations = measures.iter().map(|m| m.series().operations).max().unwrap_or(1);
    if operations > 1 {
        notes.push(format!(
            "A sample times up to {operations} operations in a row; figures are for one, so MAX and VAR are those of \
             batches."
        ));
    }
    notes.join(" ")
}

/// What was published of a group of which nothing could be measured here.
pub(crate) fn published_only(study: &Study, group: &Group) -> Option<Table> {
    let mut rows: Vec<(String, HashMap<Statistic, f64>)> = Vec::new();
    for Published { workload, condition, machine, statistic, base, .. } in study.published_of(group) {
        let words = [workload.as_str(), condition, machine].into_iter().filter(|word| !word.is_empty());
        let label = words.collect::<Vec<_>>().join(", ");
        match rows.iter_mut().find(|(known, _)| *known == label) {
            Some((_, figures)) => drop(figures.insert(*statistic, *base)),
            None => rows.push((label, HashMap::from([(*statistic, *base)]))),
        }
    }
    let means = rows.iter().filter_map(|(_, figures)| figures.get(&Statistic::Mean));
    let scale = Scale::for_values(Unit::Nanoseconds, means.copied().reduce(f64::min)?);
    let mut table = Table::new(&[&format!("published, in {}", scale.name)], &["AVG", "MAX", "VAR", "STDEV"]);
    for (label, figures) in &rows {
        let cell = |statistic| figures.get(&statistic).map(|v| scale.write(*v)).unwrap_or_default();
        let variance = figures.get(&Statistic::Variance).map(|v| scale.write_square(*v)).unwrap_or_default();
        let cells = [label.clone(), cell(Statistic::Mean), cell(Statistic::Max), variance, cell(Statistic::Stdev)];
        table.push(RowKind::Published, cells);
    }
    table.note = "Not measured here; the notes at the end of the report say why.".into();
    Some(table)
}

/// The published figures beside `series`: by machine, in the order of the file.
pub(crate) fn published_of(study: &Study, group: &Group, series: &Series) -> Vec<(String, HashMap<Statistic, f64>)> {
    let mut machines: Vec<(String, HashMap<Statistic, f64>)> = Vec::new();
    for Published { machine, statistic, base, .. } in study.published_for(group, series) {
        match machines.iter_mut().find(|(name, _)| name == machine) {
            Some((_, figures)) => drop(figures.insert(*statistic, *base)),
            None => machines.push((machine.clone(), HashMap::from([(*statistic, *base)]))),
        }
    }
    machines
}
