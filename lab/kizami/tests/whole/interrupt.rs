//! Interrupts: Ctrl-C, other signals and `kill -9`, at any moment of a run.

use std::fs;
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use crate::harness::{
    Lab, RT_RUNTIME, assert_nothing_left_behind, cgroups, ended_by, is_root, lacks_root, skipped, text, trials,
};

/// What an interrupted run may take to end, on a machine that does other things too.
const AT_ONCE: Duration = Duration::from_secs(20);
const SOON: Duration = Duration::from_secs(20);

/// Many different things to be interrupted in: trials that are short and long, with children, loads, and settings of the
/// machine. It would take half a minute.
const LONG: &[&str] =
    &["run", "wakeup", "empty", "messages", "fcntl-lock", "--wait", "--trials", "50", "--load", "none,cpu,scheduler"];
const OF_THE_MACHINE: &[&str] =
    &["--set", "rt_runtime=960ms", "--set", "memory_limit=256MiB", "--set", "cgroup_depth=2"];

fn long_run() -> Vec<&'static str> {
    let changes = if is_root() { OF_THE_MACHINE } else { &[] };
    LONG.iter().chain(changes).copied().collect()
}

fn rt_runtime() -> String {
    fs::read_to_string(RT_RUNTIME).unwrap_or_default()
}

/// What a run changes of the machine. Whatever else is there, such as the groups of somebody else, stays the same.
#[derive(Debug, PartialEq)]
struct Machine {
    rt_runtime: String,
    cgroups: Vec<PathBuf>,
}

impl Machine {
    fn now() -> Self {
        Self { rt_runtime: rt_runtime(), cgroups: cgroups() }
    }
}

/// Everything is as it was before the run, and what it measured can be read; gives how many rows that is.
fn is_clean(lab: &Lab, before: &Machine) -> u64 {
    assert_nothing_left_behind(lab, SOON);
    assert_eq!(Machine::now(), *before, "it was not restored");
    match lab.recordings().as_slice() {
        [] => 0,
        [recording] => {
            assert!(!recording.join("scratch").exists(), "files of a workload were left behind");
            let shown = lab.kizami(&["show", "--json", text(recording)]);
            // Before the first series is declared there is nothing to show.
            if shown.status.code() == Some(2) { 0 } else { trials(&shown.succeeded().json()).iter().map(|t| t.1).sum() }
        }
        more => panic!("{more:?}"),
    }
}

fn interrupted(signal: i32, after: Duration) -> u64 {
    let lab = Lab::new();
    let before = Machine::now();
    let run = lab.start(&long_run());
    thread::sleep(after);
    let asked = Instant::now();
    run.signal_group(signal);
    let ended = run.end();
    let took = asked.elapsed();
    let messages = ended.says(&[]);
    // Before the program listens, the signal itself ends it.
    let early = ended_by(&messages) == Some(signal) && lab.recordings().is_empty();
    assert!(early || messages.status.code() == Some(130), "after {after:?}: {messages}");
    assert!(took < AT_ONCE, "it took {took:?}\n{messages}");
    is_clean(&lab, &before)
}

#[test]
fn ctrl_c_at_any_time_keeps_what_was_measured_and_restores_the_machine() {
    let delays = [2, 40, 150, 400, 800, 1100, 1250, 1400, 1700, 2100, 2600, 3300];
    let rows: Vec<u64> = delays.into_iter().map(|ms| interrupted(libc::SIGINT, Duration::from_millis(ms))).collect();
    assert!(rows.iter().any(|rows| *rows > 0), "never was anything measured: {rows:?}");
    // The machine is free.
    Lab::new().kizami(&["run", "empty", "--wait", "--set", "samples=100"]).succeeded();
}

#[test]
fn a_closed_terminal_and_a_polite_kill_are_the_same() {
    for signal in [libc::SIGTERM, libc::SIGHUP] {
        interrupted(signal, Duration::from_millis(1800));
    }
}

#[test]
fn an_interrupted_run_still_has_its_report() {
    let lab = Lab::new();
    let mut run = lab.start(&["run", "wakeup", "--wait", "--json", "--set", "cycles=1000000"]);
    let rows = run.wait_for_rows(20);
    run.signal_group(libc::SIGINT);
    let ended = run.end().ended_with(130).says(&["interrupted"]);
    let said = ended.json();
    assert_eq!(said["interrupted"], true);
    assert!(lab.path().join(said["report"].as_str().expect("a path")).is_file());
    let trials = trials(&lab.show(&lab.recording()));
    assert!(matches!(&trials[..], [(_, kept, outcome)] if *kept >= rows && outcome == "interrupted"), "{trials:?}");
}

