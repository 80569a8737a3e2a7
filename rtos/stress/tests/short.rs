//! The stress for a few seconds; by itself it runs as long as one likes.

use std::process::Command;

/// Five of them everybody rests.
#[test]
fn a_few_seconds_without_a_finding() {
    let output = Command::new(env!("CARGO_BIN_EXE_rtos-stress")).args(["--seconds", "12"]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}");
    let audits =
        said.lines().last().and_then(|line| line.split(" steps, ").nth(1)?.split(' ').next()?.parse::<u64>().ok());
    // A twentieth of the usual: less means that tasks wait for what came long ago.
    assert!(audits.is_some_and(|audits| audits > 20_000), "{said}");
}
