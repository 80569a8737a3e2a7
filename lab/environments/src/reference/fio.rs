//! fio: the time of single writes and reads of a file, from its histogram.
//!
//! One job with one operation at a time, through the calls pread and pwrite (`ioengine=psync`), as in the workload. Of
//! fio's times the completion latency covers the call alone; the total latency also covers fio's own work before the
//! call.
//!
//! fio can also write a log of every operation. Where the processor's first cache is small, that alone makes a cached read take
//! a third longer (docs/measuring.md), so it is not asked for.

use std::fs;

use kizami_recording::formats::{self, Rows};
use kizami_workloads::Params;

use super::tool::{Gives, Output, PartRows, Tool, only};
use crate::environment::Job;

pub static FIO: Tool = Tool {
    name: "fio",
    title: "fio",
    package: "fio",
    version: &["--version"],
    workloads: &["file"],
    limits,
    arguments,
    server: None,
    gives: Gives::Histogram,
    first_waits: false,
    rows,
};

/// Its output, in the trial's folder.
const JSON: &str = "kizami.json";

fn limits(params: &Params) -> Result<(), String> {
    only(params, &[("op", &["write", "read"]), ("cache", &["hot", "direct"])])
}

fn arguments(job: &Job, _: &std::path::Path, _: u16) -> Vec<String> {
    let params = &job.params;
    let mut arguments: Vec<String> =
        ["--name=kizami", "--ioengine=psync", "--filename=data", "--output-format=json+"].map(str::to_owned).to_vec();
    arguments.push(format!("--rw={}", params.choice("op")));
    arguments.push(format!("--bs={}", params.number("size")));
    arguments.push(format!("--size={}", params.number("size") * params.number("samples")));
    arguments.push(format!("--direct={}", u8::from(params.choice("cache") == "direct")));
    match (params.choice("cache"), params.choice("op")) {
        // It writes the file and drops it from the cache, and would read it from the disk, many blocks at a time.
        ("hot", "read") => arguments.push("--pre_read=1".into()),
        // It would drop the cache before it begins.
        ("hot", _) => arguments.push("--invalidate=0".into()),
        _ => {}
    }
    arguments.push(format!("--output={JSON}"));
    arguments
}

fn rows(output: &Output<'_>) -> Result<Vec<PartRows>, String> {
    let path = output.scratch.join(JSON);
    let bytes = fs::read(&path).map_err(|e| format!("its output {} cannot be read: {e}", path.display()))?;
    histogram(&bytes)
}

/// Of one job in one direction: each value, and how often it was measured.
fn histogram(json: &[u8]) -> Result<Vec<PartRows>, String> {
    let mut imported = formats::FIO.import(json, JSON).map_err(|e| e.to_string())?;
    match (imported.series.pop(), imported.series.pop()) {
        (Some(one), None) => match one.rows {
            Rows::Counted(bins) => Ok(vec![(0, bins.into_iter().map(|(value, count)| vec![value, count]).collect())]),
            Rows::Cells(_) => Err("it has no histogram".to_owned()),
        },
        _ => Err("it is not of one job in one direction".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn its_histogram_is_values_and_counts() {
        let direction = |bins: &str| {
            format!(
                r#""read": {{"total_ios": 3, "clat_ns": {{"min": 530, "max": 900, "mean": 650.0, "bins": {bins}}}}}"#
            )
        };
        let job = |directions: &str| {
            format!(r#"{{"fio version": "fio-3.33", "jobs": [{{"jobname": "kizami", {directions}}}]}}"#)
        };
        let read = histogram(job(&direction(r#"{"532": 2, "900": 1}"#)).as_bytes());
        assert_eq!(read, Ok(vec![(0, vec![vec![532, 2], vec![900, 1]])]));
        let both = direction(r#"{"532": 2}"#) + "," + &direction(r#"{"532": 2}"#).replace("read", "write");
        assert!(histogram(job(&both).as_bytes()).is_err_and(|why| why.contains("one direction")));
        assert!(histogram(b"fio: ").is_err_and(|why| why.contains("json+")));
    }
}
