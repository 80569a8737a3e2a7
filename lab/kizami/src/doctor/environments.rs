//! The environments in which this machine can measure: what is missing for each, with the command that brings it.

use std::sync::atomic::AtomicBool;

use kizami_environments::Environment;
use kizami_settings::{Root, Settings};

use super::finding::{Finding, Verdict};

/// One finding for each environment. What only a real start tells is started, unless it should be `quick`.
pub fn environments(root: &Root, quick: bool) -> Vec<Finding> {
    let of = |environment: &&dyn Environment| Finding { theme: "environments", ..finding(*environment, root, quick) };
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
