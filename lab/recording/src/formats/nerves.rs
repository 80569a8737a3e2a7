//! The rows of nerves_rt_perf, the program of the study "real-time behaviour of Nerves" (Takase et al.).
//!
//! A file is one run of one function in an Erlang process: `count,time,heap_size,minor_gcs`, lines ended by CR LF,
//! times in whole microseconds (rounded down), `count` from 1; the unmeasured warm-up is row 0 and not written. Two
//! functions have several times a row (`time_for_0,time_for_1,…` and `time_1,time_2`), so any number of columns whose
//! names begin with `time` is accepted; the first is the sample.
//!
//! The file's name is `<target>-<Group>-<Case>_<parameter>-<HHMMSS>.csv`: the group is the setting that was changed,
//! the case the function. A combination of settings that the study does not have is exported under the group `Kizami`,
//! with the settings as parameter. Source: takasehideki/nerves_rt_perf, `lib/nerves_rt_perf/`.

use std::collections::BTreeMap;
use std::io::Write;

use super::error::{Error, NotExported};
use super::imported::{Imported, ImportedSeries, Rows};
use super::rows::each_row;
use crate::folder::{Column, IMPORTED, Loaded, Series, Trial, Unit};

/// Nanoseconds in the unit of the files.
const RESOLUTION: u64 = 1000;

/// The groups of the study, and the setting that each changes.
const GROUPS: [(&str, &str); 6] = [
    ("Base", ""),
    ("CpuFreq", "governor"),
    ("GcFsa", "fullsweep_after"),
    ("GcMin", "min_heap_size"),
    ("Priority", "priority"),
    (OWN_GROUP, ""),
];

/// The group of what the study has none for.
const OWN_GROUP: &str = "Kizami";

/// What the study calls a process without the group's option.
const UNCHANGED: &str = "normal";

/// The columns beside the times.
const HEAP: [(&str, Unit); 2] = [("heap_size", Unit::Words), ("minor_gcs", Unit::Count)];

/// Writes the warm rows of one trial.
///
/// # Errors
/// When the series is not of an Erlang process, there is no such trial, or `out` refuses.
pub fn export(series: &Loaded<'_>, trial: usize, out: &mut dyn Write) -> Result<(), NotExported> {
    let columns = &series.series.columns;
    let is_time = |c: &Column| c.name.starts_with("time") && c.unit == Unit::Nanoseconds;
    let times: Vec<usize> = (0..columns.len()).filter(|&c| is_time(&columns[c])).collect();
    let heap: Vec<usize> = HEAP.iter().filter_map(|(name, _)| series.series.column(name)).collect();
    let (name, count) = (&series.series.name, series.series.trials.len());
    if times.is_empty() || heap.len() < HEAP.len() {
        return Err(NotExported::Impossible(format!(
            "series {name} has no time, heap_size and minor_gcs: only an Erlang process has them"
        )));
    }
    if trial >= count {
        return Err(NotExported::Impossible(format!("series {name} has {count} trials and no trial {}", trial + 1)));
    }
    let chosen: Vec<usize> = times.iter().chain(&heap).copied().collect();
    let names: Vec<&str> = chosen.iter().map(|&column| columns[column].name.as_str()).collect();
    write!(out, "count,{}\r\n", names.join(","))?;
    let views: Vec<_> = chosen.iter().map(|&column| series.trials_of(column).swap_remove(trial)).collect();
    let rows = crate::stats::Samples::len(&views[0]);
    let mut count = 0;
    each_row(&views, 0, rows, |cells| {
        count += 1;
        write!(out, "{count}")?;
        for (index, cell) in cells.iter().enumerate() {
            let unit = if index < times.len() { RESOLUTION } else { 1 };
            write!(out, ",{}", cell / unit)?;
        }
        out.write_all(b"\r\n")
    })?;
    Ok(out.flush()?)
}

