//! `kizami bench NAME`: runs a study until its claims are decided, as far as it says, and judges them.
//!
//! The command ends with one line that has the decisive figures and their bounds, and fails unless every bound was seen to hold.

use kizami_report::{Judged, Report};
use kizami_studies::Verdict;
use serde_json::json;

use super::output::{print_json, print_text};
use super::recorded::write_report;
use crate::cli::RunOptions;
use crate::exit::{self, Exit};
use crate::paths;
use crate::run::{self, Rounds};
use crate::style::Style;
use kizami_report::text::{self, Look};

pub fn bench(name: &str, options: &RunOptions, json: bool, style: &Style) -> Result<u8, Exit> {
    let Some(ran) = run::run(&[name.to_owned()], options, Rounds::UntilDecided, json, style)? else { return Ok(0) };
    let written = write_report(&ran, style)?;
    let report = &written.report;
    let line = last_line(name, report);
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
        0 if claims(report).any(|c| c.judgement.verdict != Verdict::Holds) => Ok(exit::MISSED),
        status => Ok(status),
    }
}

fn claims(report: &Report) -> impl Iterator<Item = &Judged> {
    report.chapters.iter().flat_map(|c| &c.claims)
}

fn last_line(name: &str, report: &Report) -> String {
    let figure = |c: &Judged| format!("{} {}", c.says.trim_end_matches('.'), c.judgement.figure);
    let figures: Vec<String> = claims(report).filter(|c| !c.judgement.figure.is_empty()).map(figure).collect();
    format!("{name}: {}: {}", figures.join(" · "), verdict(claims(report).map(|c| &c.judgement.verdict)))
}

/// How many bounds were missed is one thing, and how many these samples leave open another.
fn verdict<'a>(of_claims: impl Iterator<Item = &'a Verdict>) -> String {
    let (mut all, mut missed, mut open, mut unmeasured) = (0, 0, 0, 0);
    for verdict in of_claims {
        all += 1;
        match verdict {
            Verdict::Holds => {}
            Verdict::DoesNotHold => missed += 1,
            Verdict::NotSupported => open += 1,
            Verdict::NotMeasured(_) => unmeasured += 1,
        }
    }
    let parts = [
        (missed, "missed"),
        (open, "not supported by these samples (a quieter machine or more --trials)"),
        (unmeasured, "not measured"),
    ];
    let said: Vec<String> =
        parts.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}")).collect();
    if said.is_empty() { "all bounds held".into() } else { format!("of {all} bounds, {}", said.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_noise_leaves_open_is_not_told_as_missed() {
        let of = |verdicts: &[Verdict]| verdict(verdicts.iter());
        assert_eq!(of(&[Verdict::Holds, Verdict::Holds]), "all bounds held");
        assert_eq!(of(&[Verdict::Holds, Verdict::DoesNotHold]), "of 2 bounds, 1 missed");
        assert_eq!(
            of(&[Verdict::NotSupported, Verdict::NotMeasured(String::new()), Verdict::NotSupported]),
            "of 3 bounds, 2 not supported by these samples (a quieter machine or more --trials), 1 not measured"
        );
    }
}
