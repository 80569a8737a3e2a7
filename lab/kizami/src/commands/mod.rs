//! The commands, one file each. Results go to standard output, as text or as JSON; everything else to standard error.

pub mod bench;
pub mod compare;
pub mod doctor;
pub mod export;
pub mod import;
pub mod list;
pub mod report;
pub mod run;
pub mod show;

use std::io::Write;
use std::path::Path;

use kizami_recording::folder::{Reader, Recording};
use kizami_report::Report;
use kizami_studies::Study;
use serde::Serialize;

use crate::exit::{self, Exit};
use crate::style::Style;

/// Prints `value` as the command's result.
fn print_json(value: &impl Serialize) -> Result<(), Exit> {
    let text = serde_json::to_string_pretty(value).map_err(|e| Exit::failed(format!("no JSON of the result: {e}")))?;
    print_text(&(text + "\n"))
}

/// Prints `text` as the command's result. A reader that has seen enough (`| head`) is no failure.
pub fn print_text(text: &str) -> Result<(), Exit> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(e) if e.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Exit::failed(format!("could not write the result: {e}")))
        }
        _ => Ok(()),
    }
}

/// Opens a recording, and says what is damaged in it.
fn open(folder: &Path, style: &Style) -> Result<Reader, Exit> {
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
fn status_of(reader: &Reader) -> u8 {
    if reader.damage().is_empty() { 0 } else { exit::DAMAGED }
}

/// The studies of a recording: the copies that it keeps, and single workloads.
fn studies_of(reader: &Reader, style: &Style) -> Vec<Study> {
    let mut studies = Vec::new();
    for name in study_names(reader.recording()) {
        let copy = reader.folder().join(format!("{name}.toml"));
        if copy.is_file() {
            match Study::load(&copy.to_string_lossy()) {
                Ok(study) => studies.push(study),
                Err(problems) => problems.iter().for_each(|p| style.warn(&p.to_string())),
            }
            continue;
        }
        let environment = reader.recording().series.iter().find(|s| s.workload == name).map(|s| s.environment.as_str());
        // Where another tool measured, no environment of ours did; the tables are the same.
        let environment = environment.and_then(kizami_environments::find).or(kizami_environments::ALL.first().copied());
        let found = kizami_workloads::find(&name).zip(environment);
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

/// Everything that a recording says.
fn read_report(reader: &Reader, style: &Style) -> Report {
    Report::new(reader, &studies_of(reader, style))
}
