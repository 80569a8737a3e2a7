//! The request that starts a probe and the reports that follow it.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::ExitStatus;

use serde::{Deserialize, Serialize};

/// The job of a probe: one JSON object on its standard input.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Request {
    pub workload: String,
    /// Every parameter, in its written form.
    pub params: BTreeMap<String, String>,
    /// The names of the columns of each part.
    pub columns: Vec<Vec<String>>,
    /// The settings that the probe applies to itself, in their written form.
    pub settings: BTreeMap<String, String>,
    /// A folder for the workload's own files; it is empty, and removed afterwards.
    pub scratch: PathBuf,
    #[serde(default)]
    pub start: Start,
    /// Where the partner of a workload of the network listens, if it is outside of the environment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partner: Option<SocketAddr>,
    /// Background loads that run beside it, where those of the lab's machine would not be noticed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub loads: Vec<String>,
}

/// How the start of this probe went until now. Times are nanoseconds of the probe's CLOCK_MONOTONIC; what was before that clock
/// began is negative.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Start {
    /// The lab began to start it, or the machine that it is in.
    pub began: i64,
    /// Of a machine with a kernel of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<MachineStart>,
}

/// How a machine with a kernel of its own came up. Its clock begins with its kernel.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MachineStart {
    /// It ran its first instruction.
    pub runs: i64,
    /// Its first process began.
    pub init: i64,
    /// The probe that is its agent began.
    pub agent: i64,
}

/// What has to be done once the lab has ended, in whatever way: in this order, each step also after one that failed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Keep {
    /// Programs to be run to their end, with their arguments.
    pub run: Vec<Vec<String>>,
    /// A program that runs from the beginning and is asked to end then; killed if it does not.
    pub daemon: Vec<String>,
    /// Folders to be removed, with what is mounted in them; what a daemon says goes to the file `log` in the first.
    pub folders: Vec<PathBuf>,
    /// A control group at the root of its hierarchies, to be removed with what is in it.
    pub cgroup: Option<String>,
}

impl Keep {
    /// The line that stands for it, without its end.
    pub fn line(&self) -> String {
        // Of all that it holds, a path alone may be what JSON cannot write; it was checked as a text before.
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// A message of a probe: one JSON object a line, whose only key is the name of the variant.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Report {
    /// Set up; the measurement begins.
    Ready {},
    /// A setting as it was read back in the thread that measures.
    Effective { setting: String, value: String, as_requested: bool, why: String },
    /// Rows of a part, in the order in which they were taken.
    Rows { part: usize, rows: Vec<Vec<u64>> },
    /// A figure beside the samples.
    Fact { name: String, value: f64 },
    /// The probe ends without having done all of it; what was recorded before stays.
    Failed { why: String },
    /// All done.
    Done {},
}

impl Report {
    /// Reads one line.
    ///
    /// # Errors
    /// A sentence with the line, when it is not a report.
    pub fn parse(line: &str) -> Result<Self, String> {
        serde_json::from_str(line).map_err(|e| {
            let shown: String = line.chars().take(120).collect();
            format!("the probe said something that is no report ({e}): {shown}")
        })
    }

    /// The line that stands for it, without its end.
    pub fn line(&self) -> String {
        // A value of these types always has a JSON form: keys are text and numbers are finite or become null.
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// How a probe ended, in words.
pub fn ending(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(0), _) => "ended".into(),
        (Some(code), _) => format!("ended with exit status {code}"),
        (_, Some(libc::SIGKILL)) => "was killed (signal 9; the kernel does so when memory runs out)".into(),
        (_, Some(signal)) => format!("was ended by signal {signal}"),
        _ => "ended in an unknown way".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_have_the_lines_that_a_probe_in_any_language_writes() {
        let lines = [
            (Report::Ready {}, r#"{"ready":{}}"#),
            (
                Report::Rows { part: 0, rows: vec![vec![1, 2], vec![3, 4]] },
                r#"{"rows":{"part":0,"rows":[[1,2],[3,4]]}}"#,
            ),
            (Report::Failed { why: "no \"luck\"".into() }, r#"{"failed":{"why":"no \"luck\""}}"#),
            (Report::Done {}, r#"{"done":{}}"#),
        ];
        for (report, line) in lines {
            assert_eq!(report.line(), line);
            assert_eq!(Report::parse(line), Ok(report));
        }
    }

    #[test]
    fn a_fact_may_be_written_as_a_whole_number() {
        let fact = Report::Fact { name: "clock_pair_ns".into(), value: 25.0 };
        assert_eq!(Report::parse(r#"{"fact":{"name":"clock_pair_ns","value":25}}"#), Ok(fact));
    }

    #[test]
    fn what_is_no_report_is_refused_and_shown() {
        let error = Report::parse("Segmentation fault").expect_err("no report");
        assert!(error.contains("Segmentation fault"), "{error}");
        assert!(Report::parse(r#"{"rows":{"part":0,"rows":[[-1]]}}"#).is_err());
    }
}
