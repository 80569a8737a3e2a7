//! Settings of a process, really applied: each in a fresh child, so that no test changes the settings of another.

mod common;

use std::collections::BTreeMap;
use std::process::{Command, Stdio};

use common::skipped;
use kizami_recording::folder::Effective;
use kizami_settings::Settings;
use kizami_settings::process::{self, InChild, Rights};

fn settings(pairs: &[(&str, &str)]) -> Settings {
    let given: BTreeMap<_, _> = pairs.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect();
    Settings::new(&given).expect("valid settings")
}

fn of<'a>(report: &'a [(String, Effective)], name: &str) -> &'a Effective {
    &report.iter().find(|(knob, _)| knob == name).unwrap_or_else(|| panic!("{name} is reported")).1
}

/// What a sleeping child has that got `settings` before its program began.
fn in_child(settings: &Settings) -> Vec<(String, Effective)> {
    let mut command = Command::new("sleep");
    command.arg("1000").stdin(Stdio::null());
    InChild::new(settings).attach(&mut command);
    // The call returns when the child has begun its program.
    let mut child = command.spawn().expect("sleep runs");
    let report = process::read_of(child.id(), settings);
    child.kill().and_then(|()| child.wait()).expect("our child");
    report
}

/// The same for the calling thread of a program of ours: this one's threads, which a test has to itself.
fn in_thread(settings: Settings) -> Vec<(String, Effective)> {
    std::thread::spawn(move || process::apply(&settings)).join().expect("applying does not panic")
}

/// Only with a capability can one see the timer slack of another process, one's own child included.
fn slack_is_hidden(name: &str, effective: &Effective) -> bool {
    name == "timer_slack" && !Rights::own().sys_nice && effective.why.contains("CAP_SYS_NICE")
}

#[test]
fn all_five_knobs_are_reported_when_nothing_was_asked() {
    for report in [in_child(&settings(&[])), in_thread(settings(&[]))] {
        let names: Vec<_> = report.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["policy", "nice", "affinity", "lock_memory", "timer_slack"]);
        assert!(report.iter().all(|(_, e)| e.as_requested), "{report:?}");
        assert!(report.iter().all(|(name, e)| e.value != "unknown" || slack_is_hidden(name, e)), "{report:?}");
    }
}

#[test]
fn what_everybody_may_ask_for_is_in_force() {
    let allowed = of(&in_thread(settings(&[])), "affinity").value.clone();
    let first = allowed.split([',', '-']).next().expect("at least one processor").to_owned();
    let asked = settings(&[("affinity", &first), ("timer_slack", "1us"), ("policy", "batch"), ("nice", "5")]);
    for report in [in_child(&asked), in_thread(asked.clone())] {
        for (name, value) in asked.written() {
            let effective = of(&report, &name);
            if slack_is_hidden(&name, effective) {
                skipped(&format!("process: timer slack of a child: {}", effective.why));
                continue;
            }
            assert_eq!((&effective.value, effective.as_requested), (&value, true), "{name}: {}", effective.why);
        }
    }
}

#[test]
fn real_time_policies_are_in_force_or_refused_with_what_would_allow_them() {
    let rights = Rights::own();
    for policy in ["fifo:2", "rr:3", "deadline:1ms/50ms/50ms"] {
        let asked = settings(&[("policy", policy), ("timer_slack", "1ns")]);
        for report in [in_child(&asked), in_thread(asked.clone())] {
            let effective = of(&report, "policy");
            if effective.as_requested {
                assert_eq!(effective.value, policy);
                assert!(of(&report, "timer_slack").as_requested, "{report:?}");
            } else {
                assert!(!rights.sys_nice || policy.starts_with("deadline"), "{effective:?}");
                assert!(!effective.why.is_empty(), "{effective:?}");
                skipped(&format!("process: policy {policy}: {}", effective.why));
            }
        }
    }
}

#[test]
fn processors_that_are_not_there_are_refused() {
    let report = in_thread(settings(&[("affinity", "1023")]));
    let affinity = of(&report, "affinity");
    assert!(!affinity.as_requested && affinity.why.contains("none of these processors"), "{affinity:?}");
    assert!(!of(&in_child(&settings(&[("affinity", "1023")])), "affinity").as_requested);
}

#[test]
fn memory_is_locked_or_refused_with_what_would_allow_it() {
    let report = in_thread(settings(&[("lock_memory", "true")]));
    let memory = of(&report, "lock_memory");
    let rights = Rights::own();
    if rights.ipc_lock || rights.memlock == u64::MAX {
        assert_eq!((memory.value.as_str(), memory.as_requested), ("true", true), "{memory:?}");
    } else {
        assert!(!memory.as_requested && memory.why.contains("RLIMIT_MEMLOCK"), "{memory:?}");
        skipped("process: lock_memory: needs CAP_IPC_LOCK or no limit");
    }
    let report = in_thread(settings(&[("lock_memory", "false")]));
    assert_eq!(of(&report, "lock_memory").value, "false");
}
