//! Where the time goes: the functions that took the instructions of a trial, as a table and as a drawing, beside the time that was measured.

use kizami_recording::profile::{Called, Profile};

use crate::measure::Measure;
use crate::numbers::{plain, whole};
use crate::plot::flame::{Box as Part, Flame};
use crate::plot::{Figure, Unit};
use crate::table::{RowKind, Table};

/// So many functions stand in a table by name.
const NAMED: usize = 14;

/// What was counted in a trial, and what it stands for.
struct Counted {
    profile: Profile,
    /// The time between the beginning and the end of what was counted, by the clock of the machine.
    measured_ns: f64,
    /// How long an instruction takes there, where that is the same for all.
    instruction_ns: Option<f64>,
    operations: f64,
}

impl Counted {
    fn of(measure: &Measure<'_, '_>) -> Option<Result<Self, String>> {
        let read = measure.analysis.loaded.profile()?;
        Some(read.map(|(trial, profile)| {
            let fact = |name: &str| trial.facts.get(name).copied().filter(|value| *value > 0.0);
            Self {
                profile,
                measured_ns: fact("profiled_ns").unwrap_or(0.0),
                instruction_ns: fact("instruction_ns"),
                operations: fact("profiled_operations").unwrap_or(1.0),
            }
        }))
    }

    /// Of one operation: time, where instructions are the clock, or instructions.
    fn of_one(&self, instructions: u64) -> f64 {
        instructions as f64 * self.instruction_ns.unwrap_or(1.0) / self.operations
    }

    fn unit(&self) -> Unit {
        if self.instruction_ns.is_some() { Unit::Nanoseconds } else { Unit::Instructions }
    }

    /// Whether all of it adds up to what was measured.
    fn adds_up(&self) -> String {
        let total = self.profile.total();
        let Some(ns) = self.instruction_ns.filter(|_| self.measured_ns > 0.0) else {
            return format!("{} instructions were counted", whole(total));
        };
        let counted = total as f64 * ns;
        format!(
            "{} instructions of {} ns were counted: {}, and the clock says {} ({:.2} %)",
            whole(total),
            plain(ns),
            Unit::Nanoseconds.value(counted),
            Unit::Nanoseconds.value(self.measured_ns),
            counted / self.measured_ns * 100.0
        )
    }
}

/// A table for each series of which a profile was taken.
pub(crate) fn tables(measures: &[Measure<'_, '_>]) -> Vec<Table> {
    measures.iter().filter_map(table).collect()
}

fn table(measure: &Measure<'_, '_>) -> Option<Table> {
    let label = &measure.row.label;
    let heading = format!("{label}: by function");
    let counted = match Counted::of(measure)? {
        Ok(counted) => counted,
        Err(why) => {
            let mut table = Table::new(&[&heading], &[]);
            table.push(RowKind::Missing, [label.clone(), why]);
            return Some(table);
        }
    };
    let total = counted.profile.total().max(1);
    let times: &[&str] = if counted.instruction_ns.is_some() { &["time"] } else { &[] };
    let mut table = Table::new(&[&heading], &[&["instructions"], times, &["share"]].concat());
    let mut row = |name: String, instructions: u64| {
        let mut cells = vec![name, plain(instructions as f64 / counted.operations)];
        if counted.instruction_ns.is_some() {
            cells.push(counted.unit().value(counted.of_one(instructions)));
        }
        cells.push(format!("{:.1} %", instructions as f64 / total as f64 * 100.0));
        table.push(RowKind::Measured, cells);
    };
    let functions = counted.profile.functions();
    let (named, others) = functions.split_at(functions.len().min(NAMED));
    named.iter().for_each(|(name, instructions)| row((*name).to_owned(), *instructions));
    if !others.is_empty() {
        row(format!("{} others", others.len()), others.iter().map(|(_, instructions)| instructions).sum());
    }
    row("all".into(), counted.profile.total());
    table.note =
        format!("Of one operation, a function's own instructions, wherever it was called from. {}.", counted.adds_up());
    Some(table)
}

/// A drawing for each series.
pub(crate) fn figures(measures: &[Measure<'_, '_>]) -> Vec<std::boxed::Box<dyn Figure>> {
    let draw = |measure: &Measure<'_, '_>| -> Option<std::boxed::Box<dyn Figure>> {
        let counted = Counted::of(measure)?.ok()?;
        Some(std::boxed::Box::new(Flame {
            title: format!("{}: what was called, and what it took", measure.row.label),
            subtitle: format!(
                "{} an operation. A box is as wide as a function with all that it called; what it called stands under it.",
                counted.unit().value(counted.of_one(counted.profile.total()))
            ),
            unit: counted.unit(),
            boxes: parts(counted.profile.root(), &counted),
        }))
    };
    measures.iter().filter_map(draw).collect()
}

fn parts(called: &Called, counted: &Counted) -> Vec<Part> {
    let mut parts: Vec<Part> = called
        .calls
        .iter()
        .map(|(name, called)| Part {
            label: name.clone(),
            size: counted.of_one(called.all()),
            own: counted.of_one(called.own),
            calls: parts(called, counted),
        })
        .collect();
    parts.sort_by(|a, b| b.size.total_cmp(&a.size));
    parts
}
