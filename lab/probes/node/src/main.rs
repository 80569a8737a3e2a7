//! The probe for a machine without an MMU. What it does, checks and times are the workloads of a Linux process of the same names
//! (`lab/workloads`), with what such a machine has: no fork, so that partners are processes that share this one's memory.
//!
//! What to do stands in a file, a word `name=value` a line; it reports on a serial line of its own. Rows go out after the last sample.
#![cfg_attr(target_os = "none", no_std, no_main)]

extern crate alloc;

mod calls;
mod footprint;
mod job;
mod loads;
mod locks;
mod memory;
mod messages;
mod network;
mod partner;
mod rings;
mod samples;
mod sleeps;

use alloc::format;
use alloc::string::String;

use job::Job;
use loads::Loads;
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

/// `probe [JOB [LINE]]`, and behind it `probe ended STATUS`, which tells of one that could not do so itself.
fn begin(words: &[&str]) -> i32 {
    if let [_, "ended", status] = words {
        // Below, it has said all.
        return if status.parse::<u32>().is_ok_and(|status| status >= KILLED) {
            reporting(JOB, LINE, killed)
        } else {
            0
        };
    }
    reporting(words.get(1).unwrap_or(&JOB), words.get(2).unwrap_or(&LINE), run)
}

/// The status of a program that a signal has ended begins here.
const KILLED: u32 = 128;

fn reporting(file: &str, line: &str, work: fn(&mut Job<'_>) -> Result<(), String>) -> i32 {
    let line = match Fd::open(line, O_RDWR) {
        Ok(line) => line,
        Err(why) => {
            node::eprintln!("the lab cannot be told of anything: {line}: {why}");
            return 2;
        }
    };
    let done = files::text(file).map_err(|why| format!("{file}: {why}")).and_then(|text| {
        let arguments = Arguments(text.lines().map(String::from).collect());
        work(&mut Job::new(&arguments, line.number()))
    });
    match done {
        Ok(()) => 0,
        Err(why) => {
            report::failed(&mut Output::to(line.number()), &why);
            1
        }
    }
}

/// The probe was killed: why, as far as the kernel says it.
fn killed(job: &mut Job<'_>) -> Result<(), String> {
    let log = node::sys::process::kernel_log().unwrap_or_default();
    let log = String::from_utf8_lossy(&log);
    let why = match log.contains("Out of memory") {
        true => "the kernel killed the processes, since there was no memory left",
        false => "the processes were killed",
    };
    match job.arguments.text("workload")? {
        "messages" => messages::killed(job, why),
        _ => Err(why.into()),
    }
}

fn run(job: &mut Job<'_>) -> Result<(), String> {
    let loads = Loads::start(job.arguments)?;
    job.at_end(move |out| loads.say(out));
    job.wait_for_its_place()?;
    let job = &*job;
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
        "tcp" => network::stream(job),
        "udp" => network::datagrams(job),
        "footprint" => footprint::footprint(job),
        other => Err(format!("this probe does not know the workload {other:?}")),
    }
}
