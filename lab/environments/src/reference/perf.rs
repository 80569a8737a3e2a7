//! `perf bench`: sched messaging (message groups), sched pipe (round trips over two pipes) and syscall basic (getppid).
//!
//! Each start gives one figure, the mean over its loops, which is one sample. sched messaging has twenty senders and
//! receivers a group and messages of 100 bytes, and no option changes these.

use kizami_workloads::Params;

use super::tool::{Gives, Output, PartRows, Tool, number_after, number_before, only};
use crate::environment::Job;

pub static PERF: Tool = Tool {
    name: "perf",
    title: "perf bench",
    package: "linux-perf",
    version: &["--version"],
    workloads: &["messages", "pipe-rtt", "syscall"],
    limits,
    arguments,
    server: None,
    gives: Gives::Figure,
    first_waits: false,
    rows,
};

fn limits(params: &Params) -> Result<(), String> {
    let allowed: &[(&str, &[&str])] = match params.workload().name {
        "messages" => &[
            ("mode", &["fixed"]),
            ("rounds", &["1"]),
            ("senders", &["20"]),
            ("receivers", &["20"]),
            ("size", &["100B"]),
        ],
        "pipe-rtt" => &[("size", &["4B"]), ("placement", &["free"])],
        _ => &[("op", &["getppid"])],
    };
    only(params, allowed)
}

fn arguments(job: &Job, _: &std::path::Path, _: u16) -> Vec<String> {
    let (params, number) = (&job.params, |name| job.params.number(name).to_string());
    let mut arguments = vec!["bench".to_owned()];
    match job.workload().name {
        "messages" => {
            arguments.extend(["sched", "messaging", "-g"].map(str::to_owned));
            arguments.extend([number("groups"), "-l".into(), number("loops")]);
            if params.choice("channel") == "pipe" {
                arguments.push("-p".into());
            }
            if params.choice("tasks") == "threads" {
                arguments.push("-t".into());
            }
        }
        "pipe-rtt" => {
            arguments.extend(["sched", "pipe", "-l"].map(str::to_owned));
            arguments.push(number("trips"));
            if params.choice("partner") == "thread" {
                arguments.push("-T".into());
            }
        }
        _ => {
            arguments.extend(["syscall", "basic", "--loop"].map(str::to_owned));
            arguments.push((params.number("batch") * params.number("samples")).to_string());
        }
    }
    arguments
}

fn ns(time: f64) -> u64 {
    time.round() as u64
}

fn rows(output: &Output<'_>) -> Result<Vec<PartRows>, String> {
    let text = output.stdout;
    let params = output.params;
    let row = match params.workload().name {
        "messages" => vec![ns(number_after(text, "Total time:")? * 1e9), params.number("groups")],
        "pipe-rtt" => vec![ns(number_before(text, "usecs/op")? * 1e3)],
        // A sample of this workload times a batch of calls.
        _ => vec![ns(number_before(text, "usecs/op")? * 1e3 * params.number("batch") as f64)],
    };
    Ok(vec![(0, vec![row])])
}
