//! `kizami compare`: ratios of series with their intervals and verdicts.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use kizami_recording::folder::{Loaded, Measured, Reader};
use kizami_recording::stats::compare::{self, ENOUGH_TRIALS, Measure, Method};
use kizami_recording::stats::{Comparison, Design, Samples, Support, Verdict};
use kizami_report::text::{self, Look};
use kizami_report::{RowKind, Table, unit_of};
use serde_json::json;

use super::output::{print_json, print_text};
use super::recorded::open;
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
    // Series of one run were interleaved; those of two runs were not.
    let together = same_recording(&a, &b);
    let pairs = pairs(&a, &b)?;
    let measure = match args.measure {
        cli::Measure::Median => Measure::Median,
        cli::Measure::Mean => Measure::Mean,
        cli::Measure::P99 => Measure::P99,
        cli::Measure::Min => Measure::Min,
        cli::Measure::Max => Measure::Max,
    };
    let compared = pairs.iter().map(|(x, y)| (x, y, of_pair(*x, *y, together, measure)));
    if json {
        let rows: Vec<_> = compared
            .map(|(x, y, result)| match result {
                Ok(c) => json!({ "a": x.series.name, "b": y.series.name, "measure": measure, "comparison": c }),
                Err(why) => json!({ "a": x.series.name, "b": y.series.name, "measure": measure, "incomparable": why }),
            })
            .collect();
        print_json(&rows)?;
    } else {
        let mut table = Table::new(&["series"], &["A", "B", "A / B", "95 %"]);
        table.headers.push(kizami_report::Header { text: "difference".into(), number: false });
        let mut methods = Vec::new();
        for (x, y, result) in compared {
            let name = if x.series.name == y.series.name {
                x.series.name.clone()
            } else {
                format!("{} / {}", x.series.name, y.series.name)
            };
            match result {
                Ok(c) => {
                    table.push(RowKind::Measured, row(name, *x, &c));
                    let method = method(&c);
                    if !methods.contains(&method) {
                        methods.push(method);
                    }
                }
                Err(why) => table.push(RowKind::Missing, [name, why]),
            }
        }
        table.note = format!(
            "A: {}\nB: {}\nWhat is compared is the {measure} of each start, of which A and B are the median. {}",
            a.name(),
            b.name(),
            methods.join(" ")
        );
        table.note.truncate(table.note.trim_end().len());
        print_text(&text::write_table(&table, Look { colour: style.colour, width: style.width }))?;
    }
    let damaged = !a.reader.damage().is_empty() || !b.reader.damage().is_empty();
    Ok(if damaged { exit::DAMAGED } else { 0 })
}

impl Side {
    fn name(&self) -> String {
        let folder = paths::shown(self.reader.folder());
        self.series.as_ref().map_or_else(|| folder.clone(), |series| format!("{folder}:{series}"))
    }
}

/// `RECORDING`, `RECORDING:SERIES`, or `SERIES` of the newest recording.
fn side(given: &OsStr, style: &Style) -> Result<Side, Exit> {
    if Path::new(given).is_dir() {
        return Ok(Side { reader: open(Path::new(given), style)?, series: None });
    }
    let text = given.to_str().ok_or_else(|| {
        let given = paths::shown(Path::new(given));
        Exit::usage(format!("{given} is no folder, and no text that could name a series"))
    })?;
    let (folder, series): (PathBuf, &str) = match text.rsplit_once(':') {
        Some((folder, series)) => (folder.into(), series),
        None => (paths::recording(None)?, text),
    };
    Ok(Side { reader: open(&folder, style)?, series: Some(series.to_owned()) })
}

/// Whether both are the same folder, by whatever path.
fn same_recording(a: &Side, b: &Side) -> bool {
    let real = |side: &Side| std::fs::canonicalize(side.reader.folder()).ok();
    a.reader.folder() == b.reader.folder() || (real(a).is_some() && real(a) == real(b))
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

fn of_pair(a: Loaded<'_>, b: Loaded<'_>, together: bool, measure: Measure) -> Result<Comparison, String> {
    if a.series.measured() != b.series.measured() {
        return Err("they do not measure the same quantity".into());
    }
    if a.series.emulated != b.series.emulated {
        return Err("one of them is an emulator's: its times are not compared with native ones".into());
    }
    let design = match a.design_with(&b) {
        Design::Rounds if !together => Design::Apart,
        design => design,
    };
    let (a, b) = (a.trial_values(), b.trial_values());
    let a: Vec<&dyn Samples> = a.iter().map(|v| &**v as &dyn Samples).collect();
    let b: Vec<&dyn Samples> = b.iter().map(|v| &**v as &dyn Samples).collect();
    compare::compare(&a, &b, design, measure).map_err(|why| why.to_string())
}

fn row(name: String, series: Loaded<'_>, c: &Comparison) -> [String; 6] {
    let (unit, per) = (unit_of(series.series), series.series.operations_of_one());
    let (interval, verdict) = match &c.support {
        None => (String::new(), "not supported"),
        Some(support) => {
            let verdict = match support.verdict {
                Verdict::Lower => "A is lower",
                Verdict::Higher => "A is higher",
                Verdict::NoDifferenceSupported => "not supported",
            };
            (format!("{:.3} to {:.3}", support.interval.low, support.interval.high), verdict)
        }
    };
    let ratio = format!("{:.3}", c.ratio);
    [name, unit.value(c.a / per), unit.value(c.b / per), ratio, interval, verdict.to_owned()]
}

/// How the interval of a ratio was had, or what it takes to have one.
fn method(c: &Comparison) -> String {
    match &c.support {
        None => format!(
            "{} a side support no difference, however many samples they have, because one start differs from the next: run both \
             with --trials {ENOUGH_TRIALS} or more, best in one run.",
            if c.trials == 1 { "One start".to_owned() } else { format!("{} starts", c.trials) }
        ),
        Some(Support { method: Method::Rounds, .. }) => {
            "Interleaved trials are compared round by round (Hodges and Lehmann's estimate; the interval is that of \
             Wilcoxon's signed ranks)."
                .to_owned()
        }
        Some(Support { method: Method::Trials, .. }) => {
            "Trials that were not interleaved are compared all with all (Hodges and Lehmann's estimate; the interval is that of \
             the rank-sum test)."
                .to_owned()
        }
        Some(Support { method: Method::Counted, .. }) => {
            "What an emulator counts does not vary, and is compared as it is.".to_owned()
        }
    }
}