#[test]
fn a_second_ctrl_c_ends_it_at_once_and_still_restores_the_machine() {
    let lab = Lab::new();
    let before = Machine::now();
    let mut run = lab.start(&long_run());
    run.wait_for_rows(1);
    run.signal_group(libc::SIGINT);
    run.signal_group(libc::SIGINT);
    assert_eq!(run.end().status.code(), Some(130));
    restored_in_the_end(&before);
    assert_nothing_left_behind(&lab, SOON);
    lab.kizami(&["show", "--json"]).succeeded();
    lab.kizami(&["run", "empty", "--wait", "--set", "samples=100", "--out", "after"]).succeeded();
}

#[test]
fn kill_9_leaves_no_process_no_setting_and_a_recording_that_can_be_read() {
    if lacks_root("settings after kill -9") {
        return;
    }
    for after in [0, 1500] {
        let lab = Lab::new();
        let before = Machine::now();
        let mut run = lab.start(&long_run());
        run.wait_for_rows(1);
        thread::sleep(Duration::from_millis(after));
        run.signal(libc::SIGKILL);
        assert_eq!(ended_by(&run.end()), Some(libc::SIGKILL));
        // At once, while the guard may still be at it.
        lab.kizami(&["run", "empty", "--wait", "--set", "samples=100", "--out", "after"]).succeeded();
        restored_in_the_end(&before);
        assert_nothing_left_behind(&lab, SOON);
        lab.kizami(&["show", "--json", text(&lab.recording())]).succeeded().says(&["killed"]);
    }
}

#[test]
fn what_a_killed_guard_could_not_restore_the_next_command_does() {
    if lacks_root("settings after the guard was killed") {
        return;
    }
    let lab = Lab::new();
    let before = rt_runtime();
    let args = ["run", "wakeup", "--wait", "--set", "cycles=1000000", "--set", "rt_runtime=970ms"];
    let mut run = lab.start(&args);
    run.wait_for_rows(1);
    // The guard first, then the lab: nobody is left.
    let guard = run.child_named("kizami");
    // SAFETY: the call takes numbers. The guard is a child of the program that the test started.
    unsafe { libc::kill(guard, libc::SIGKILL) };
    run.signal(libc::SIGKILL);
    assert_eq!(ended_by(&run.end()), Some(libc::SIGKILL));
    assert_eq!(rt_runtime().trim(), "970000");
    lab.kizami(&["doctor", "--quick"]).succeeded().says(&["an earlier run was killed", "rt_runtime"]);
    assert_eq!(rt_runtime(), before);
}

#[test]
fn ctrl_c_while_the_erlang_vm_starts_or_runs_ends_it() {
    if let Err(why) = kizami_environments::find("beam").expect("it is in the list").available() {
        return skipped(&format!("kizami: Ctrl-C and an Erlang VM: {why}"));
    }
    for delay in [0, 60, 1200] {
        let lab = Lab::new();
        let mut run = lab.start(&["run", "sleep", "--wait", "--environment", "beam", "--set", "lang=erlang"]);
        run.child_named("beam.smp");
        thread::sleep(Duration::from_millis(delay));
        run.signal_group(libc::SIGINT);
        run.end().ended_with(130);
        assert_nothing_left_behind(&lab, SOON);
        lab.show(&lab.recording());
    }
}

/// The guard restores after the program is gone.
fn restored_in_the_end(before: &Machine) {
    let begun = Instant::now();
    while Machine::now() != *before {
        assert!(begun.elapsed() < SOON, "{:?} and not {before:?}", Machine::now());
        thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn the_doctor_ends_at_once_while_it_keeps_a_processor_busy() {
    let lab = Lab::new();
    let doctor = lab.start(&["doctor"]);
    thread::sleep(Duration::from_millis(300));
    doctor.signal_group(libc::SIGINT);
    let ended = doctor.end();
    assert_eq!(ended_by(&ended), Some(libc::SIGINT), "{ended}");
}
