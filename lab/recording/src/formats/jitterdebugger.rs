//! The JSON of jitterdebugger, `results.json` in the folder that `-o` names.
//!
//! Each thread has a histogram: how often each latency was measured, in whole microseconds (rounded down), or in nanoseconds (`-N`).
//! It ends at a millisecond; latencies beyond it are in `count`, `max` and `avg` only, so they are samples that are only known to be
//! greater. What is called a processor in the file is the number of a thread: with `-a 1` thread 0 is on processor 1. Source:
//! jitterdebugger, `jitterdebugger.c`; files of version 0.3.1.
//!
//! An imported series is kept as counts, without an order.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Number;

use super::cyclictest::{Pairs, counted, host};
use super::error::Error;
use super::imported::{FILE, Imported, ImportedSeries, json, reported};
use crate::folder::{Column, IMPORTED, Unit};

/// The file. What an importer does not need may be missing; what it does not know may be there.
#[derive(Debug, Deserialize)]
struct Json {
    version: u64,
    #[serde(default)]
    sysinfo: BTreeMap<String, serde_json::Value>,
    cpu: Pairs<Thread>,
}

#[derive(Debug, Deserialize)]
struct Thread {
    histogram: Pairs<u64>,
    count: u64,
    min: Number,
    max: Number,
    avg: Number,
}

/// The versions of the file. The first had no `sysinfo`, and all times in microseconds.
const VERSIONS: std::ops::RangeInclusive<u64> = 1..=3;

/// Where a histogram ends, in nanoseconds.
const END: u64 = 1_000_000;

/// Reads a file that is called `name`.
///
/// # Errors
/// The line that is not as jitterdebugger writes it, or what does not fit together.
pub(super) fn import(bytes: &[u8], name: &str) -> Result<Imported, Error> {
    let json: Json = json(bytes, name, "what jitterdebugger writes to results.json")?;
    let error = |why: String| Error::new(name, None, why);
    if !VERSIONS.contains(&json.version) {
        let (first, last) = VERSIONS.into_inner();
        return Err(error(format!("it has version {}, and {first} to {last} are understood", json.version)));
    }
    let resolution = json.sysinfo.get("resolution_in_ns").map_or(Some(1000), serde_json::Value::as_u64);
    let (unit, unit_name) = match resolution {
        Some(1000) => (1000, "microseconds"),
        Some(1) => (1, "nanoseconds"),
        _ => return Err(error("resolution_in_ns is neither 1 nor 1000".into())),
    };
    let stem = name.strip_suffix(".json").unwrap_or(name);
    let mut notes = vec![format!(
        "{name}: a histogram has no order, so trends and intervals cannot be had of it; values were rounded down to whole \
         {unit_name}"
    )];
    // A thread that is late plans its next wake-up from the last plan, not from now.
    let params = BTreeMap::from([("mode".to_owned(), "every".to_owned()), (FILE.to_owned(), stem.to_owned())]);
    let mut series = Vec::with_capacity(json.cpu.0.len());
    for (number, thread) in json.cpu.0 {
        let Thread { histogram, count, min, max, avg } = thread;
        let (rows, beyond) = counted(&histogram, count, &max, unit, Some(END / unit))
            .map_err(|why| error(format!("thread {number}: {why}")))?;
        if count == 0 {
            continue;
        }
        if let Some(beyond) = beyond {
            notes.push(format!(
                "{name}: {} of {count} latencies of thread {number} lay beyond the end of the histogram, and no more is known of \
                 them than that; the highest was {max} {unit_name}",
                beyond.count
            ));
        }
        let part = format!("thread{number}");
        series.push(ImportedSeries {
            name: format!("wakeup-{IMPORTED}-{stem}-{part}"),
            workload: "wakeup".to_owned(),
            params: params.clone(),
            requested: BTreeMap::new(),
            part,
            columns: vec![Column::new("time", Unit::Nanoseconds)],
            started: String::new(),
            cold_rows: 0,
            beyond,
            facts: reported(&min, &max, &avg, unit),
            rows,
        });
    }
    if series.is_empty() {
        return Err(error("it has no thread with a sample".into()));
    }
    Ok(Imported { tool: None, host: host(&json.sysinfo), notes, series })
}
