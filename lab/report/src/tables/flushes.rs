//! The audit of flushes: how often the host's disk was told to write out its cache, beside how often that was asked for.

use kizami_recording::folder::HOST_FLUSHES;

use crate::measure::Measure;
use crate::numbers::whole;
use crate::table::{RowKind, Table};

/// The table of a section, if anything of it was counted.
pub(super) fn of(measures: &[Measure<'_, '_>]) -> Option<Table> {
    let mut table = Table::new(&["flushes of the host's disk"], &["syncs", "flushes", "flushes a sync"]);
    for measure in measures {
        let counted = measure.series().trials.iter().filter_map(|t| Some((t.rows, *t.facts.get(HOST_FLUSHES)?)));
        let (syncs, flushes) = counted.fold((0, 0.0), |(rows, flushes), (r, f)| (rows + r, flushes + f));
        if syncs > 0 {
            let cells = [whole(syncs), whole(flushes as u64), format!("{:.2}", flushes / syncs as f64)];
            table.push(RowKind::Measured, std::iter::once(measure.row.label.clone()).chain(cells));
        }
    }
    table.note = "Counted by the host's kernel over whole trials: the preparation of a trial has some, and so has whoever else \
                  writes to that disk meanwhile. One for each sync is what a sync promises; none, that a power cut may take what was \
                  acknowledged."
        .into();
    (!table.rows.is_empty()).then_some(table)
}
