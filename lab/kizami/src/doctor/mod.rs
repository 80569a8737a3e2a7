//! The doctor: obstacles to real-time behaviour on this machine, each with the command that would remove it.
//!
//! One function a check, in files by theme. A check reads the state of the machine and changes nothing; the few that
//! try an operation do so in a thread of their own that ends afterwards. All checks also work on a recorded tree of
//! another machine, where everything that would have to be measured is not applicable.

mod clock;
mod counters;
mod environments;
mod finding;
mod isolation;
mod kernel;
mod listening;
mod memory;
mod noise;
mod power;
mod render;
mod rights;
mod throttling;

use std::sync::atomic::AtomicBool;

use kizami_settings::Root;

pub use environments::environments;
use finding::Finding;
pub use render::render;
pub use throttling::{Stops, in_force, measure as measure_throttling};

/// Looks at everything; takes three seconds, or none when `quick` leaves out what takes time to measure. `stop` ends that
/// early.
pub fn examine(root: &Root, quick: bool, stop: &AtomicBool) -> Vec<Finding> {
    let met = if quick { Err("it takes two seconds".into()) } else { throttling::measure(root, stop) };
    let mut findings = Vec::new();
    let mut theme = |theme: &'static str, of_theme: Vec<Finding>| {
        findings.extend(of_theme.into_iter().map(|finding| Finding { theme, ..finding }));
    };
    theme("kernel", kernel::checks(root, &met));
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
    use super::finding::Verdict;
    use super::*;

    /// The machine that was recorded as `name`, beside the tests of the settings.
    pub(super) fn recorded(name: &str) -> Root {
        let trees = concat!(env!("CARGO_MANIFEST_DIR"), "/../environments/settings/tests/trees");
        Root::tree(format!("{trees}/{name}"))
    }

    pub(super) fn looked_at(name: &str) -> Vec<Finding> {
        examine(&recorded(name), false, &AtomicBool::new(false))
    }

    fn verdicts(name: &str) -> Vec<(&'static str, Verdict)> {
        looked_at(name).iter().map(|f| (f.check, f.verdict)).collect()
    }

    #[test]
    fn every_finding_has_a_consequence_and_what_stands_in_the_way_is_explained() {
        for name in ["pi", "server", "guest", "container", "no-such-machine"] {
            for finding in looked_at(name) {
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
    fn a_guest_whose_driver_promises_a_microsecond_is_not_believed() {
        let found = looked_at("guest");
        let idle = found.iter().find(|finding| finding.check == "idle states").expect("it is looked at");
        assert_eq!(idle.verdict, Verdict::Fair, "{idle:?}");
        assert!(idle.found.contains("haltpoll") && !idle.found.contains("1 us"), "{idle:?}");
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
        let examine = || examine(&Root::machine(), true, &AtomicBool::new(false));
        let (first, second) = (examine(), examine());
        for check in
            ["preemption", "throttling", "governor", "wake-up limit", "real-time policy", "timer slack", "huge pages"]
        {
            assert!(of(&first, check).is_some(), "{check}");
            assert_eq!(of(&first, check), of(&second, check), "{check}");
        }
    }
}
