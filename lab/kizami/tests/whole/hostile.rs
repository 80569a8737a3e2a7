//! Bad guests: real ones, with an agent beside which something goes wrong (`hostile.c`). Each costs its own series, with a reason
//! that names the environment, and nothing of it is left.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::harness::{Ended, Lab, Left, PROBE, programs, skipped, trials};
use crate::machines::lacks_guests;

type Trial = (String, u64, Value);

/// Runs `what` in guests in which `wrong` happens, if there are guests here.
fn in_guests_that(wrong: &str, what: &[&str]) -> Option<(Ended, Vec<Trial>)> {
    if lacks_guests(&Lab::new(), wrong) {
        return None;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let agent = folder.path().join("agent");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/whole/hostile.c");
    let real = format!("-DREAL={:?}", programs().join(PROBE));
    let compiled = Command::new("cc")
        .args(["-static", "-O1", "-w", &real, &format!("-DWRONG={wrong}"), "-o"])
        .args([&agent, &source])
        .output();
    match compiled {
        Ok(compiled) => assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr)),
        Err(e) => {
            skipped(&format!("kizami: guests that {wrong}: cc: {e}"));
            return None;
        }
    }
    let lab = Lab::with_probe(&agent);
    let before = Left::now();
    let run = ["run", "--wait", "--environment", "qemu", "--trials", "1"];
    let ended = lab.kizami(&[&run[..], what].concat());
    before.again();
    assert!(!ended.err.contains("panicked"), "{ended}");
    let trials = trials(&lab.show(&lab.recording()));
    Some((ended, trials))
}

#[test]
fn garbage_a_flood_and_a_full_disk_cost_the_series_that_needs_the_disk() {
    let Some((ended, trials)) = in_guests_that("garbage,fill,flood", &["syscall", "file"]) else { return };
    ended.ended_with(3).says(&["file", "in qemu", "No space left on device"]);
    for (series, rows, outcome) in trials {
        let complete = series.starts_with("syscall");
        assert_eq!((outcome == "complete", rows > 0), (complete, complete), "{series}: {outcome}");
    }
}

#[test]
fn a_guest_that_panics_in_a_trial_keeps_what_it_had_counted() {
    let Some((ended, trials)) = in_guests_that("crash", &["wakeup", "--set", "cycles=100000"]) else { return };
    ended.ended_with(1).says(&["wakeup in qemu", "Kernel panic - not syncing: sysrq triggered crash"]);
    assert!(trials[0].1 > 100 && trials[0].2["failed"].is_string(), "{trials:?}");
}

#[test]
fn a_guest_that_hangs_is_given_up_long_before_its_limit() {
    let Some((ended, trials)) = in_guests_that("hang", &["wakeup", "--set", "cycles=1000000"]) else { return };
    ended.ended_with(1).says(&["wakeup in qemu", "the guest hangs"]);
    assert!(trials[0].1 > 100 && trials[0].2["failed"].is_string(), "{trials:?}");
}

#[test]
fn a_guest_that_forks_without_end_costs_its_own_series() {
    let Some((ended, trials)) = in_guests_that("fork_without_end", &["wakeup", "--set", "cycles=20000"]) else {
        return;
    };
    // Whether the agent still gets its turns, and the probe, is the kernel's affair.
    let (_, rows, outcome) = &trials[0];
    if outcome == "complete" {
        assert_eq!((*rows, ended.status.code()), (20_000, Some(0)), "{ended}");
    } else {
        ended.ended_with(1).says(&["wakeup in qemu"]);
        assert!(outcome["failed"].is_string(), "{trials:?}");
    }
}
