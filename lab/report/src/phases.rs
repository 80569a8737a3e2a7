//! Series whose columns add up to the first: a bar each, of its parts.

use kizami_recording::folder::{Column, Loaded};

use crate::measure::Measure;
use crate::plot::composition::{Composition, Part};
use crate::plot::{Figure, Tone};

/// A figure of the native series, and one of those that an emulator ran: the times of the one say nothing beside the other's.
pub fn figures(title: &str, measures: &[Measure<'_, '_>]) -> Vec<Box<dyn Figure>> {
    let mut figures: Vec<Box<dyn Figure>> = Vec::new();
    for emulated in [false, true] {
        let of_these = |m: &&Measure<'_, '_>| m.series().emulated == emulated && m.analysis.summary.is_some();
        let bars: Vec<(String, Vec<(String, f64)>)> = measures
            .iter()
            .filter(of_these)
            .filter_map(|m| Some((m.row.label.clone(), parts(m.analysis.loaded)?)))
            .collect();
        let Some((_, first)) = bars.first() else { continue };
        let part = |(index, (name, _)): (usize, &(String, f64))| Part {
            label: name.clone(),
            tone: Tone::default(),
            sizes: bars.iter().map(|(_, parts)| parts.get(index).map_or(0.0, |part| part.1)).collect(),
        };
        figures.push(Box::new(Composition {
            title: format!("{title}: {}", if emulated { "the phases, emulated" } else { "the phases" }),
            subtitle: "The start whose whole time is the median of its series.".into(),
            unit: measures[0].analysis.unit(),
            parts: first.iter().enumerate().map(part).collect(),
            rest: None,
            moments: bars.iter().map(|(label, _)| label.clone()).collect(),
            follow: false,
        }));
    }
    figures
}

/// The parts of the row whose first column is the median: so they add up to a whole that there was.
fn parts(loaded: Loaded<'_>) -> Option<Vec<(String, f64)>> {
    let columns = &loaded.series.columns;
    let unit = columns.first()?.unit;
    let whole = loaded.column(0).to_vec();
    let mut order: Vec<usize> = (0..whole.len()).collect();
    order.sort_by_key(|&row| whole[row]);
    let row = *order.get(order.len().checked_sub(1)? / 2)?;
    let is_part = |column: &(usize, &Column)| column.0 > 0 && column.1.unit == unit;
    let part = |(index, column): (usize, &Column)| {
        loaded.column(index).to_vec().get(row).map(|size| (column.name.clone(), *size as f64))
    };
    columns.iter().enumerate().filter(is_part).map(part).collect()
}
