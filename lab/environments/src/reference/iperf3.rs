//! iperf3: TCP throughput, and UDP throughput and loss at an offered rate, counted by sequence numbers.
//!
//! Its receiver waits with select() before each read, so only `wait=poll` is the same measurement. Its sender does before every
//! tenth write.

use kizami_workloads::Params;
use serde_json::Value;

use super::tool::{Gives, Output, PartRows, Tool, only};
use crate::environment::Job;

pub static IPERF3: Tool = Tool {
    name: "iperf3",
    title: "iperf3",
    package: "iperf3",
    version: &["--version"],
    workloads: &["tcp", "udp"],
    limits,
    arguments,
    server: Some(|port| vec!["-s".into(), "-1".into(), "-p".into(), port.to_string()]),
    gives: Gives::Figure,
    first_waits: false,
    rows,
};

fn limits(params: &Params) -> Result<(), String> {
    if params.workload().name == "udp" { Ok(()) } else { only(params, &[("wait", &["poll"])]) }
}

fn arguments(job: &Job, _: &std::path::Path, port: u16) -> Vec<String> {
    let params = &job.params;
    let seconds = (params.number("duration") as f64 / 1e9).ceil();
    let mut arguments: Vec<String> = ["-c", "127.0.0.1", "-J", "-p"].map(str::to_owned).to_vec();
    arguments.extend([port.to_string(), "-t".into(), seconds.to_string()]);
    if job.workload().name == "udp" {
        arguments.extend(["-u".into(), "-l".into(), params.number("size").to_string()]);
        arguments.extend(["-b".into(), params.number("rate").to_string()]);
    } else {
        arguments.extend(["-l".into(), params.number("chunk").to_string()]);
        let buffer = params.number("buffer");
        if buffer > 0 {
            arguments.extend(["-w".into(), buffer.to_string()]);
        }
        if params.choice("direction") == "receive" {
            arguments.push("-R".into());
        }
    }
    arguments
}

fn rows(output: &Output<'_>) -> Result<Vec<PartRows>, String> {
    let json: Value = serde_json::from_str(output.stdout).map_err(|e| e.to_string())?;
    if let Some(error) = json.get("error").and_then(Value::as_str) {
        return Err(error.to_owned());
    }
    let number = |section: &str, name: &str| -> Result<f64, String> {
        let value = json.pointer(&format!("/end/{section}/{name}")).and_then(Value::as_f64);
        value.ok_or_else(|| format!("no end.{section}.{name} in it"))
    };
    if output.params.workload().name != "udp" {
        let (seconds, bytes) = (number("sum_received", "seconds")?, number("sum_received", "bytes")?);
        return Ok(vec![(0, vec![vec![(seconds * 1e9).round() as u64, bytes as u64]])]);
    }
    let (seconds, sent, lost) = (number("sum", "seconds")?, number("sum", "packets")?, number("sum", "lost_packets")?);
    let (time, sent, lost) = ((seconds * 1e9).round() as u64, sent as u64, lost as u64);
    Ok(vec![(0, vec![vec![time, output.params.number("rate"), sent, sent.saturating_sub(lost), lost, 0, 0]])])
}
