//! All scenarios, on this machine; and a stack that overflows, which is told, never silent.

use std::process::Command;

fn plays(program: &str) {
    let output = Command::new(program).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.ends_with("scenarios passed\nthe end\n"), "{}:\n{said}", output.status);
}

#[test]
fn on_one_processor() {
    plays(env!("CARGO_BIN_EXE_rtos-scenarios-uni"));
}

#[test]
fn on_two_processors() {
    plays(env!("CARGO_BIN_EXE_rtos-scenarios-multi"));
}

fn tells(program: &str, whose: &str) {
    let output = Command::new(program).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{program}:\n{said}");
    assert!(said.starts_with(&format!("fatal: the stack of {whose} overflowed at 0x")), "{program}:\n{said}");
}

#[test]
fn a_stack_that_overflows() {
    tells(env!("CARGO_BIN_EXE_rtos-overflow-uni"), "task 3");
    tells(env!("CARGO_BIN_EXE_rtos-overflow-multi"), "task 3");
}

/// Handlers run on the stack of what they interrupt, which is the idle task then.
#[test]
fn a_stack_that_a_handler_overflows() {
    tells(env!("CARGO_BIN_EXE_rtos-overflow-handler-uni"), "an idle task");
    tells(env!("CARGO_BIN_EXE_rtos-overflow-handler-multi"), "an idle task");
}
