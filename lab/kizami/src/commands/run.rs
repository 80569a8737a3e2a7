//! `kizami run`: measure, write the report, and end with what is most worth knowing.

use kizami_report::text::{self, Look};
use kizami_report::{Report, html};
use serde_json::json;

use super::{open, print_json, print_text, read_report};
use crate::cli::RunOptions;
use crate::exit::Exit;
use crate::run::{self, Ran};
use crate::style::Style;

/// The report's file in the recording.
pub const REPORT_FILE: &str = "report.html";

pub fn run(what: &[String], options: &RunOptions, json: bool, style: &Style) -> Result<u8, Exit> {
    let Some(ran) = run::run(what, options, json, style)? else { return Ok(0) };
    let report = write_report(&ran, style)?;
    let path = ran.folder.join(REPORT_FILE);
    if json {
        print_json(&json!({
            "recording": ran.folder,
            "report": path,
            "complete": ran.outcomes.complete,
            "failed": ran.outcomes.failed,
            "skipped": ran.outcomes.skipped,
            "interrupted": ran.outcomes.interrupted,
            "findings": report.findings,
        }))?;
    } else {
        let look = Look { colour: style.colour, width: style.width };
        let tables = text::write(&report, look);
        let findings = text::findings(&report, look);
        print_text(&format!("{tables}{findings}\nReport: {}\n", path.display()))?;
    }
    Ok(ran.status())
}

/// Reads the recording back, as anybody would, and writes its report.
pub fn write_report(ran: &Ran, style: &Style) -> Result<Report, Exit> {
    let reader = open(&ran.folder, style)?;
    let report = read_report(&reader, style);
    let path = ran.folder.join(REPORT_FILE);
    // Where the disk took no more samples, which was said, it would not take the report either.
    if ran.outcomes.disk.is_none() {
        std::fs::write(&path, html::page(&report))
            .map_err(|e| Exit::failed(format!("could not write {}: {e}", path.display())))?;
    }
    Ok(report)
}
