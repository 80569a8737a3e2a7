//! cyclictest (rt-tests): the wake-up latency of absolute periodic timers.
//!
//! It prints every value in nanoseconds (`-v -N`), so that nothing is rounded into a histogram. It skips missed
//! periods, so only the mode `skip` is the same measurement, beside a thread that wakes every 10 ms: its main thread looks as often
//! whether it is to end. Its threads set their own policy, so the policy of the job
//! is among its arguments.

use kizami_workloads::Params;

use super::tool::{Gives, Output, PartRows, Tool, only};
use crate::environment::Job;

pub static CYCLICTEST: Tool = Tool {
    name: "cyclictest",
    title: "cyclictest of rt-tests",
    package: "rt-tests",
    version: &["--help"],
    workloads: &["wakeup"],
    limits,
    arguments,
    server: None,
    gives: Gives::EverySample,
    first_waits: true,
    rows,
};

fn limits(params: &Params) -> Result<(), String> {
    only(params, &[("mode", &["skip"])])?;
    only(params, &[("beside", &["10ms"])]).map_err(|why| format!("{why}: its main thread wakes as often, and shortens its wake-ups"))
}

fn arguments(job: &Job, _: &std::path::Path, _: u16) -> Vec<String> {
    let (params, us) = (&job.params, |name| (job.params.number(name) / 1000).to_string());
    let mut arguments: Vec<String> = ["-q", "-v", "-N", "-i"].map(str::to_owned).to_vec();
    arguments.push(us("interval"));
    arguments.extend(["-d".to_owned(), us("distance"), "-l".to_owned(), params.number("cycles").to_string()]);
    // It starts one thread unless told otherwise; with -a alone each thread is pinned to the processor of its number.
    match params.choice("threads") {
        "one" => arguments.push("-t1".into()),
        _ => arguments.extend(["-t".into(), "-a".into()]),
    }
    // It asks for the lowest idle latency by default; the workload leaves that to the setting of the machine.
    arguments.push("--laptop".into());
    match job.settings.get("policy").and_then(|policy| policy.split_once(':')) {
        Some((policy @ ("fifo" | "rr"), priority)) => {
            arguments.extend([format!("--policy={policy}"), format!("-p{priority}")]);
        }
        _ => arguments.push("--policy=other".into()),
    }
    if job.settings.get("lock_memory") == Some("true") {
        arguments.push("-m".into());
    }
    arguments
}

/// Lines of `thread: cycle: nanoseconds`.
fn rows(output: &Output<'_>) -> Result<Vec<PartRows>, String> {
    let mut parts: Vec<PartRows> = Vec::new();
    for line in output.stdout.lines() {
        let mut fields = line.split(':').map(str::trim);
        let (Some(thread), Some(_), Some(value), None) = (fields.next(), fields.next(), fields.next(), fields.next())
        else {
            continue;
        };
        let (Ok(thread), Ok(value)) = (thread.parse::<usize>(), value.parse::<u64>()) else { continue };
        match parts.iter_mut().find(|(part, _)| *part == thread) {
            Some((_, rows)) => rows.push(vec![value]),
            None => parts.push((thread, vec![vec![value]])),
        }
    }
    if parts.is_empty() { Err("no line of the form thread: cycle: value".into()) } else { Ok(parts) }
}
