//! `kizami report`: writes the report of a recording again.

use serde_json::json;

use super::output::{print_json, print_text};
use super::recorded::{REPORT_FILE, decisions_json, open, read_report, status_of, write_page};
use crate::cli::ReportArgs;
use crate::exit::Exit;
use crate::paths;
use crate::style::Style;

pub fn report(args: &ReportArgs, json: bool, style: &Style) -> Result<u8, Exit> {
    let folder = paths::recording(args.recording.as_deref())?;
    let reader = open(&folder, style)?;
    let report = read_report(&reader, args.required.requirement(), style);
    let path = args.out.clone().unwrap_or_else(|| folder.join(REPORT_FILE));
    write_page(&path, &report)?;
    if json {
        print_json(&json!({
            "recording": paths::shown(&folder),
            "report": paths::shown(&path),
            "findings": report.findings,
            "decisions": decisions_json(&report),
        }))?;
    } else {
        print_text(&format!("Report: {}\n", paths::shown(&path)))?;
    }
    Ok(status_of(&reader))
}
