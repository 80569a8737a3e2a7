//! The JSON of hyperfine, written with `--export-json`: each command with the time of every run, in seconds.
//!
//! The runs are in the order in which they were made; warm-up runs are not in the file. Unless it ran with `-N`, hyperfine
//! has subtracted the mean time that its shell takes to start. Source: hyperfine, `src/benchmark/benchmark_result.rs`; files
//! of version 1.15.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::error::Error;
use super::imported::{FILE, Imported, ImportedSeries, Rows, json};
use crate::folder::{Column, IMPORTED, Unit};

/// The file. What an importer does not need may be missing; what it does not know may be there.
#[derive(Debug, Deserialize)]
struct Json {
    results: Vec<Benchmarked>,
}

#[derive(Debug, Deserialize)]
struct Benchmarked {
    command: String,
    times: Option<Vec<f64>>,
    #[serde(default)]
    exit_codes: Vec<Option<i64>>,
    #[serde(default)]
    parameters: BTreeMap<String, serde_json::Value>,
}

/// Reads a file that is called `name`.
///
/// # Errors
/// The line that is not as hyperfine writes it, or what does not fit together.
pub(super) fn import(bytes: &[u8], name: &str) -> Result<Imported, Error> {
    let json: Json = json(bytes, name, "what hyperfine writes with --export-json")?;
    let stem = name.strip_suffix(".json").unwrap_or(name);
    let mut notes = vec![format!(
        "{name}: unless hyperfine ran with -N, it subtracted the time that its shell takes to start from each run"
    )];
    let mut series = Vec::with_capacity(json.results.len());
    for (index, one) in json.results.into_iter().enumerate() {
        let wrong = |why: String| Error::new(name, None, format!("result {} ({}): {why}", index + 1, one.command));
        let times = one.times.as_deref().filter(|times| !times.is_empty());
        let times = times.ok_or_else(|| wrong("it has no times of single runs".into()))?;
        let cells = times.iter().map(|seconds| nanoseconds(*seconds)).collect::<Result<_, _>>().map_err(wrong)?;
        let failed = one.exit_codes.iter().filter(|code| **code != Some(0)).count();
        if failed > 0 {
            notes.push(format!(
                "{name}: {failed} of {} runs of {} did not end with status 0",
                times.len(),
                one.command
            ));
        }
        let mut params = BTreeMap::from([(FILE.to_owned(), stem.to_owned()), ("command".to_owned(), one.command)]);
        for (parameter, value) in one.parameters {
            let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            params.insert(format!("parameter {parameter}"), value);
        }
        let number = if index == 0 { String::new() } else { format!("-{}", index + 1) };
        series.push(ImportedSeries {
            name: format!("run-time-{IMPORTED}-{stem}{number}"),
            workload: "run-time".to_owned(),
            params,
            requested: BTreeMap::new(),
            part: String::new(),
            columns: vec![Column::new("time", Unit::Nanoseconds)],
            started: String::new(),
            cold_rows: 0,
            beyond: None,
            facts: BTreeMap::new(),
            rows: Rows::Cells(cells),
        });
    }
    if series.is_empty() {
        return Err(Error::new(name, None, "it has no result"));
    }
    Ok(Imported { tool: None, host: BTreeMap::new(), notes, series })
}

fn nanoseconds(seconds: f64) -> Result<u64, String> {
    let ns = (seconds * 1e9).round();
    // Less than nothing is what is left of a quick command when the shell's time is subtracted.
    if !(-1e15..1e18).contains(&ns) {
        return Err(format!("{seconds:?} s is no time that a command takes"));
    }
    Ok(ns.max(0.0) as u64)
}
