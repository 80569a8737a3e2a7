//! The JSON of oslat (rt-tests), written with `--json=FILE`.
//!
//! Each thread has a histogram of how long an iteration of its busy loop took, rounded up to whole microseconds. The last
//! bucket also has all that was longer: where the greatest value lies beyond it, what is in it is known only to be at least
//! that long. Source: rt-tests, `src/oslat/oslat.c`; files of version 2.4.
//!
//! An imported series is kept as counts, without an order.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Number;

use super::cyclictest::{Pairs, host, rfc3339};
use super::error::Error;
use super::imported::{FILE, Imported, ImportedSeries, Rows, json, reported};
use crate::folder::{Column, IMPORTED, Unit};
use crate::stats::Beyond;

/// The file. What an importer does not need may be missing; what it does not know may be there.
#[derive(Debug, Deserialize)]
struct Json {
    file_version: u64,
    #[serde(rename = "cmdline:", default)]
    cmdline: String,
    #[serde(rename = "rt_test_version:", default)]
    version: String,
    #[serde(default)]
    start_time: String,
    #[serde(default)]
    return_code: i64,
    #[serde(default)]
    sysinfo: BTreeMap<String, serde_json::Value>,
    thread: Pairs<Thread>,
}

#[derive(Debug, Deserialize)]
struct Thread {
    cpu: u64,
    #[serde(rename = "freq")]
    _frequency: Number,
    min: Number,
    max: Number,
    avg: Number,
    histogram: Pairs<u64>,
}

/// Nanoseconds in the unit of the files.
const RESOLUTION: u64 = 1000;

/// Reads a file that is called `name`.
///
/// # Errors
/// The line that is not as oslat writes it, or what does not fit together.
pub(super) fn import(bytes: &[u8], name: &str) -> Result<Imported, Error> {
    let json: Json = json(bytes, name, "what oslat writes with --json")?;
    let error = |why: String| Error::new(name, None, why);
    if json.file_version != 1 {
        return Err(error(format!("it has file_version {}, and 1 is understood", json.file_version)));
    }
    let stem = name.strip_suffix(".json").unwrap_or(name);
    let mut notes = vec![format!(
        "{name}: a histogram has no order, so trends and intervals cannot be had of it; values were rounded \
         up to whole microseconds"
    )];
    if json.return_code != 0 {
        notes.push(format!("{name}: oslat ended with status {}", json.return_code));
    }
    let mut params = BTreeMap::from([(FILE.to_owned(), stem.to_owned())]);
    if !json.cmdline.is_empty() {
        params.insert("cmdline".to_owned(), json.cmdline);
    }
    let started = rfc3339(&json.start_time).unwrap_or_default();
    let mut series = Vec::with_capacity(json.thread.0.len());
    for (number, thread) in json.thread.0 {
        let part = format!("cpu{}", thread.cpu);
        let mut buckets = thread.histogram.0;
        let max = thread.max.as_f64().unwrap_or(0.0);
        let beyond = buckets.pop_if(|(last, count)| *count > 0 && max > *last as f64);
        if let Some((last, count)) = beyond {
            notes.push(format!(
                "{name}: {count} iterations of processor {} took {last} us or longer, and no more is known of them than that; \
                 the longest took {max} us",
                thread.cpu
            ));
        }
        let value = |(bucket, count): (u64, u64)| {
            let value = bucket.checked_mul(RESOLUTION);
            value
                .map(|value| (value, count))
                .ok_or_else(|| error(format!("thread {number}: {bucket} us is too large a time")))
        };
        let filled = buckets.into_iter().filter(|(_, count)| *count > 0);
        let rows = filled.map(value).collect::<Result<Vec<_>, _>>()?;
        if rows.is_empty() && beyond.is_none() {
            continue;
        }
        let beyond = beyond.map(|(last, count)| {
            let limit = last.saturating_mul(RESOLUTION).saturating_sub(1);
            Beyond { limit, count, max: Some((max * RESOLUTION as f64) as u64).filter(|max| *max > limit) }
        });
        series.push(ImportedSeries {
            name: format!("busy-loop-{IMPORTED}-{stem}-{part}"),
            workload: "busy-loop".to_owned(),
            params: params.clone(),
            requested: BTreeMap::new(),
            part,
            columns: vec![Column::new("time", Unit::Nanoseconds)],
            started: started.clone(),
            cold_rows: 0,
            beyond,
            facts: reported(&thread.min, &thread.max, &thread.avg, RESOLUTION),
            rows: Rows::Counted(rows),
        });
    }
    if series.is_empty() {
        return Err(error("it has no thread with a sample".into()));
    }
    let tool = ("oslat".to_owned(), json.version);
    Ok(Imported { tool: Some(tool), host: host(&json.sysinfo), notes, series })
}
