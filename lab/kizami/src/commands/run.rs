//! `kizami run`: measures, writes the report, and prints the heaviest findings.

use kizami_report::text::{self, Look};
use serde_json::json;

use super::output::{print_json, print_text};
use super::recorded::{decisions_json, write_report};
use crate::cli::RunOptions;
use crate::exit::Exit;
use crate::paths;
use crate::run::{self, Rounds};
use crate::style::Style;

pub fn run(what: &[String], options: &RunOptions, json: bool, style: &Style) -> Result<u8, Exit> {
    let Some(ran) = run::run(what, options, Rounds::Planned, json, style)? else { return Ok(0) };
    let written = write_report(&ran, style)?;
    let report = &written.report;
    if json {
        print_json(&json!({
            "recording": paths::shown(&ran.folder),
            "report": written.file.as_deref().map(paths::shown),
            "complete": ran.outcomes.complete,
            "failed": ran.outcomes.failed,
            "skipped": ran.outcomes.skipped,
            "interrupted": ran.outcomes.interrupted,
            "findings": report.findings,
            "decisions": decisions_json(report),
        }))?;
    } else {
        let look = Look { colour: style.colour, width: style.width };
        let tables = text::write(report, look);
        let (decisions, findings) = (text::decisions(report, look), text::findings(report, look));
        print_text(&format!("{tables}{decisions}{findings}\n{}", written.line()))?;
    }
    Ok(written.status(&ran))
}
