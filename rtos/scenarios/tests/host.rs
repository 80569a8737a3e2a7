//! All scenarios, on this machine; and a stack that overflows, which is told, never silent.

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

#[test]
fn a_stack_that_overflows() {
    for program in [env!("CARGO_BIN_EXE_rtos-overflow-uni"), env!("CARGO_BIN_EXE_rtos-overflow-multi")] {
        let output = Command::new(program).output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert_eq!(output.status.code(), Some(1), "{program}:\n{said}");
        assert!(said.starts_with("fatal: the stack of task 3 overflowed at 0x"), "{program}:\n{said}");
    }
}
