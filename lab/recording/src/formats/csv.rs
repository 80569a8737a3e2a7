//! Every sample of a series as CSV: one line a row, with all columns, in the order in which they were taken.
//!
//! Before the series' own columns stand `trial` (from 1), `row` (from 1 in each trial) and `cold` (1 for a row that
//! summaries leave out, else 0). A header names each column with its unit, such as `time (ns)`.

use std::io::{self, Write};

use super::{NotExported, each_row};
use crate::folder::{Loaded, Unit};

/// Writes all trials of `series`.
///
/// # Errors
/// When `out` refuses.
pub fn export(series: &Loaded<'_>, out: &mut dyn Write) -> Result<(), NotExported> {
    let mut csv = ::csv::Writer::from_writer(out);
    let columns = &series.series.columns;
    let named = columns.iter().map(|c| format!("{} ({})", c.name, unit(c.unit)));
    let header = ["trial", "row", "cold"].map(str::to_owned).into_iter().chain(named);
    csv.write_record(header).map_err(io::Error::from)?;

    let views: Vec<_> = (0..columns.len()).map(|column| series.everything(column)).collect();
    let mut fields = Vec::with_capacity(3 + columns.len());
    let mut first = 0;
    for (index, trial) in series.series.trials.iter().enumerate() {
        let mut row = 0;
        each_row(&views, first, first + trial.rows, |cells| {
            row += 1;
            fields.clear();
            fields.extend([index as u64 + 1, row, u64::from(row <= trial.cold_rows)]);
            fields.extend_from_slice(cells);
            csv.serialize(&fields).map_err(io::Error::from)
        })?;
        first += trial.rows;
    }
    Ok(csv.flush()?)
}

fn unit(unit: Unit) -> &'static str {
    match unit {
        Unit::Nanoseconds => "ns",
        Unit::Instructions => "instructions",
        Unit::Bytes => "bytes",
        Unit::Words => "words",
        Unit::BitsPerSecond => "bit/s",
        Unit::Count => "count",
    }
}
