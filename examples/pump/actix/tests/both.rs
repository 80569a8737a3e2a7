//! Both halves with few faults: what they promise about faults, without figures of time, which belong to the comparison.

use std::process::Command;

use pump_actix::otp_half::OtpHalf;
use pump_actix::verdict::Verdict;

const FAULTS: usize = 20;

#[test]
fn on_otp_every_fault_is_survived() {
    let half = OtpHalf::compile().expect("it compiles");
    let verdict = Verdict::read(&half.run(5, FAULTS, "dirty").expect("the VM is there at the end")).expect("a verdict");
    assert_eq!(verdict.missed.values().map(Vec::len).sum::<usize>(), FAULTS, "{verdict:?}");
    // After each fault it went on before the next one came, on however loaded a machine.
    assert!(verdict.missed.values().flatten().all(|missed| *missed < 35), "{verdict:?}");
}

#[test]
fn on_actix_a_guarded_pump_goes_on_too_and_a_supervised_one_does_not() {
    let run = |half: &str| {
        let output = Command::new(env!("CARGO_BIN_EXE_pump-actix")).args([half, "5", "20"]).output().expect("it runs");
        Verdict::read(&String::from_utf8_lossy(&output.stdout)).expect("a verdict")
    };
    let guarded = run("actix-guarded");
    assert!(guarded.missed.values().flatten().all(|missed| *missed < 35), "{guarded:?}");
    // Its supervisor goes with the panic of the controller.
    let supervised = run("actix");
    assert!(supervised.longest > 40, "{supervised:?}");
}
