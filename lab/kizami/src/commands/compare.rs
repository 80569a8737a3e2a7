//! `kizami compare`: ratios with intervals, and which differences are supported.

use std::path::{Path, PathBuf};

use kizami_recording::folder::{Loaded, Measured, Reader};
use kizami_recording::stats::compare::{self, Measure};
use kizami_recording::stats::{Comparison, Design, Options, Samples, Verdict};
use kizami_report::text::{self, Look};
use kizami_report::{RowKind, Table, unit_of};
use serde_json::json;

use super::{open, print_json, print_text};
use crate::cli;
use crate::exit::{self, Exit};
use crate::paths;
use crate::style::Style;

/// One side: a recording, and which of its series.
struct Side {
    reader: Reader,
    series: Option<String>,
}

pub fn compare(args: &cli::Compare, json: bool, style: &Style) -> Result<u8, Exit> {
    let (a, b) = (side(&args.a, style)?, side(&args.b, style)?);
    let pairs = pairs(&a, &b)?;
    let measure = match args.measure {
        cli::Measure::Median => Measure::Median,
        cli::Measure::Mean => Measure::Mean,
        cli::Measure::P99 => Measure::P99,
        cli::Measure::Max => Measure::Max,
    };
    let options = Options { seed: a.reader.recording().seed, ..Options::default() };
    // Series of one run were interleaved; those of two runs were not.
    let together = a.reader.folder() == b.reader.folder();
    let compared = pairs.iter().map(|(x, y)| (x, y, of_pair(*x, *y, together, measure, &options)));
    if json {
        let rows: Vec<_> = compared
            .map(|(x, y, result)| match result {
                Ok(c) => json!({ "a": x.series.name, "b": y.series.name, "comparison": c }),
                Err(why) => json!({ "a": x.series.name, "b": y.series.name, "incomparable": why }),
            })
            .collect();
        print_json(&rows)?;
    } else {
        let mut table = Table::new(&["series"], &["A", "B", "A / B", "95 %"]);
        table.headers.push(kizami_report::Header { text: "difference".into(), number: false });
        for (x, y, result) in compared {
            let name = if x.series.name == y.series.name {
                x.series.name.clone()
            } else {
                format!("{} / {}", x.series.name, y.series.name)
            };
            match result {
                Ok(c) => table.push(RowKind::Measured, row(name, *x, &c)),
                Err(why) => table.push(RowKind::Missing, [name, why]),
            }
        }
        table.note = format!("A: {}\nB: {}\nWhat is compared is the {measure}.", a.name(), b.name());
        print_text(&text::write_table(&table, Look { colour: style.colour, width: style.width }))?;
    }
    let damaged = !a.reader.damage().is_empty() || !b.reader.damage().is_empty();
    Ok(if damaged { exit::DAMAGED } else { 0 })
}

impl Side {
    fn name(&self) -> String {
        let folder = self.reader.folder().display();
        self.series.as_ref().map_or_else(|| folder.to_string(), |series| format!("{folder}:{series}"))
    }
}

/// `RECORDING`, `RECORDING:SERIES`, or `SERIES` of the newest recording.
fn side(text: &str, style: &Style) -> Result<Side, Exit> {
    let (folder, series): (PathBuf, Option<String>) = match text.rsplit_once(':') {
        _ if Path::new(text).is_dir() => (text.into(), None),
        Some((folder, series)) => (folder.into(), Some(series.to_owned())),
        None => (paths::recording(None)?, Some(text.to_owned())),
    };
    Ok(Side { reader: open(&folder, style)?, series })
}

/// The series to compare: the two that were named, or all that both recordings have.
fn pairs<'s>(a: &'s Side, b: &'s Side) -> Result<Vec<(Loaded<'s>, Loaded<'s>)>, Exit> {
    let named = |side: &'s Side, name: &str| {
        let names = || side.reader.series().map(|s| s.series.name.clone()).collect::<Vec<_>>().join(", ");
        let folder = side.reader.folder().display();
        side.reader
            .find(name)
            .ok_or_else(|| Exit::usage(format!("{folder} has no series {name:?}; it has {}", names())))
    };
    match (&a.series, &b.series) {
        (Some(x), Some(y)) => Ok(vec![(named(a, x)?, named(b, y)?)]),
        (Some(x), None) | (None, Some(x)) => Ok(vec![(named(a, x)?, named(b, x)?)]),
        (None, None) => {
            let measured = a.reader.series().filter(|s| s.series.measured() != Measured::Watched);
            let pairs: Vec<_> = measured.filter_map(|x| Some((x, b.reader.find(&x.series.name)?))).collect();
            if pairs.is_empty() {
                return Err(Exit::usage("the two recordings have no series of the same name; name one of each"));
            }
            Ok(pairs)
        }
    }
}

fn of_pair(
    a: Loaded<'_>,
    b: Loaded<'_>,
    together: bool,
    measure: Measure,
    options: &Options,
) -> Result<Comparison, String> {
    if a.series.measured() != b.series.measured() {
        return Err("they do not measure the same quantity".into());
    }
    if a.series.emulated != b.series.emulated {
        return Err("one of them is an emulator's: its times are not compared with native ones".into());
    }
    let design = if together { a.design_with(&b) } else { Design::Apart };
    let (a, b) = (a.trial_values(), b.trial_values());
    let a: Vec<&dyn Samples> = a.iter().map(|v| &**v as &dyn Samples).collect();
    let b: Vec<&dyn Samples> = b.iter().map(|v| &**v as &dyn Samples).collect();
    compare::compare(&a, &b, design, measure, options).map_err(|why| why.to_string())
}

fn row(name: String, series: Loaded<'_>, c: &Comparison) -> [String; 6] {
    let (unit, per) = (unit_of(series.series), series.series.operations_of_one());
    let verdict = match c.verdict {
        Verdict::Lower => "A is lower",
        Verdict::Higher => "A is higher",
        Verdict::NoDifferenceSupported => "not supported",
    };
    [
        name,
        unit.value(c.a / per),
        unit.value(c.b / per),
        format!("{:.3}", c.ratio),
        format!("{:.3} to {:.3}", c.interval.low, c.interval.high),
        verdict.to_owned(),
    ]
}
