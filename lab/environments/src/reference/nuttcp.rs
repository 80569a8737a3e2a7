//! nuttcp: TCP throughput, and UDP throughput and loss at an offered rate.
//!
//! nuttcp gives one figure a start: a row with the time of the whole transfer and the bytes that went through. Its data
//! port is given apart from its control port, on which the server listens.

use kizami_workloads::Params;

use super::tool::{Gives, Output, PartRows, Tool, only};
use crate::environment::Job;

pub static NUTTCP: Tool = Tool {
    name: "nuttcp",
    title: "nuttcp",
    package: "nuttcp",
    version: &["-V"],
    workloads: &["tcp", "udp"],
    limits,
    arguments,
    server: Some(|port| vec!["-S".into(), "--nofork".into(), format!("-P{port}")]),
    gives: Gives::Figure,
    first_waits: false,
    rows,
};

/// Its receiver just reads.
fn limits(params: &Params) -> Result<(), String> {
    if params.workload().name == "udp" { Ok(()) } else { only(params, &[("wait", &["read"])]) }
}

fn arguments(job: &Job, _: &std::path::Path, port: u16) -> Vec<String> {
    let params = &job.params;
    let seconds = params.number("duration") as f64 / 1e9;
    let mut arguments =
        vec!["-fparse".to_owned(), format!("-P{port}"), format!("-p{}", port + 1), format!("-T{seconds}")];
    if job.workload().name == "udp" {
        arguments.extend(["-u".into(), format!("-l{}", params.number("size"))]);
        // It takes whole kilobits.
        arguments.push(format!("-R{}k", params.number("rate") / 1000));
    } else {
        arguments.push(format!("-l{}", params.number("chunk")));
        let buffer = params.number("buffer");
        if buffer > 0 {
            // In whole KiB.
            arguments.push(format!("-w{}", buffer.div_ceil(1024)));
        }
        arguments.push(if params.choice("direction") == "send" { "-t" } else { "-r" }.to_owned());
    }
    arguments.push("127.0.0.1".into());
    arguments
}

fn rows(output: &Output<'_>) -> Result<Vec<PartRows>, String> {
    let field = |name: &str| -> Result<f64, String> {
        let mut fields = output.stdout.split_whitespace().filter_map(|f| f.split_once('='));
        let value = fields.find(|(key, _)| *key == name).ok_or_else(|| format!("no {name}= in it"))?.1;
        value.parse().map_err(|_| format!("{name}={value} is no number"))
    };
    let (bytes, seconds) = (field("megabytes")? * f64::from(1 << 20), field("real_seconds")?);
    let (time, bytes) = ((seconds * 1e9).round() as u64, bytes.round() as u64);
    if output.params.workload().name != "udp" {
        return Ok(vec![(0, vec![vec![time, bytes]])]);
    }
    let (lost, received) = (field("drop")? as u64, field("pkt")? as u64);
    let sent = received + lost;
    Ok(vec![(0, vec![vec![time, output.params.number("rate"), sent, received, lost, 0, 0]])])
}
