//! `kizami report`: the report of a recording, again.

use kizami_report::html;
use serde_json::json;

use super::run::REPORT_FILE;
use super::{open, print_json, print_text, read_report, status_of};
use crate::cli::ReportArgs;
use crate::exit::Exit;
use crate::paths;
use crate::style::Style;

pub fn report(args: &ReportArgs, json: bool, style: &Style) -> Result<u8, Exit> {
    let folder = paths::recording(args.recording.as_deref())?;
    let reader = open(&folder, style)?;
    let report = read_report(&reader, style);
    let path = args.out.clone().unwrap_or_else(|| folder.join(REPORT_FILE));
    std::fs::write(&path, html::page(&report)).map_err(|e| {
        Exit::failed(format!("could not write {}: {e} (choose another file with --out)", path.display()))
    })?;
    if json {
        print_json(&json!({ "recording": folder, "report": path, "findings": report.findings }))?;
    } else {
        print_text(&format!("Report: {}\n", path.display()))?;
    }
    Ok(status_of(&reader))
}
