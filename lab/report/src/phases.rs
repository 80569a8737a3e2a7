//! Series whose columns add up to the first: a bar each, of its parts.

use kizami_recording::folder::{Column, Loaded};

use crate::measure::Measure;
use crate::plot::composition::{Composition, Part};
use crate::plot::units::Unit;
use crate::plot::{Figure, Tone};

/// The figures of those series whose columns add up. In one figure are series with the same columns, and native ones apart from
/// those that an emulator ran: the times of the one say nothing beside the other's.
pub fn figures(title: &str, measures: &[Measure<'_, '_>]) -> Vec<Box<dyn Figure>> {
    let mut kinds: Vec<Kind> = Vec::new();
    for measure in measures.iter().filter(|measure| measure.analysis.summary.is_some()) {
        let Some((names, sizes)) = parts(measure.analysis.loaded) else { continue };
        let (emulated, unit) = (measure.series().emulated, measure.analysis.unit());
        let bar = (measure.row.label.clone(), sizes);
        match kinds.iter_mut().find(|kind| (kind.emulated, kind.unit, &kind.names) == (emulated, unit, &names)) {
            Some(kind) => kind.bars.push(bar),
            None => kinds.push(Kind { emulated, unit, names, bars: vec![bar] }),
        }
    }
    kinds.sort_by_key(|kind| kind.emulated);
    kinds.into_iter().map(|kind| kind.figure(title)).collect()
}

/// Series that may stand in one figure.
struct Kind {
    emulated: bool,
    unit: Unit,
    names: Vec<String>,
    /// Each with its label and the sizes of its parts.
    bars: Vec<(String, Vec<f64>)>,
}

impl Kind {
    fn figure(self, title: &str) -> Box<dyn Figure> {
        let part = |(index, label): (usize, String)| Part {
            label,
            tone: Tone::default(),
            sizes: self.bars.iter().map(|(_, sizes)| sizes[index]).collect(),
        };
        Box::new(Composition {
            title: format!("{title}: {}", if self.emulated { "the phases, emulated" } else { "the phases" }),
            subtitle: "The start whose whole time is the median of its series.".into(),
            unit: self.unit,
            // What none of them has needs no name.
            parts: self
                .names
                .into_iter()
                .enumerate()
                .map(part)
                .filter(|part| part.sizes.iter().any(|size| *size > 0.0))
                .collect(),
            rest: None,
            moments: self.bars.iter().map(|(label, _)| label.clone()).collect(),
            follow: false,
        })
    }
}

/// The names and sizes of the parts of the row whose first column is the median: so they add up to a whole that there was. Columns that
/// do not are no parts.
fn parts(loaded: Loaded<'_>) -> Option<(Vec<String>, Vec<f64>)> {
    let columns = &loaded.series.columns;
    let unit = columns.first()?.unit;
    let whole = loaded.column(0).to_vec();
    let mut order: Vec<usize> = (0..whole.len()).collect();
    order.sort_by_key(|&row| whole[row]);
    let row = *order.get(order.len().checked_sub(1)? / 2)?;
    let is_part = |column: &(usize, &Column)| column.0 > 0 && column.1.unit == unit;
    let (names, sizes): (Vec<_>, Vec<_>) = columns
        .iter()
        .enumerate()
        .filter(is_part)
        .filter_map(|(index, column)| Some((column.name.clone(), *loaded.column(index).to_vec().get(row)? as f64)))
        .unzip();
    let sum: f64 = sizes.iter().sum();
    let whole = whole[row] as f64;
    // Each may have been rounded.
    ((sum - whole).abs() <= whole / 1000.0).then_some((names, sizes))
}
