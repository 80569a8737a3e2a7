//! The environments in which this machine can measure: what is missing for each, with the command that brings it.

use std::sync::atomic::AtomicBool;

use kizami_environments::Environment;
use kizami_settings::{Root, Settings};

use super::finding::{Finding, Verdict};

/// One finding for each environment. What only a real start tells is started, unless it should be `quick`. A reason that several have is
/// told of the first.
pub fn environments(root: &Root, quick: bool) -> Vec<Finding> {
    let mut told: Vec<(String, &str)> = Vec::new();
    let of = |environment: &&dyn Environment| {
        let mut finding = Finding { theme: "environments", ..finding(*environment, root, quick) };
        if root.is_machine() && finding.verdict == Verdict::NotApplicable {
            match told.iter().find(|(why, _)| *why == finding.found) {
                Some((_, first)) => finding.found = format!("as {first}"),
                None => told.push((finding.found.clone(), finding.check)),
            }
        }
        finding
    };
    kizami_environments::ALL.iter().map(of).collect()
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
        let found = environments(&Root::machine(), true);
        assert_eq!(found.len(), kizami_environments::ALL.len());
        // Beside the tests lies no unikernel, or all that runs one: of the three, the others refer to the first.
        let missing = found.iter().filter(|finding| finding.verdict == Verdict::NotApplicable);
        let mut reasons: Vec<_> = missing.map(|finding| &finding.found).filter(|why| !why.starts_with("as ")).collect();
        let all = reasons.len();
        reasons.sort();
        reasons.dedup();
        assert_eq!(reasons.len(), all, "{found:?}");
    }
}
