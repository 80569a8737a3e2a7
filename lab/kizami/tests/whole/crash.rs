//! Crashes: a probe, a process of a workload, a load or an Erlang VM is killed in the middle of a run.

use std::time::Duration;

use crate::harness::{Lab, assert_nothing_left_behind, skipped, trials};

/// The limit for what a killed process leaves to end.
const SOON: Duration = Duration::from_secs(30);

fn kill(pid: i32) {
    // SAFETY: the call takes numbers. The process is a child of the program that the test started.
    unsafe { libc::kill(pid, libc::SIGKILL) };
}

#[test]
fn a_probe_that_is_killed_loses_no_sample_and_no_other_trial() {
    let lab = Lab::new();
    let mut run = lab.start(&["run", "wakeup", "--wait", "--set", "mode=every,skip", "--set", "cycles=2000"]);
    let probe = run.child_named("kizami-probe");
    let rows = run.wait_for_rows(50);
    kill(probe);
    run.end().ended_with(3).says(&["wakeup", "killed", "signal 9", "measured 1 trials"]);
    let trials = trials(&lab.show(&lab.recording()));
    let killed = trials.iter().find(|(_, _, outcome)| outcome["failed"].is_string()).expect("the killed one");
    assert!((rows..2000).contains(&killed.1), "{rows} rows were there: {killed:?}");
    assert!(killed.2["failed"].as_str().is_some_and(|why| why.contains("signal 9")), "{killed:?}");
    assert!(trials.iter().any(|(_, rows, outcome)| *rows == 2000 && outcome == "complete"), "{trials:?}");
    assert_nothing_left_behind(&lab, SOON);
}

#[test]
fn a_run_whose_only_trial_fails_says_so_and_still_shows_its_samples() {
    let lab = Lab::new();
    let mut run = lab.start(&["run", "wakeup", "--wait", "--set", "cycles=100000"]);
    let probe = run.child_named("kizami-probe");
    let rows = run.wait_for_rows(10);
    kill(probe);
    run.end().ended_with(1).says(&["signal 9", "measured 0 trials"]);
    let trials = trials(&lab.show(&lab.recording()));
    assert!(matches!(&trials[..], [(_, kept, _)] if *kept >= rows), "{rows} rows were there: {trials:?}");
}

#[test]
fn a_killed_process_of_a_workload_ends_its_trial_and_not_the_run() {
    let lab = Lab::new();
    let args = ["run", "pipe-rtt", "--wait", "--set", "trips=1000,100000000", "--seed", "1"];
    let mut run = lab.start(&args);
    // The partner of the long one, which alone lasts long enough to be found with so many rows.
    run.wait_for_rows(20_000);
    let probe = run.child_named("kizami-probe");
    let partner = run
        .wait_for("a partner", || crate::harness::processes().into_iter().find(|p| p.parent == probe).map(|p| p.pid));
    kill(partner);
    run.end().ended_with(3).says(&["pipe-rtt", "signal 9"]);
    let trials = trials(&lab.show(&lab.recording()));
    assert_eq!(trials.len(), 2);
    assert!(trials.iter().any(|(_, rows, outcome)| *rows == 1000 && outcome == "complete"), "{trials:?}");
    assert!(trials.iter().any(|(_, rows, outcome)| *rows >= 20_000 && outcome["failed"].is_string()), "{trials:?}");
}

#[test]
fn a_load_that_is_killed_is_reported_as_not_in_force() {
    let lab = Lab::new();
    let mut run = lab.start(&["run", "wakeup", "--wait", "--load", "cpu", "--set", "cycles=1000"]);
    // Rows come only when the load works, which starts first.
    run.wait_for_rows(10);
    let parent = run.pid();
    let is_load = |pid: i32| {
        std::fs::read(format!("/proc/{pid}/cmdline"))
            .is_ok_and(|c| c.ends_with(b"load") || { c.windows(6).any(|w| w == b"\0load\0") })
    };
    let load = run.wait_for("a load", || {
        crate::harness::processes().into_iter().find(|p| p.parent == parent && is_load(p.pid)).map(|p| p.pid)
    });
    kill(load);
    run.end().succeeded().says(&["load = cpu did not take effect"]);
    assert_nothing_left_behind(&lab, SOON);
}

#[test]
fn an_erlang_vm_that_is_killed_keeps_the_rows_that_it_had_reported() {
    let lab = Lab::new();
    if let Err(why) = kizami_environments::find("beam").expect("it is in the list").available() {
        return skipped(&format!("kizami: an Erlang VM that is killed: {why}"));
    }
    let mut run = lab.start(&[
        "run",
        "sleep",
        "--wait",
        "--environment",
        "beam",
        "--seed",
        "1",
        "--set",
        "lang=erlang,elixir",
        "--set",
        "iterations=600",
        "--set",
        "n=1",
        "--set",
        "pause=1ms",
    ]);
    let rows = run.wait_for_rows(1);
    let vm = run.child_named("beam.smp");
    kill(vm);
    run.end().ended_with(3).says(&["sleep in beam", "signal 9", "measured 1 trials"]);
    let trials = trials(&lab.show(&lab.recording()));
    assert!(trials.iter().any(|(_, kept, outcome)| *kept >= rows && outcome["failed"].is_string()), "{trials:?}");
    assert!(trials.iter().any(|(_, rows, outcome)| *rows == 601 && outcome == "complete"), "{trials:?}");
    assert_nothing_left_behind(&lab, SOON);
}

#[test]
fn an_erlang_vm_may_report_any_number_of_rows() {
    let lab = Lab::new();
    if let Err(why) = kizami_environments::find("beam").expect("it is in the list").available() {
        return skipped(&format!("kizami: many rows of an Erlang VM: {why}"));
    }
    // More than one line of the report holds.
    lab.kizami(&[
        "run",
        "nothing",
        "--wait",
        "--environment",
        "beam",
        "--set",
        "lang=erlang",
        "--set",
        "iterations=12000",
        "--set",
        "pause=0",
    ])
    .succeeded();
    let trials = trials(&lab.show(&lab.recording()));
    assert!(matches!(&trials[..], [(_, 12_001, outcome)] if outcome == "complete"), "{trials:?}");
}