/// The name that the program would give to the file of a trial.
pub fn file_name(series: &Series, trial: &Trial) -> String {
    let target = series.params.get("target").unwrap_or(&series.environment);
    let mut settings: Vec<(&str, &str)> = series.requested.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect();
    // The functions of the study are in Elixir.
    let lang = series.params.get("lang").map_or("elixir", String::as_str);
    if lang != "elixir" {
        settings.push(("lang", lang));
    }
    let of_study = |setting: &str| GROUPS.iter().find(|(_, own)| !own.is_empty() && *own == setting);
    let (group, param) = match settings[..] {
        [] => ("Base", UNCHANGED.to_owned()),
        [(setting, value)] if value != UNCHANGED && of_study(setting).is_some() => {
            (of_study(setting).map_or(OWN_GROUP, |(group, _)| group), value.to_owned())
        }
        _ => {
            let pairs: Vec<String> = settings.iter().map(|(name, value)| format!("{name}={value}")).collect();
            (OWN_GROUP, pairs.join(";"))
        }
    };
    let mut case = series.workload.clone();
    if let Some(first) = case.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    let time: String = trial.started.chars().skip(11).take(8).filter(char::is_ascii_digit).collect();
    format!("{target}-{group}-{case}_{param}-{time:0<6}.csv").replace(['/', '\0'], "_")
}

/// Reads a file that is called `name`.
///
/// # Errors
/// The line that is not as the program writes it.
pub(super) fn import(bytes: &[u8], name: &str) -> Result<Imported, Error> {
    let mut lines = bytes.split(|byte| *byte == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line)).zip(1..);
    let header: Vec<&[u8]> = lines.next().map_or_else(Vec::new, |(line, _)| line.split(|byte| *byte == b',').collect());
    let columns = columns(&header).map_err(|why| Error::new(name, 1, why))?;
    let (mut cells, mut first, mut expected) = (Vec::new(), None, None);
    while let Some((row, line)) = lines.next() {
        if row.is_empty() && lines.clone().all(|(row, _)| row.is_empty()) {
            break;
        }
        let wrong = |why: String| Error::new(name, line, why);
        let fields = row.split(|byte| *byte == b',');
        if fields.clone().count() != header.len() {
            let (found, wanted) = (fields.count(), header.len());
            return Err(wrong(format!("it has {found} fields, and {wanted} were expected, as in the header")));
        }
        let mut values = fields.zip(&header).map(|(field, column)| number(field, column));
        let count = values.next().unwrap_or(Ok(0)).map_err(wrong)?;
        let fits = expected.map_or(count <= 1, |expected| count == expected);
        if !fits {
            let expected =
                expected.map_or_else(|| "0 or 1 is the first".to_owned(), |n: u64| format!("{n} comes next"));
            return Err(wrong(format!("count is {count}, and {expected}: a row is missing")));
        }
        first = first.or(Some(count));
        expected = Some(count + 1);
        for (value, column) in values.zip(&columns) {
            let unit = if column.unit == Unit::Nanoseconds { RESOLUTION } else { 1 };
            let too_large = || format!("{} is too large a time", column.name);
            let cell = value.and_then(|value| value.checked_mul(unit).ok_or_else(too_large));
            cells.push(cell.map_err(wrong)?);
        }
    }
    let Some(first) = first else {
        let why = "it has no row: nerves_rt_perf writes them all at the end of its run, so that was not reached";
        return Err(Error::new(name, None, why));
    };
    let mut notes = vec![format!("{name}: times were rounded down to whole microseconds when they were written")];
    let Told { workload, name: series, params, requested } = Told::by(name, &mut notes);
    let series = ImportedSeries {
        name: series,
        workload,
        params,
        requested,
        part: String::new(),
        columns,
        started: String::new(),
        cold_rows: u64::from(first == 0),
        beyond: None,
        facts: BTreeMap::from([("resolution_ns".to_owned(), RESOLUTION as f64)]),
        rows: Rows::Cells(cells),
    };
    Ok(Imported { tool: None, host: BTreeMap::new(), notes, series: vec![series] })
}

