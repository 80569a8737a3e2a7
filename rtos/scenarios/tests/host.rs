//! All scenarios, on this machine.

use std::process::Command;

fn plays(program: &str) {
    let output = Command::new(program).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("scenarios passed"), "{}:\n{said}", output.status);
}

#[test]
fn on_one_processor() {
    plays(env!("CARGO_BIN_EXE_rtos-scenarios-uni"));
}

#[test]
fn on_two_processors() {
    plays(env!("CARGO_BIN_EXE_rtos-scenarios-multi"));
}
