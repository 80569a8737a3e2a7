//! Background loads that this probe runs itself, where those of the lab's machine would not be noticed: in a virtual machine whose clock
//! are its instructions. They are children of the probe, as the lab has them elsewhere.

use std::fs;
use std::io::{BufRead, BufReader, Lines};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use kizami_protocol::Report;
use kizami_recording::folder::Effective;

/// The name of the setting.
const LOAD: &str = "load";

struct Load {
    name: String,
    child: Child,
    stdin: Option<ChildStdin>,
    reports: Lines<BufReader<ChildStdout>>,
}

/// The loads, until they are stopped.
#[derive(Default)]
pub struct Beside(Vec<Load>);

impl Beside {
    /// Starts them, and comes back when each of them works.
    pub fn start(names: &[String], scratch: &Path) -> Result<Self, String> {
        let mut beside = Self::default();
        for name in names {
            let failed = |e: std::io::Error| format!("the load {name} could not begin: {e}");
            let folder = scratch.join(format!("load-{name}"));
            fs::create_dir_all(&folder).map_err(failed)?;
            let mut command = Command::new("/proc/self/exe");
            command.args([LOAD, name]).arg(&folder).stdin(Stdio::piped()).stdout(Stdio::piped());
            let mut child = command.spawn().map_err(failed)?;
            let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
            let stdout = stdout.ok_or_else(|| format!("the load {name} says nothing"))?;
            beside.0.push(Load { name: name.clone(), child, stdin, reports: BufReader::new(stdout).lines() });
        }
        for load in &mut beside.0 {
            match load.next() {
                Some(Report::Ready {}) => {}
                Some(Report::Failed { why }) => return Err(format!("the load {} could not begin: {why}", load.name)),
                _ => return Err(format!("the load {} ended before it did anything", load.name)),
            }
        }
        Ok(beside)
    }

    /// Ends them: what was in force, and how much each did. Nothing where there were none.
    pub fn stop(mut self) -> Option<(Effective, Vec<(String, f64)>)> {
        let (mut facts, mut idle) = (Vec::new(), Vec::new());
        self.0.iter_mut().for_each(|load| drop(load.stdin.take()));
        for load in &mut self.0 {
            let mut operations = 0.0;
            while let Some(report) = load.next() {
                match report {
                    Report::Fact { value, .. } => operations = value,
                    Report::Failed { why } => idle.push(format!("{}: {why}", load.name)),
                    _ => {}
                }
            }
            if operations == 0.0 {
                idle.push(format!("{} did nothing", load.name));
            }
            facts.push((format!("load_{}_operations", load.name), operations));
        }
        let value = self.0.iter().map(|load| load.name.as_str()).collect::<Vec<_>>().join("+");
        (!value.is_empty()).then(|| (Effective { value, as_requested: idle.is_empty(), why: idle.join("; ") }, facts))
    }
}

impl Load {
    fn next(&mut self) -> Option<Report> {
        let line = self.reports.next()?.ok()?;
        serde_json::from_str(&line).ok()
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        // The end of its input ends it; one that does not look is ended.
        drop(self.stdin.take());
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
