//! CSV of samples and of summaries.
//!
//! The samples of a series: one line a row, with all columns, in the order in which the rows were recorded. Before the
//! series' own columns stand `trial` (from 1), `row` (from 1 in each trial) and `cold` (1 for a row that summaries
//! leave out, else 0). A header names each column with its unit, such as `time (ns)`.
//!
//! The summaries of many series: one line a series. A figure that is only known from one side has `>=` or `>` before it,
//! and an interval that is refused has its reason in a column of its own.

use std::io::{self, Write};

use super::error::NotExported;
use super::rows::each_row;
use crate::folder::{Loaded, Measured, Unit};
use crate::stats::{Confidence, Known, Options, Summary};

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

/// Writes the summary of every series that has one: figures are of samples as they were taken, of which each timed so
/// many `operations`, in `unit`. What a sample is too small to say is empty; what was watched beside the work is left
/// out.
///
/// # Errors
/// When there is no summary, or `out` refuses.
pub fn summaries(series: &[Loaded<'_>], options: &Options, out: &mut dyn Write) -> Result<(), NotExported> {
    let measured = series.iter().filter(|s| s.series.measured() != Measured::Watched);
    let summaries: Vec<_> = measured.filter_map(|s| Some((s, Summary::of(&*s.values(), options)?))).collect();
    if summaries.is_empty() {
        return Err(NotExported::Impossible("no series has a sample: there is nothing to summarise".into()));
    }
    let mut csv = ::csv::Writer::from_writer(out);
    for (index, (series, summary)) in summaries.iter().enumerate() {
        let fields = fields(series, summary);
        if index == 0 {
            csv.write_record(fields.iter().map(|(name, _)| name)).map_err(io::Error::from)?;
        }
        csv.write_record(fields.iter().map(|(_, value)| value)).map_err(io::Error::from)?;
    }
    Ok(csv.flush()?)
}

/// What stands in the line of one series, with the names of the columns.
fn fields(series: &Loaded<'_>, s: &Summary) -> Vec<(&'static str, String)> {
    fn text<T: ToString>(value: Option<T>) -> String {
        value.map_or_else(String::new, |value| value.to_string())
    }
    fn known<T: ToString>(value: Known<T>) -> String {
        match value {
            Known::Exactly(value) => value.to_string(),
            Known::AtLeast(value) => format!(">={}", value.to_string()),
            Known::MoreThan(value) => format!(">{}", value.to_string()),
        }
    }
    let tail = |value: Option<Known<u64>>| value.map_or_else(String::new, known);
    let low = |interval: Confidence| text(interval.map(|i| i.low).ok());
    let high = |interval: Confidence| text(interval.map(|i| i.high).ok());
    let refused = |interval: Confidence| text(interval.err());
    let about = series.series;
    let (kind, operations) = match about.measured() {
        Measured::Time { operations } => (about.columns.first().map_or("", |c| unit(c.unit)), operations),
        Measured::Throughput | Measured::Watched => (unit(Unit::BitsPerSecond), 1),
    };
    vec![
        ("series", about.name.clone()),
        ("workload", about.workload.clone()),
        ("environment", about.environment.clone()),
        ("part", about.part.clone()),
        ("emulated", u8::from(about.emulated).to_string()),
        ("unit", kind.to_owned()),
        ("operations", operations.to_string()),
        ("count", s.count.to_string()),
        ("beyond", s.beyond.to_string()),
        ("lost", s.lost.to_string()),
        ("min", s.min.to_string()),
        ("max", known(s.max)),
        ("mean", known(s.mean)),
        ("mean_low", low(s.mean_interval)),
        ("mean_high", high(s.mean_interval)),
        ("mean_refused", refused(s.mean_interval)),
        ("variance", text(s.variance)),
        ("standard_deviation", text(s.standard_deviation)),
        ("mode", text(s.mode.map(|mode| mode.value))),
        ("mode_bin_width", text(s.mode.map(|mode| mode.bin_width))),
        ("lower_quartile", known(s.lower_quartile)),
        ("median", known(s.median)),
        ("median_low", low(s.median_interval)),
        ("median_high", high(s.median_interval)),
        ("median_refused", refused(s.median_interval)),
        ("upper_quartile", known(s.upper_quartile)),
        ("p90", tail(s.p90)),
        ("p95", tail(s.p95)),
        ("p99", tail(s.p99)),
        ("p99_low", low(s.p99_interval)),
        ("p99_high", high(s.p99_interval)),
        ("p99_refused", refused(s.p99_interval)),
        ("p99.9", tail(s.p99_9)),
        ("p99.99", tail(s.p99_99)),
        ("p99.999", tail(s.p99_999)),
    ]
}

fn unit(unit: Unit) -> &'static str {
    match unit {
        Unit::Nanoseconds => "ns",
        Unit::Instructions => "instructions",
        Unit::Cycles => "cycles",
        Unit::Bytes => "bytes",
        Unit::Words => "words",
        Unit::BitsPerSecond => "bit/s",
        Unit::Count => "count",
    }
}