/// The columns after `count`.
fn columns(names: &[&[u8]]) -> Result<Vec<Column>, String> {
    let expected = || {
        let found: String = String::from_utf8_lossy(&names.join(&b',')).chars().take(80).collect();
        format!("the header is not count,time,heap_size,minor_gcs (or with several times) but {found:?}")
    };
    let is_time = |name: &[u8]| {
        name.starts_with(b"time") && name.iter().all(|c| c.is_ascii_alphanumeric() || *c == b'_') && name.len() < 64
    };
    let [b"count", times @ .., b"heap_size", b"minor_gcs"] = names else { return Err(expected()) };
    let unique = times.iter().enumerate().all(|(index, name)| !times[..index].contains(name));
    if times.is_empty() || times.len() > 64 || !unique || !times.iter().all(|name| is_time(name)) {
        return Err(expected());
    }
    let times = times.iter().map(|name| Column::new(String::from_utf8_lossy(name), Unit::Nanoseconds));
    Ok(times.chain(HEAP.map(|(name, unit)| Column::new(name, unit))).collect())
}

fn number(field: &[u8], column: &[u8]) -> Result<u64, String> {
    let digits = std::str::from_utf8(field).ok().filter(|text| text.bytes().all(|c| c.is_ascii_digit()));
    digits.and_then(|text| text.parse().ok()).ok_or_else(|| {
        let found: String = String::from_utf8_lossy(field).chars().take(40).collect();
        format!("{} is {found:?}: a whole number was expected", String::from_utf8_lossy(column))
    })
}

/// What the name of a file says.
struct Told {
    workload: String,
    name: String,
    params: BTreeMap<String, String>,
    requested: BTreeMap<String, String>,
}

impl Told {
    fn by(file: &str, notes: &mut Vec<String>) -> Self {
        let stem = file.strip_suffix(".csv").unwrap_or(file);
        let mut params = BTreeMap::from([("lang".to_owned(), "elixir".to_owned())]);
        let mut requested = BTreeMap::new();
        let Some((target, (group, setting), case, param)) = parts(stem) else {
            notes.push(format!(
                "{file}: its name is not <target>-<Group>-<Case>_<parameter>-<HHMMSS>.csv, so neither the function nor \
                 its setting is known"
            ));
            return Self { workload: stem.to_lowercase(), name: format!("{stem}-{IMPORTED}"), params, requested };
        };
        let workload = case.to_lowercase();
        params.insert("target".to_owned(), target.to_owned());
        if group == OWN_GROUP {
            for (name, value) in param.split(';').filter_map(|pair| pair.split_once('=')) {
                let kind = if name == "lang" { &mut params } else { &mut requested };
                kind.insert(name.to_owned(), value.to_owned());
            }
        } else if param != UNCHANGED && !setting.is_empty() {
            // The study's word for the option 0.
            let value = if param == "zero" { "0" } else { param };
            requested.insert(setting.to_owned(), value.to_owned());
        }
        let lang = params.get("lang").filter(|lang| *lang != "elixir").map(|lang| format!("-lang={lang}"));
        let settings: String = requested.iter().map(|(name, value)| format!("-{name}={value}")).collect();
        let name = format!("{workload}-{IMPORTED}-{target}{}{settings}", lang.unwrap_or_default());
        Self { workload, name, params, requested }
    }
}

/// Target, group with its setting, case and parameter of a name without its ending.
fn parts(stem: &str) -> Option<(&str, (&'static str, &'static str), &str, &str)> {
    let found = GROUPS.iter().find_map(|group| {
        let between = format!("-{}-", group.0);
        let at = stem.find(&between)?;
        Some((&stem[..at], *group, &stem[at + between.len()..]))
    });
    let (target, group, rest) = found?;
    let (case, rest) = rest.split_once('_')?;
    // A parameter of the study has no hyphen; settings may.
    let (param, _) = if group.0 == OWN_GROUP { rest.rsplit_once('-')? } else { rest.split_once('-')? };
    let named = !target.is_empty() && !param.is_empty() && !case.is_empty();
    (named && case.bytes().all(|c| c.is_ascii_alphanumeric())).then_some((target, group, case, param))
}
