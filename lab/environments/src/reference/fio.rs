//! fio: the time of single writes and reads of a file, from its log of every operation.
//!
//! One job with one operation at a time, through the calls pread and pwrite (`ioengine=psync`), as in the workload. Of
//! fio's times the completion latency covers the call alone; the total latency also covers fio's own work before the
//! call.

use std::fs;

use kizami_workloads::Params;

use super::tool::{Output, PartRows, Tool, only};
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
    every_sample: true,
    rows,
};

/// The stem of its log's name, in the trial's folder.
const LOG: &str = "kizami";

fn limits(params: &Params) -> Result<(), String> {
    only(params, &[("op", &["write", "read"]), ("cache", &["hot", "direct"])])
}

fn arguments(job: &Job, _: &std::path::Path, _: u16) -> Vec<String> {
    let params = &job.params;
    let mut arguments: Vec<String> =
        ["--name=kizami", "--ioengine=psync", "--filename=data", "--log_offset=0"].map(str::to_owned).to_vec();
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
    arguments.push(format!("--write_lat_log={LOG}"));
    arguments
}

/// Lines of `milliseconds, latency in nanoseconds, direction, bytes, offset`; direction 2 is a sync.
fn rows(output: &Output<'_>) -> Result<Vec<PartRows>, String> {
    let path = output.scratch.join(format!("{LOG}_clat.1.log"));
    let text = fs::read_to_string(&path).map_err(|e| format!("its log {} cannot be read: {e}", path.display()))?;
    let rows = text.lines().map(|line| {
        let latency = line.split(',').nth(1).map(str::trim).and_then(|field| field.parse().ok());
        latency.map(|latency: u64| vec![latency]).ok_or_else(|| format!("no latency in {line:?}"))
    });
    Ok(vec![(0, rows.collect::<Result<_, _>>()?)])
}
