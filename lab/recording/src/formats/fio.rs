//! The JSON of fio with its histograms, written with `--output-format=json+`.
//!
//! Each direction of a job has the bins of its completion latencies, in nanoseconds: 64 of equal width for each power of two.
//! A bin is named by its middle, so a value is known within 0.8 %, and the extremes are beside it. Without `+` the file has
//! percentiles and no histogram. Source: fio, `stat.c` (`plat_idx_to_val`, `add_ddir_status_json`); files of version 3.33.
//!
//! An imported series is kept as counts, without an order.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Number;

use super::cyclictest::Pairs;
use super::error::Error;
use super::imported::{FILE, Imported, ImportedSeries, Rows, json};
use crate::folder::{Column, IMPORTED, Unit};

/// The file. What an importer does not need may be missing; what it does not know may be there.
#[derive(Debug, Deserialize)]
struct Json {
    #[serde(rename = "fio version")]
    version: String,
    timestamp: Option<u64>,
    #[serde(default, rename = "global options")]
    options: BTreeMap<String, String>,
    jobs: Vec<Job>,
}

#[derive(Debug, Deserialize)]
struct Job {
    jobname: String,
    #[serde(default)]
    error: i64,
    #[serde(default, rename = "job options")]
    options: BTreeMap<String, String>,
    read: Option<Direction>,
    write: Option<Direction>,
    trim: Option<Direction>,
}

#[derive(Debug, Deserialize)]
struct Direction {
    #[serde(default)]
    total_ios: u64,
    clat_ns: Option<Latency>,
    lat_ns: Option<Latency>,
}

#[derive(Debug, Deserialize)]
struct Latency {
    min: Number,
    max: Number,
    mean: Number,
    bins: Option<Pairs<u64>>,
}

/// Reads a file that is called `name`.
///
/// # Errors
/// The line that is not as fio writes it, or what does not fit together.
pub(super) fn import(bytes: &[u8], name: &str) -> Result<Imported, Error> {
    let json: Json = json(bytes, name, "what fio writes with --output-format=json+")?;
    let stem = name.strip_suffix(".json").unwrap_or(name);
    let mut notes = vec![format!(
        "{name}: a histogram has no order, so trends and intervals cannot be had of it; a value is the \
         middle of a bin of fio's, at most 0.8 % from what was measured"
    )];
    let started =
        json.timestamp.map(|seconds| std::time::UNIX_EPOCH.checked_add(std::time::Duration::from_secs(seconds)));
    let started = started.flatten().filter(|_| json.timestamp < Some(super::cyclictest::END_OF_9999));
    let started = started.map_or_else(String::new, |at| humantime::format_rfc3339_seconds(at).to_string());
    let mut series = Vec::new();
    let mut without = Vec::new();
    for job in json.jobs {
        if job.error != 0 {
            notes.push(format!("{name}: job {} ended with error {}", job.jobname, job.error));
        }
        for (direction, found) in [("read", job.read), ("write", job.write), ("trim", job.trim)] {
            let Some(found) = found.filter(|found| found.total_ios > 0) else { continue };
            let latencies = [("completion", found.clat_ns), ("total", found.lat_ns)];
            let kept = latencies.into_iter().find_map(|(kind, latency)| {
                let mut latency = latency?;
                let bins = latency.bins.take().filter(|bins| !bins.0.is_empty())?;
                Some((kind, latency, bins))
            });
            let Some((kind, latency, bins)) = kept else {
                without.push(format!("{direction} of job {}", job.jobname));
                continue;
            };
            let mut params = BTreeMap::from([
                (FILE.to_owned(), stem.to_owned()),
                ("job".to_owned(), job.jobname.clone()),
                ("direction".to_owned(), direction.to_owned()),
                ("latency".to_owned(), kind.to_owned()),
            ]);
            for (option, value) in json.options.iter().chain(&job.options).filter(|(option, _)| *option != "name") {
                params.insert(format!("fio {option}"), value.clone());
            }
            let facts = [
                ("reported_min_ns", &latency.min),
                ("reported_max_ns", &latency.max),
                ("reported_mean_ns", &latency.mean),
            ];
            series.push(ImportedSeries {
                name: format!("io-latency-{IMPORTED}-{stem}-{}-{direction}", job.jobname),
                workload: "io-latency".to_owned(),
                params,
                requested: BTreeMap::new(),
                part: String::new(),
                columns: vec![Column::new("time", Unit::Nanoseconds)],
                started: started.clone(),
                cold_rows: 0,
                beyond: None,
                facts: facts.into_iter().filter_map(|(fact, value)| Some((fact.to_owned(), value.as_f64()?))).collect(),
                rows: Rows::Counted(bins.0.into_iter().filter(|(_, count)| *count > 0).collect()),
            });
        }
    }
    if series.is_empty() {
        let why = match without.as_slice() {
            [] => "no job of it did anything".to_owned(),
            _ => "it has percentiles and no histogram: let fio write --output-format=json+".to_owned(),
        };
        return Err(Error::new(name, None, why));
    }
    notes.extend(
        without.into_iter().map(|which| format!("{name}: there is no histogram of {which}, so it is left out")),
    );
    let tool = ("fio".to_owned(), json.version);
    Ok(Imported { tool: Some(tool), host: BTreeMap::new(), notes, series })
}
