//! Both halves with every kind of fault in every part: which of them survive. How long recovery takes is for the comparison.

use std::process::Command;

use pump_actix::otp_half::OtpHalf;
use pump_actix::verdict::Verdict;

const SEED: u64 = 5;
const FAULTS: usize = 20;

fn actix(half: &str) -> Verdict {
    let command = &mut Command::new(env!("CARGO_BIN_EXE_pump-actix"));
    let output = command.args([half, &SEED.to_string(), &FAULTS.to_string()]).output().expect("it runs");
    Verdict::read(&String::from_utf8_lossy(&output.stdout)).expect("a verdict")
}

#[test]
fn on_otp_every_fault_is_survived() {
    let half = OtpHalf::compile().expect("it compiles");
    for how in ["dirty", "plain"] {
        let verdict = half.run(SEED, FAULTS, how).expect("the VM is there at the end");
        let verdict = Verdict::read(&verdict).expect("a verdict");
        // A part that is gone takes no fault.
        assert_eq!(verdict.came, FAULTS as u64, "{how}: {verdict:?}");
        assert!(verdict.given > 0, "{how}: {verdict:?}");
    }
}

#[test]
fn on_actix_a_guarded_pump_survives_them_too_and_a_supervised_one_does_not() {
    let guarded = actix("actix-guarded");
    assert_eq!(guarded.came, FAULTS as u64, "{guarded:?}");
    // Its supervisor goes with the first panic of the controller or the watchdog, whose later faults come about no more.
    let supervised = actix("actix");
    assert!(supervised.came < FAULTS as u64, "{supervised:?}");
}
