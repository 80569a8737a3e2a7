//! Background loads that this probe runs itself, where those of the lab's machine would not be noticed: in a virtual machine whose clock
//! are its instructions. They are children of the probe, as the lab has them elsewhere.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Lines};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use kizami_protocol::{Report, Worked};
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
            match report(&mut load.reports) {
                Some(Report::Ready {}) => {}
                Some(Report::Failed { why }) => return Err(format!("the load {} could not begin: {why}", load.name)),
                _ => return Err(format!("the load {} ended before it did anything", load.name)),
            }
        }
        Ok(beside)
    }

    /// Ends them: what was in force, and how much each did. Nothing where there were none.
    pub fn stop(mut self) -> Option<(Effective, BTreeMap<String, f64>)> {
        self.0.iter_mut().for_each(|load| drop(load.stdin.take()));
        let mut worked = Worked::default();
        for load in &mut self.0 {
            worked.add(&load.name, std::iter::from_fn(|| report(&mut load.reports)));
        }
        (!self.0.is_empty()).then(|| worked.told())
    }
}

/// What a load says next.
fn report(reports: &mut Lines<BufReader<ChildStdout>>) -> Option<Report> {
    serde_json::from_str(&reports.next()?.ok()?).ok()
}

impl Drop for Load {
    fn drop(&mut self) {
        // The end of its input ends it; one that does not look is ended.
        drop(self.stdin.take());
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
