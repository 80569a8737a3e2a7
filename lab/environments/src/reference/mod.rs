//! The field's own tools, as environments: the same workload with the same parameters, done by the program that people
//! trust for it. What a tool prints becomes samples, so that it stands in the same tables and comparisons as ours.
//!
//! A tool is one file that fills in a [`Tool`]. Its output is foreign: a form that is not understood is a failed trial, and
//! shows what was printed.

mod cyclictest;
mod fio;
mod hackbench;
mod iperf3;
mod nuttcp;
mod perf;

pub use cyclictest::CYCLICTEST;
pub use fio::FIO;
pub use hackbench::HACKBENCH;
pub use iperf3::IPERF3;
pub use nuttcp::NUTTCP;
pub use perf::PERF;

use std::io::Read;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::{Duration, Instant};

use kizami_protocol::Report;
use kizami_settings::{Scope, process};
use kizami_workloads::{Params, Part, Workload};

use crate::error::Error;
use crate::job::Job;
use crate::launch::{self, Started};
use crate::{Environment, Place, locate};

/// How long after its start a tool has arranged itself.
const SETTLED: Duration = Duration::from_millis(100);

/// Rows of one part, as a tool's output gave them.
pub(crate) type PartRows = (usize, Vec<Vec<u64>>);

/// A tool of the field.
pub struct Tool {
    name: &'static str,
    title: &'static str,
    /// Debian's package.
    package: &'static str,
    version: &'static [&'static str],
    /// The names of the workloads that it does.
    workloads: &'static [&'static str],
    /// Whether it can be asked for these parameters; a sentence when not.
    limits: fn(&Params) -> Result<(), String>,
    /// Its arguments; the port and the next one are free, for tools that talk to a server of their own.
    arguments: fn(&Job, &Path, u16) -> Vec<String>,
    /// The arguments of its server, which is started first and listens on the port, for tools that have one.
    server: Option<fn(u16) -> Vec<String>>,
    /// Whether it gives every sample, and not one figure of all its loops.
    every_sample: bool,
    /// What its output says.
    rows: fn(&Output<'_>) -> Result<Vec<PartRows>, String>,
}

/// What a tool left behind.
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
        if self.every_sample { part.cold_rows } else { 0 }
    }

    fn versions(&self) -> Vec<(String, String)> {
        let version = self.program().ok().and_then(|path| locate::version(&path, self.version));
        version.map(|v| (self.name.to_owned(), v)).into_iter().collect()
    }

    fn start(&self, job: &Job, place: &Place<'_>) -> Result<Started, Error> {
        let scratch = place.scratch;
        let program = self.program().map_err(Error::Unusable)?;
        let port = free_ports().map_err(Error::os("find a free port"))?;
        let server = match self.server {
            Some(arguments) => Some(serve(&program, &arguments(port), port)?),
            None => None,
        };
        let mut command = Command::new(&program);
        command.args((self.arguments)(job, scratch, port)).current_dir(scratch).stdin(Stdio::null());
        let asked = job.settings.of(Scope::Process);
        let prepared = process::InChild::new(&asked).joining(place.cgroup);
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
        let mut started = launch::start(command, None, listener, move || prepared.apply())?;
        started.read_back = Some(Box::new(move |pid| process::read_of(pid, &asked)));
        started.server = server.map(Box::new);
        Ok(started)
    }
}

impl Tool {
    fn program(&self) -> Result<PathBuf, String> {
        locate::program(self.name, self.package)
    }
}

/// Starts a tool's server and waits until it listens.
fn serve(program: &Path, arguments: &[String], port: u16) -> Result<Started, Error> {
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null());
    let ignore: launch::Listener = Box::new(|mut stream, _| {
        let _ = std::io::copy(&mut stream.by_ref(), &mut std::io::sink());
    });
    let started = launch::start(command, None, ignore, || {})?;
    let begun = Instant::now();
    while !listens(port) {
        if begun.elapsed() > Duration::from_secs(5) {
            let said = started.error_output();
            return Err(Error::Unusable(format!("{} did not begin to serve: {said}", program.display())));
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    Ok(started)
}

/// Whether somebody listens on `port`; read from the kernel's table, because a connection would be served.
fn listens(port: u16) -> bool {
    const LISTEN: &str = "0A";
    let table = |file| std::fs::read_to_string(file).unwrap_or_default();
    let wanted = format!(":{port:04X}");
    [table("/proc/net/tcp"), table("/proc/net/tcp6")].iter().flat_map(|t| t.lines()).any(|line| {
        let mut fields = line.split_whitespace().skip(1);
        let local = fields.next().is_some_and(|local| local.ends_with(&wanted));
        local && fields.nth(1) == Some(LISTEN)
    })
}

/// A port that is free, and the next one too: nuttcp has two. They lie below those that the kernel gives to whoever connects
/// (32768 and up unless the machine was told otherwise), because a client's own end could be given the second one before
/// the tool takes it.
fn free_ports() -> std::io::Result<u16> {
    static LAST: AtomicU16 = AtomicU16::new(0);
    const FIRST: u16 = 20_000;
    const PAIRS: u16 = 6_000;
    let mut refused = None;
    for _ in 0..PAIRS {
        let port = FIRST + LAST.fetch_add(1, Ordering::Relaxed) % PAIRS * 2;
        let bind = |port| TcpListener::bind(("127.0.0.1", port));
        match bind(port).and_then(|first| Ok((first, bind(port + 1)?))) {
            Ok(_) => return Ok(port),
            Err(error) => refused = Some(error),
        }
    }
    Err(refused.unwrap_or_else(|| std::io::ErrorKind::AddrInUse.into()))
}

/// Refuses parameters that a tool cannot be told: each `(name, values that it has)`.
pub(crate) fn only(params: &Params, allowed: &[(&str, &[&str])]) -> Result<(), String> {
    let written = params.written();
    for (name, values) in allowed {
        let value = written.get(*name).map_or("", String::as_str);
        if !values.contains(&value) {
            return Err(format!("{name} = {value:?} cannot be asked of it, only {}", values.join(", ")));
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

    #[test]
    fn a_taken_port_is_not_given_nor_the_one_below_it() {
        let first = free_ports().unwrap();
        let taken = [first + 2, first + 5].map(|port| TcpListener::bind(("127.0.0.1", port)));
        let given = free_ports().unwrap();
        assert!(taken.iter().flatten().all(|t| !(given..=given + 1).contains(&t.local_addr().unwrap().port())));
        assert!(given >= first + 6 || given < first, "{given} after {first}");
    }

    #[test]
    fn a_server_is_seen_listening_only_while_it_does() {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        assert!(listens(port));
        drop(listener);
        assert!(!listens(port));
    }
}
