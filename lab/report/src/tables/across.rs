//! Tables across a varied value: its values are the columns, with one figure of each series and the difference to the
//! first column.
//!
//! They are for a group of many series that are to be read side by side, such as the same services in several builds of
//! a kernel.

use std::cmp::Ordering;

use kizami_studies::Statistic;

use crate::measure::Measure;
use crate::numbers::Scale;
use crate::plot::Unit;
use crate::table::{RowKind, Table};

/// The figures of a row, by column.
struct Line {
    label: String,
    figures: Vec<Option<f64>>,
}

/// The tables of a group whose columns are the values of `name`: for each unit the figures, and the differences.
pub(crate) fn of(name: &str, statistic: Statistic, measures: &[Measure<'_, '_>]) -> Vec<Table> {
    let value = |m: &Measure<'_, '_>| {
        m.row.condition.iter().find(|(varied, _)| varied == name).map(|(_, value)| value.clone()).unwrap_or_default()
    };
    let mut columns: Vec<String> = Vec::new();
    let mut units: Vec<Unit> = Vec::new();
    for measure in measures {
        if !columns.contains(&value(measure)) {
            columns.push(value(measure));
        }
        if !units.contains(&measure.analysis.unit()) {
            units.push(measure.analysis.unit());
        }
    }
    let mut tables = Vec::new();
    for unit in units {
        let mut lines: Vec<Line> = Vec::new();
        for measure in measures.iter().filter(|m| m.analysis.unit() == unit) {
            let label = label(name, measure, measures);
            let column = columns.iter().position(|column| *column == value(measure)).unwrap_or_default();
            let summary = measure.analysis.summary.as_ref();
            let figure = summary.and_then(|s| statistic.of(s)?.exactly()).map(|figure| measure.analysis.scale(figure));
            let line = lines.iter().position(|line| line.label == label).unwrap_or_else(|| {
                lines.push(Line { label, figures: vec![None; columns.len()] });
                lines.len() - 1
            });
            lines[line].figures[column] = figure;
        }
        tables.push(figures(statistic, unit, &columns, &lines));
        if columns.len() > 1 {
            tables.push(differences(unit, &columns, &lines));
        }
    }
    tables
}

/// What is left of a row's label without what stands in the columns, and without a workload that all rows have.
fn label(name: &str, measure: &Measure<'_, '_>, all: &[Measure<'_, '_>]) -> String {
    let varied = format!("{name} ");
    let workload = &measure.series().workload;
    let alone = all.iter().all(|other| other.series().workload == *workload);
    let words = measure.row.label.split(", ").filter(|word| !word.starts_with(&varied));
    let words: Vec<&str> = words.filter(|word| !alone || word != workload).collect();
    if words.is_empty() { workload.clone() } else { words.join(", ") }
}

/// Whole numbers are counts, and stay whole.
fn write(unit: Unit, scale: Scale, figure: f64) -> String {
    if unit == Unit::Nanoseconds { scale.write(figure) } else { format!("{figure:.0}") }
}

fn heading(unit: Unit, scale: Scale) -> String {
    match unit {
        Unit::Instructions => "instructions".into(),
        Unit::Cycles => "cycles".into(),
        _ => scale.name.to_owned(),
    }
}

fn scale_of(unit: Unit, lines: &[Line]) -> Scale {
    let least = lines.iter().flat_map(|line| line.figures.iter().flatten()).copied().filter(|figure| *figure > 0.0);
    Scale::for_values(unit, least.reduce(f64::min).unwrap_or(1.0))
}

fn figures(statistic: Statistic, unit: Unit, columns: &[String], lines: &[Line]) -> Table {
    let scale = scale_of(unit, lines);
    let headers: Vec<&str> = columns.iter().map(String::as_str).collect();
    let mut table = Table::new(&[&format!("{statistic}, {}", heading(unit, scale))], &headers);
    for line in lines {
        let cells = line.figures.iter().map(|figure| figure.map_or("–".into(), |figure| write(unit, scale, figure)));
        table.push(RowKind::Measured, std::iter::once(line.label.clone()).chain(cells));
    }
    table
}

fn differences(unit: Unit, columns: &[String], lines: &[Line]) -> Table {
    let scale = scale_of(unit, lines);
    let first = &columns[0];
    let headers: Vec<&str> = columns[1..].iter().map(String::as_str).collect();
    let mut table = Table::new(&[&format!("difference to {first}, {}", heading(unit, scale))], &headers);
    for line in lines {
        let base = line.figures[0];
        let cells = line.figures[1..].iter().map(|figure| match (base, figure) {
            (Some(base), Some(figure)) if base > 0.0 => {
                let by = write(unit, scale, (figure - base).abs());
                let sign = match figure.total_cmp(&base) {
                    Ordering::Greater => "+",
                    Ordering::Less => "−",
                    Ordering::Equal => "",
                };
                format!("{sign}{by} ({:.2}×)", figure / base)
            }
            _ => "–".into(),
        });
        table.push(RowKind::Measured, std::iter::once(line.label.clone()).chain(cells));
    }
    table.note = format!("How much less (−) or more (+) than {first}, and how many times it.");
    table
}
