//! What stands between this machine and real-time behaviour, each thing with the command that would change it.
//!
//! One function a check, in files by theme. A check looks at the machine and changes nothing; the few that try something
//! do it in a thread of their own that is gone afterwards. All of them also work on a recorded tree of another machine,
//! where what would have to be measured is not applicable.

mod clock;
mod isolation;
mod kernel;
mod memory;
mod noise;
mod power;
mod render;
mod rights;

use kizami_settings::Root;
use serde::Serialize;

pub use render::render;

/// How a thing is for real-time work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    Good,
    /// It costs something; whether that matters depends on the work.
    Fair,
    /// It stands in the way.
    Bad,
    /// It could not be found out.
    Unknown,
    /// The machine does not have the thing, or it was not looked at.
    NotApplicable,
}

/// What one check found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    pub theme: &'static str,
    pub check: &'static str,
    pub verdict: Verdict,
    /// In a few words.
    pub found: String,
    /// The consequence, in a sentence.
    pub means: String,
    /// The command that would change it, to be copied.
    pub fix: Option<String>,
}

impl Finding {
    fn new(check: &'static str, verdict: Verdict, found: impl Into<String>, means: impl Into<String>) -> Self {
        Self { theme: "", check, verdict, found: found.into(), means: means.into(), fix: None }
    }

    fn fix(mut self, command: impl Into<String>) -> Self {
        self.fix = Some(command.into());
        self
    }

    /// For what a recorded tree cannot tell.
    fn not_measured(check: &'static str) -> Self {
        let means = "This is measured on the machine itself; a recorded tree does not tell it.";
        Self::new(check, Verdict::NotApplicable, "not measured", means)
    }
}

/// Looks at everything; takes a second, or none when `quick` leaves the noise out.
pub fn examine(root: &Root, quick: bool) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut theme = |theme: &'static str, of_theme: Vec<Finding>| {
        findings.extend(of_theme.into_iter().map(|finding| Finding { theme, ..finding }));
    };
    theme("kernel", kernel::checks(root));
    theme("power", power::checks(root));
    theme("processors", isolation::checks(root));
    theme("privileges", rights::checks(root));
    theme("memory", memory::checks(root));
    theme("clock", clock::checks(root));
    if !quick {
        theme("noise", noise::checks(root));
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The machine that was recorded as `name`, beside the tests of the settings.
    pub(super) fn recorded(name: &str) -> Root {
        let trees = concat!(env!("CARGO_MANIFEST_DIR"), "/../environments/settings/tests/trees");
        Root::tree(format!("{trees}/{name}"))
    }

    fn verdicts(name: &str) -> Vec<(&'static str, Verdict)> {
        examine(&recorded(name), false).iter().map(|f| (f.check, f.verdict)).collect()
    }

    #[test]
    fn every_finding_has_a_consequence_and_what_stands_in_the_way_is_explained() {
        for name in ["pi", "server", "container", "no-such-machine"] {
            for finding in examine(&recorded(name), false) {
                assert!(!finding.found.is_empty() && finding.means.ends_with('.'), "{name}: {finding:?}");
                assert!(!finding.theme.is_empty());
            }
        }
    }

    #[test]
    fn the_same_things_are_looked_at_on_every_machine() {
        let checks = |name| verdicts(name).iter().map(|(check, _)| *check).collect::<Vec<_>>();
        assert_eq!(checks("pi"), checks("server"));
        assert_eq!(checks("pi"), checks("container"));
    }

    #[test]
    fn a_board_that_changes_its_frequency_is_told_so() {
        let pi = verdicts("pi");
        for expected in [
            ("preemption", Verdict::Good),
            ("governor", Verdict::Bad),
            ("isolated processors", Verdict::Good),
            ("hyper-threads", Verdict::NotApplicable),
            ("clock source", Verdict::Good),
            ("swap", Verdict::Fair),
        ] {
            assert!(pi.contains(&expected), "{expected:?}: {pi:?}");
        }
    }

    #[test]
    fn a_server_with_isolated_processors_that_are_interrupted_is_told_so() {
        let server = verdicts("server");
        for expected in [
            ("preemption", Verdict::Fair),
            ("throttling", Verdict::Good),
            ("governor", Verdict::Bad),
            ("turbo", Verdict::Fair),
            ("idle states", Verdict::Bad),
            ("interrupts", Verdict::Bad),
            ("hyper-threads", Verdict::Fair),
            ("clock source", Verdict::Bad),
            ("huge pages", Verdict::Fair),
            ("swap", Verdict::Good),
        ] {
            assert!(server.contains(&expected), "{expected:?}: {server:?}");
        }
    }

    #[test]
    fn what_a_container_hides_is_not_held_against_it() {
        let container = verdicts("container");
        for check in ["governor", "idle states", "throttling", "hyper-threads"] {
            let verdict = container.iter().find(|(name, _)| *name == check).expect("it is looked at").1;
            assert!(matches!(verdict, Verdict::NotApplicable | Verdict::Unknown), "{check}: {verdict:?}");
        }
    }

    #[test]
    fn this_machine_is_examined_without_a_change_to_it() {
        let of = |findings: &[Finding], check: &str| {
            findings.iter().find(|f| f.check == check).map(|f| (f.verdict, f.found.clone()))
        };
        let (first, second) = (examine(&Root::machine(), true), examine(&Root::machine(), true));
        for check in
            ["preemption", "throttling", "governor", "wake-up limit", "real-time policy", "timer slack", "huge pages"]
        {
            assert!(of(&first, check).is_some(), "{check}");
            assert_eq!(of(&first, check), of(&second, check), "{check}");
        }
    }
}
