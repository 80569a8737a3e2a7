//! `kizami bench NAME`: runs a study, and judges its claims.
//!
//! The command ends with one line that has the decisive figures and their bounds, and fails when a bound is missed.

use kizami_report::{Judged, Report};
use kizami_studies::Verdict;
use serde_json::json;

use super::output::{print_json, print_text};
use super::recorded::write_report;
use crate::cli::RunOptions;
use crate::exit::{self, Exit};
use crate::paths;
use crate::run;
use crate::style::Style;
use kizami_report::text::{self, Look};

pub fn bench(name: &str, options: &RunOptions, json: bool, style: &Style) -> Result<u8, Exit> {
    let Some(ran) = run::run(&[name.to_owned()], options, json, style)? else { return Ok(0) };
    let written = write_report(&ran, style)?;
    let report = &written.report;
    let missed: Vec<&Judged> = claims(report).filter(|c| c.judgement.verdict != Verdict::Holds).collect();
    let line = last_line(name, report, &missed);
    if json {
        let claim = |c: &Judged| json!({ "says": c.says, "verdict": c.judgement.verdict, "shown": c.judgement.shown });
        print_json(&json!({
            "recording": paths::shown(&ran.folder),
            "claims": claims(report).map(claim).collect::<Vec<_>>(),
            "line": line,
        }))?;
    } else {
        let tables = text::write(report, Look { colour: style.colour, width: style.width });
        print_text(&format!("{tables}\n{}{line}\n", written.line()))?;
    }
    match written.status(&ran) {
        0 if !missed.is_empty() => Ok(exit::MISSED),
        status => Ok(status),
    }
}

fn claims(report: &Report) -> impl Iterator<Item = &Judged> {
    report.chapters.iter().flat_map(|c| &c.claims)
}

fn last_line(name: &str, report: &Report, missed: &[&Judged]) -> String {
    let figure = |c: &Judged| format!("{} {}", c.says.trim_end_matches('.'), c.judgement.figure);
    let figures: Vec<String> = claims(report).filter(|c| !c.judgement.figure.is_empty()).map(figure).collect();
    let all = claims(report).count();
    let verdict =
        if missed.is_empty() { "all bounds held".into() } else { format!("{} of {all} missed", missed.len()) };
    format!("{name}: {}: {verdict}", figures.join(" · "))
}
