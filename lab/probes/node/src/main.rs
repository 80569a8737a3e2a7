//! The probe for a machine without an MMU. What it does, checks and times are the workloads of a Linux process of the same names
//! (`lab/workloads`), with what such a machine has: no fork, so that partners are processes that share this one's memory.
//!
//! What to do stands in a file, a word `name=value` a line; it reports on a serial line of its own. Rows go out after the last sample.
#![cfg_attr(target_os = "none", no_std, no_main)]

extern crate alloc;

mod calls;
mod job;
mod locks;
mod messages;
mod partner;
mod rings;
mod sleeps;

use alloc::format;
use alloc::string::String;

use job::Job;
use node::output::Output;
use node::sys::Fd;
use node::sys::files::{self, O_RDWR};
use plain::{Arguments, report};

/// What to do, and where it is reported, if nothing else is said.
const JOB: &str = "/etc/job";
const LINE: &str = "/dev/ttyMPS1";

#[cfg(target_os = "none")]
node::main!(begin);

#[cfg(not(target_os = "none"))]
fn main() {
    let words: Vec<String> = std::env::args().collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    std::process::exit(begin(&words));
}

fn begin(words: &[&str]) -> i32 {
    let [file, line] = [words.get(1).unwrap_or(&JOB), words.get(2).unwrap_or(&LINE)];
    let line = match Fd::open(line, O_RDWR) {
        Ok(line) => line,
        Err(why) => {
            node::eprintln!("the lab cannot be told of anything: {line}: {why}");
            return 2;
        }
    };
    let done = files::text(file).map_err(|why| format!("{file}: {why}")).and_then(|text| {
        let arguments = Arguments(text.lines().map(String::from).collect());
        run(&Job::new(&arguments, line.number()))
    });
    match done {
        Ok(()) => 0,
        Err(why) => {
            report::failed(&mut Output::to(line.number()), &why);
            1
        }
    }
}

fn run(job: &Job<'_>) -> Result<(), String> {
    match job.arguments.text("workload")? {
        "empty" => calls::empty(job),
        "syscall" => calls::system_call(job),
        "signal" => calls::signal(job),
        "pipe-rtt" => rings::pipes(job),
        "fifo-rtt" => rings::fifos(job),
        "ctx-ring" => rings::ring(job),
        "fcntl-lock" => locks::exchanges(job),
        "messages" => messages::messages(job),
        "os-latency" => sleeps::latency(job),
        other => Err(format!("this probe does not know the workload {other:?}")),
    }
}
