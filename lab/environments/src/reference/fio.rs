//! fio: the time of single writes and reads of a file, by its own log of every operation.
//!
//! One job, one at a time, through the calls pread and pwrite (`ioengine=psync`), as the workload does. Of its times the
//! completion latency is that of the call alone; its total latency also has what fio does for itself before.

use std::fs;

use kizami_workloads::Params;

use super::{Output, PartRows, Tool, only};
use crate::job::Job;

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
    if params.choice("cache") == "hot" {
        // It would drop the cache before it begins.
        arguments.push("--invalidate=0".into());
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
