//! All scenarios on this machine; and stack overflows, each of which is reported.

use std::io::Read;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::time::Duration;

/// What a program ends with, and what it says. It is ended if it does not end by itself: a task that is never woken must
/// not keep the tests waiting.
fn run(program: &str) -> (ExitStatus, String) {
    const LONGEST: Duration = Duration::from_secs(120);
    let mut child = Command::new(program).stdout(Stdio::piped()).spawn().unwrap();
    let mut pipe = child.stdout.take().unwrap();
    let (ended, is_over) = mpsc::channel();
    let reader = std::thread::spawn(move || {
        let mut said = String::new();
        pipe.read_to_string(&mut said).unwrap();
        // Nobody listens any more if it was too late.
        let _ = ended.send(());
        said
    });
    let in_time = is_over.recv_timeout(LONGEST).is_ok();
    if !in_time {
        child.kill().unwrap();
    }
    let (status, said) = (child.wait().unwrap(), reader.join().unwrap());
    assert!(in_time, "{program} did not end within {} s; it said:\n{said}", LONGEST.as_secs());
    (status, said)
}

fn plays(program: &str) {
    let (status, said) = run(program);
    assert!(status.success() && said.ends_with("scenarios passed\nthe end\n"), "{status}:\n{said}");
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
    let (status, said) = run(program);
    assert_eq!(status.code(), Some(1), "{program}:\n{said}");
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
