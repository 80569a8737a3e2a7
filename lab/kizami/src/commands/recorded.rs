//! Reading a recording for a command: the recording with its damage, its studies, its report.

use std::io::Write;
use std::path::{Path, PathBuf};

use kizami_recording::folder::{Reader, Recording, Requirement};
use kizami_report::decisions::Decided;
use kizami_report::{Report, html};
use kizami_studies::Study;
use serde_json::Value;

use super::output::write_file;
use crate::exit::{self, Exit};
use crate::paths;
use crate::run::Ran;
use crate::style::Style;

/// The report's file in the recording.
pub(super) const REPORT_FILE: &str = "report.html";

/// Opens a recording, and says what is damaged in it.
pub(super) fn open(folder: &Path, style: &Style) -> Result<Reader, Exit> {
    let reader = Reader::open(folder).map_err(|e| Exit::new(exit::DAMAGED, e))?;
    for damage in reader.damage() {
        style.warn(&damage.to_string());
    }
    if reader.recording().was_killed() {
        style.warn("the run ended without saying so (killed, or still running): what reached the disk is shown");
    }
    Ok(reader)
}

/// The status for a recording that was read: damaged or not.
pub(super) fn status_of(reader: &Reader) -> u8 {
    if reader.damage().is_empty() { 0 } else { exit::DAMAGED }
}

/// The studies of a recording: the copies that it keeps, and single workloads.
fn studies_of(reader: &Reader, style: &Style) -> Vec<Study> {
    let mut studies = Vec::new();
    for name in study_names(reader.recording()) {
        let copy = reader.folder().join(format!("{name}.toml"));
        if copy.is_file() {
            match Study::read(&copy) {
                Ok(study) => studies.push(study),
                Err(problems) => problems.iter().for_each(|p| style.warn(&p.to_string())),
            }
            continue;
        }
        let environment = reader.recording().series.iter().find(|s| s.workload == name).map(|s| s.environment.as_str());
        // Where another tool measured, no environment of ours did; the tables are the same.
        let environment = environment.and_then(kizami_environments::find).or(kizami_environments::ALL.first().copied());
        let found = kizami_workloads::find(&name).or_else(|| kizami_workloads::foreign::find(&name)).zip(environment);
        match found {
            Some((workload, environment)) => studies.push(Study::of_workload(workload, environment, 1)),
            None => style.warn(&format!("the recording has no copy of its study {name}: it is left out of the report")),
        }
    }
    studies
}

/// The names of the studies that asked for something, in the order of the series.
fn study_names(recording: &Recording) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for by in recording.series.iter().flat_map(|s| &s.asked_by) {
        let name = by.split('/').next().unwrap_or(by).to_owned();
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// Everything that a recording says. Its wake-ups are held to what is `asked`, and otherwise to what the run was asked for.
pub(super) fn read_report(reader: &Reader, asked: Option<Requirement>, style: &Style) -> Report {
    Report::new(reader, &studies_of(reader, style), asked)
}

/// What is decided of a recording, for programs.
pub(super) fn decisions_json(report: &Report) -> Value {
    report.decisions.iter().flat_map(|decisions| &decisions.decided).map(Decided::as_json).collect()
}

/// The report of a run, and its file: `None` where that is not there, which was said.
pub(super) struct Written {
    pub report: Report,
    pub file: Option<PathBuf>,
}

impl Written {
    /// The line that names the file, if there is one.
    pub fn line(&self) -> String {
        self.file.as_ref().map_or_else(String::new, |path| format!("Report: {}\n", paths::shown(path)))
    }

    /// The status of a command that made the report of `ran`.
    pub fn status(&self, ran: &Ran) -> u8 {
        match ran.status() {
            0 if self.file.is_none() => exit::FAILED,
            status => status,
        }
    }
}

/// Reads the recording back, as anybody would, and writes its report. One that cannot be written is told, and the figures
/// are there all the same.
pub(super) fn write_report(ran: &Ran, style: &Style) -> Result<Written, Exit> {
    let reader = open(&ran.folder, style)?;
    let report = read_report(&reader, None, style);
    // Where the disk took no more samples, which was said, it would not take the report either.
    if ran.outcomes.disk.is_some() {
        return Ok(Written { report, file: None });
    }
    let path = ran.folder.join(REPORT_FILE);
    let written = write_page(&path, &report).inspect_err(|why| style.error(&why.message));
    Ok(Written { report, file: written.ok().map(|()| path) })
}

/// Writes the page of `report`, whole.
pub(super) fn write_page(path: &Path, report: &Report) -> Result<(), Exit> {
    write_file(path, |file| file.write_all(html::page(report).as_bytes()))
}
