//! The environments in which this machine can measure: what is missing for each, with the command that brings it.

use std::sync::atomic::AtomicBool;

use kizami_environments::Environment;
use kizami_settings::{Root, Settings};

use super::finding::{Finding, Verdict};

/// One finding for each environment. What only a real start tells is started, unless it should be `quick`.
pub fn environments(root: &Root, quick: bool) -> Vec<Finding> {
    let of = |environment: &&dyn Environment| Finding { theme: "environments", ..finding(*environment, root, quick) };
    let mut findings: Vec<_> = kizami_environments::ALL.iter().map(of).collect();
    if root.is_machine() {
        tell_reasons_once(&mut findings);
    }
    findings
}

/// A reason that several have is told of the first.
fn tell_reasons_once(findings: &mut [Finding]) {
    let mut told: Vec<(String, &str)> = Vec::new();
    for finding in findings.iter_mut().filter(|finding| finding.verdict == Verdict::NotApplicable) {
        match told.iter().find(|(why, _)| *why == finding.found) {
            Some((_, first)) => finding.found = format!("the same as for {first}"),
            None => told.push((finding.found.clone(), finding.check)),
        }
    }
}

fn finding(environment: &dyn Environment, root: &Root, quick: bool) -> Finding {
    let name = environment.name();
    if !root.is_machine() {
        return Finding::not_measured(name);
    }
    let tried = |()| if quick { Ok(()) } else { environment.tried(&Settings::default(), &AtomicBool::new(false)) };
    let found = environment.available().and_then(tried);
    environment.end();
    match found {
        Ok(()) => {
            let lacks = environment.lacks().into_iter();
            let about =
                std::iter::once("It can be measured here.".to_owned()).chain(lacks).collect::<Vec<_>>().join(" ");
            Finding::new(name, Verdict::Good, environment.title(), about)
        }
        Err(why) => Finding::new(name, Verdict::NotApplicable, why, "It is not measured on this machine."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_is_told_once() {
        let missing = |name, why: &str| Finding::new(name, Verdict::NotApplicable, why, "It is not measured.");
        let works = Finding::new("host", Verdict::Good, "not here", "It is measured.");
        let mut findings = vec![missing("a", "not here"), works, missing("b", "too old"), missing("c", "not here")];
        tell_reasons_once(&mut findings);
        let found: Vec<_> = findings.iter().map(|finding| finding.found.as_str()).collect();
        assert_eq!(found, ["not here", "not here", "too old", "the same as for a"]);
    }
}
