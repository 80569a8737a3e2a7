//! A tool of the field as an environment: its workloads, its arguments, and the rows in its output.
//!
//! The tool is started with the settings of the job in force, and these are read back from outside once the tool has
//! set up its threads. Its output is read as a whole when it ends.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use kizami_protocol::Report;
use kizami_settings::{Scope, process};
use kizami_workloads::{Params, Part, Workload};

use super::server::{free_ports, serve};
use crate::environment::{Environment, Job, Place};
use crate::error::Error;
use crate::launch::{self, Started};
use crate::locate;

/// How long after its start a tool has arranged itself.
const SETTLED: Duration = Duration::from_millis(100);

/// Rows of one part, as a tool's output gave them.
pub(crate) type PartRows = (usize, Vec<Vec<u64>>);

/// A tool of the field.
pub struct Tool {
    pub(super) name: &'static str,
    pub(super) title: &'static str,
    /// Debian's package.
    pub(super) package: &'static str,
    pub(super) version: &'static [&'static str],
    /// The names of the workloads that it does.
    pub(super) workloads: &'static [&'static str],
    /// Whether it can be asked for these parameters; a sentence when not.
    pub(super) limits: fn(&Params) -> Result<(), String>,
    /// Its arguments; the port and the next one are free, for tools that talk to a server of their own.
    pub(super) arguments: fn(&Job, &Path, u16) -> Vec<String>,
    /// The arguments of its server, which is started first and listens on the port, for tools that have one.
    pub(super) server: Option<fn(u16) -> Vec<String>>,
    pub(super) gives: Gives,
    /// Its first thread waits for others, which have the settings and measure.
    pub(super) first_waits: bool,
    /// The rows in its output.
    pub(super) rows: fn(&Output<'_>) -> Result<Vec<PartRows>, String>,
}

/// What a tool gives of its samples.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Gives {
    /// Each, one after the other.
    EverySample,
    /// How often each value was measured. Its rows are a value and a count.
    Histogram,
    /// One figure of all its loops.
    Figure,
}

/// The output of a tool that has ended.
pub(crate) struct Output<'a> {
    pub stdout: &'a str,
    pub scratch: &'a Path,
    pub params: &'a Params,
}

impl Environment for Tool {
    fn name(&self) -> &'static str {
        self.name
    }

    fn title(&self) -> &'static str {
        self.title
    }

    fn available(&self) -> Result<(), String> {
        self.program().map(drop)
    }

    fn does(&self, workload: &Workload) -> bool {
        self.workloads.contains(&workload.name)
    }

    fn supports(&self, params: &Params) -> Result<(), String> {
        (self.limits)(params)
    }

    fn cold_rows(&self, part: &Part) -> u64 {
        if self.gives == Gives::EverySample { part.cold_rows } else { 0 }
    }

    fn counts(&self) -> bool {
        self.gives == Gives::Histogram
    }

    fn versions(&self) -> Vec<(String, String)> {
        let version = self.program().ok().and_then(|path| locate::version(&path, self.version));
        version.map(|v| (self.name.to_owned(), v)).into_iter().collect()
    }

    fn start(&self, job: &Job, place: &Place<'_>) -> Result<Started, Error> {
        let scratch = place.scratch;
        let program = self.program().map_err(Error::Unusable)?;
        let port = free_ports().map_err(Error::os("find a free port"))?;
        let asked = job.settings.of(Scope::Process);
        let prepared = || process::InChild::new(&asked).joining(place.cgroups);
        let server = match self.server {
            Some(arguments) => Some(serve(&program, &arguments(port), port, prepared())?),
            None => None,
        };
        let mut command = Command::new(&program);
        command.args((self.arguments)(job, scratch, port)).current_dir(scratch);
        let prepared = prepared();
        let (rows, params, scratch) = (self.rows, job.params.clone(), scratch.to_owned());
        let name = self.name;
        let listener: launch::Listener = Box::new(move |mut stream, sender| {
            // It arranges its own threads first; what is read back before would not be what it measures under.
            std::thread::sleep(SETTLED);
            let _ = sender.send(Ok(Report::Ready {}));
            let mut bytes = Vec::new();
            let read = stream.read_to_end(&mut bytes).map_err(|e| format!("{name}'s output cannot be read: {e}"));
            let stdout = String::from_utf8_lossy(&bytes);
            let parsed = read.and_then(|_| rows(&Output { stdout: &stdout, scratch: &scratch, params: &params }));
            let reports = match parsed {
                Ok(parts) => {
                    let rows = parts.into_iter().map(|(part, rows)| Report::Rows { part, rows });
                    rows.chain([Report::Done {}]).collect()
                }
                // Without output the exit status and the error output say more than we can.
                Err(_) if stdout.trim().is_empty() => Vec::new(),
                Err(why) => {
                    let shown: String = stdout.trim().chars().take(300).collect();
                    vec![Report::Failed { why: format!("{name} printed something unexpected ({why}): {shown}") }]
                }
            };
            for report in reports {
                let _ = sender.send(Ok(report));
            }
        });
        let mut started = launch::start(command, launch::Input::Empty, &[], listener, move || prepared.apply())?;
        let read_of = if self.first_waits { process::read_of_workers } else { process::read_of };
        started.read_back = Some(Box::new(move |pid| read_of(pid, &asked)));
        started.server = server.map(Box::new);
        Ok(started)
    }
}

impl Tool {
    fn program(&self) -> Result<PathBuf, String> {
        locate::program(self.name, self.package)
    }
}

/// Refuses parameters that a tool cannot be told: each `(name, values that it has)`.
pub(crate) fn only(params: &Params, allowed: &[(&str, &[&str])]) -> Result<(), String> {
    let written = params.written();
    for (name, values) in allowed {
        let value = written.get(*name).map_or("", String::as_str);
        if !values.contains(&value) {
            let asked: Vec<String> = values.iter().map(|value| format!("--set {name}={value}")).collect();
            return Err(format!("{name} = {value:?} cannot be asked of it, only {}", asked.join(", ")));
        }
    }
    Ok(())
}

/// The number that stands behind the first `mark`.
pub(crate) fn number_after(text: &str, mark: &str) -> Result<f64, String> {
    let at = text.find(mark).ok_or_else(|| format!("no {mark:?} in it"))?;
    let rest = text[at + mark.len()..].trim_start();
    let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
    rest[..end].parse().map_err(|_| format!("no number after {mark:?}"))
}

/// The number that stands before the first `mark`.
pub(crate) fn number_before(text: &str, mark: &str) -> Result<f64, String> {
    let at = text.find(mark).ok_or_else(|| format!("no {mark:?} in it"))?;
    let word = text[..at].split_whitespace().next_back().unwrap_or_default();
    word.parse().map_err(|_| format!("no number before {mark:?}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_found_beside_their_marks() {
        let text = "     Total time: 0.042 [sec]\n\n       8.593000 usecs/op\n";
        assert_eq!(number_after(text, "Total time:"), Ok(0.042));
        assert_eq!(number_before(text, "usecs/op"), Ok(8.593));
        assert!(number_after(text, "Speed:").is_err());
    }
}
