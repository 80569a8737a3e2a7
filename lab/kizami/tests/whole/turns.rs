//! Two runs at the same time.

use std::thread;
use std::time::Duration;

use crate::harness::{Lab, assert_nothing_left_behind};

const SOON: Duration = Duration::from_secs(30);

#[test]
fn a_second_run_ends_at_once_or_waits_for_its_turn() {
    let lab = Lab::new();
    let mut first = lab.start(&["run", "wakeup", "--wait", "--set", "cycles=1000000"]);
    first.wait_for_rows(1);

    let who = format!("process {}", first.pid());
    let second = lab.kizami(&["run", "empty", "--set", "samples=1000"]).ended_with(75);
    second.says(&["another run is measuring", &who, "kizami run wakeup", "--wait"]);

    let gives_up = lab.start(&["run", "empty", "--wait", "--set", "samples=1000"]);
    let mut waits = lab.start(&["run", "empty", "--wait", "--set", "samples=1000"]);
    // Long enough for both to have found the lock taken.
    thread::sleep(Duration::from_millis(500));
    assert!(waits.is_running());
    gives_up.signal_group(libc::SIGINT);
    gives_up.end().ended_with(130).says(&["interrupted while waiting"]);
    assert_eq!(lab.recordings().len(), 1, "neither of the two has begun");

    assert!(waits.is_running());
    first.signal_group(libc::SIGINT);
    first.end().ended_with(130);
    waits.end().succeeded().says(&["waiting for another run", &who, "measured 1 trials"]);
    assert_eq!(lab.recordings().len(), 2);
    assert_nothing_left_behind(&lab, SOON);
}

#[test]
fn what_only_reads_needs_no_turn() {
    let lab = Lab::new();
    lab.kizami(&["run", "empty", "--wait", "--set", "samples=1000"]).succeeded();
    let recording = lab.recording();
    let mut run = lab.start(&["run", "wakeup", "--wait", "--set", "cycles=1000000", "--out", "running"]);
    run.wait_for_rows(1);
    lab.show(&recording);
    lab.kizami(&["doctor", "--quick"]).succeeded();
    lab.kizami(&["run", "empty", "--dry-run"]).succeeded();
    // A run in progress can be looked at, and says that it is one.
    lab.kizami(&["show", "--json", "running"]).succeeded().says(&["still running"]);
    run.signal_group(libc::SIGINT);
    run.end().ended_with(130);
}
