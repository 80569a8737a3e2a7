//! The control loop ends, and its monitor has seen the rounds that were made too slow.

use std::process::Command;

#[test]
fn the_monitor_sees_the_rounds_that_are_too_slow() {
    let output = Command::new(env!("CARGO_BIN_EXE_control-loop")).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}");
    let missed: u32 = said.split_once("rounds, ").unwrap().1.split(' ').next().unwrap().parse().unwrap();
    // Ten are too slow by themselves; a machine that is busy adds to them.
    assert!((10..=100).contains(&missed), "{said}");
}
