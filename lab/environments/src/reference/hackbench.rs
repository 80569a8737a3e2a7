//! hackbench (rt-tests): groups of senders and receivers over socket pairs or pipes.
//!
//! hackbench has twenty senders and twenty receivers a group (`-f` changes both) and times one round a start, so a
//! trial of several rounds is not the same measurement: `rounds` must be 1.

use kizami_workloads::Params;

use super::tool::{Gives, Output, PartRows, Tool, number_after, only};
use crate::environment::Job;

pub static HACKBENCH: Tool = Tool {
    name: "hackbench",
    title: "hackbench of rt-tests",
    package: "rt-tests",
    version: &["--help"],
    workloads: &["messages"],
    limits,
    arguments,
    server: None,
    gives: Gives::Figure,
    first_waits: false,
    rows,
};

fn limits(params: &Params) -> Result<(), String> {
    if params.number("senders") != params.number("receivers") {
        return Err("hackbench has as many senders as receivers".into());
    }
    only(params, &[("mode", &["fixed"]), ("rounds", &["1"])])
}

fn arguments(job: &Job, _: &std::path::Path, _: u16) -> Vec<String> {
    let number = |name| job.params.number(name).to_string();
    let mut arguments = Vec::new();
    for (flag, name) in [("-g", "groups"), ("-f", "senders"), ("-l", "loops"), ("-s", "size")] {
        arguments.extend([flag.to_owned(), number(name)]);
    }
    if job.params.choice("channel") == "pipe" {
        arguments.push("-p".into());
    }
    if job.params.choice("tasks") == "threads" {
        arguments.push("-T".into());
    }
    arguments
}

fn rows(output: &Output<'_>) -> Result<Vec<PartRows>, String> {
    let seconds = number_after(output.stdout, "Time:")?;
    Ok(vec![(0, vec![vec![(seconds * 1e9).round() as u64, output.params.number("groups")]])])
}
