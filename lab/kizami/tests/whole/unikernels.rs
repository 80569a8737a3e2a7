//! Unikernels: the workload `file` on their devices beside the host's file, and nothing of them left, however the run ends.

use std::fs;
use std::time::Duration;

use serde_json::Value;

use crate::harness::{
    Lab, Running, assert_nothing_left_behind, processes, programs, recorded, series_in, skipped, text, trials,
};

/// Those with monitors of their own.
const MONITORS: [&str; 2] = ["unikernel-spt", "unikernel-hvt"];

/// The monitor of the first trial. Before that the lab asks the command for its version.
fn monitor_of_first_trial(run: &mut Running) -> i32 {
    let output = run.output();
    run.wait_for("the first trial", || fs::read_to_string(&output).ok().filter(|said| said.contains("[1/3]")));
    run.child_named("unikernel")
}

/// The monitors under which a unikernel really started here.
fn working(lab: &Lab, test: &str) -> Vec<&'static str> {
    if !programs().join("static/kizami-unikernel-probe").exists() {
        skipped(&format!(
            "kizami: {test} in a unikernel: lab/probes/unikernel/build {} makes it",
            programs().display()
        ));
        return Vec::new();
    }
    lab.working(test, &MONITORS)
}

fn complete(series: &Value) -> &Value {
    let trial = &series["trials"][0];
    assert_eq!(trial["outcome"], "complete", "{series}");
    trial
}

#[test]
fn a_unikernel_writes_and_reads_what_the_host_does_and_its_syncs_are_counted() {
    let lab = Lab::new();
    let monitors = working(&lab, "the workload file");
    if monitors.is_empty() {
        return;
    }
    let all = [&["host"], monitors.as_slice()].concat().join(",");
    let run = ["run", "file", "--wait", "--trials", "1", "--environment", &all];
    let set = ["--set", "op=write,write-fsync,read", "--set", "samples=50", "--set", "size=8KiB"];
    let of_it = ["--set", "device_interface=blocks,calls,rings", "--set", "device_sync=writeback,unsafe"];
    let of_it = [&of_it[..], &["--set", "device_engine=plain", "--set", "device_poll=50us"]].concat();
    lab.kizami(&[&run[..], &set, &of_it].concat()).succeeded();
    assert_nothing_left_behind(&lab, Duration::from_secs(5));
    let recording = recorded(&lab.recording());
    let host = series_in(&recording, "host");
    for monitor in monitors {
        let series = series_in(&recording, monitor);
        assert_eq!(series.len(), 3 * 3 * 2, "{monitor}");
        for series in series {
            let trial = complete(series);
            let like = host.iter().find(|host| host["params"]["op"] == series["params"]["op"]).expect("the same");
            assert_eq!((&trial["rows"], &trial["facts"]["bytes"]), (&50.into(), &(50.0 * 8192.0).into()), "{trial}");
            assert_eq!(trial["rows"], complete(like)["rows"]);
            // What is not asked in rings has neither.
            let of_rings: &[_] = match series["requested"]["device_interface"] == "rings" {
                true => &["device_engine", "device_poll"],
                false => &[],
            };
            for name in ["device_interface", "device_sync"].iter().chain(of_rings) {
                let effective = &trial["effective"][name];
                assert_eq!(effective["value"], series["requested"][name], "{name}: {trial}");
                assert_eq!(effective["as_requested"], true, "{name}: {trial}");
            }
            // What it flushed beside that is of the preparation, and of whoever else writes to this disk.
            let Some(flushes) = trial["facts"]["host_flushes"].as_f64() else { continue };
            let syncs = series["params"]["op"] == "write-fsync" && series["requested"]["device_sync"] == "writeback";
            assert!(!syncs || flushes >= 50.0, "{trial}");
        }
    }
}

#[test]
fn a_unikernel_says_how_soon_it_was_there_and_what_it_takes() {
    let lab = Lab::new();
    let monitors = working(&lab, "boot and footprint");
    if monitors.is_empty() {
        return;
    }
    let run = ["run", "boot", "footprint", "--wait", "--trials", "2", "--environment", &monitors.join(",")];
    lab.kizami(&run).succeeded();
    let recording = recorded(&lab.recording());
    for monitor in monitors {
        let series = series_in(&recording, monitor);
        assert!(series.iter().any(|series| series["workload"] == "boot"), "{monitor}");
        assert!(series.iter().any(|series| series["workload"] == "footprint"), "{monitor}");
        assert!(series.into_iter().all(|series| complete(series)["rows"] == 1));
    }
}

#[test]
fn a_unikernel_that_is_killed_costs_its_own_trial_only() {
    let lab = Lab::new();
    for monitor in working(&lab, "a monitor that is killed") {
        let run = ["run", "file", "--wait", "--trials", "3", "--environment", monitor, "--out", monitor];
        // It goes on for seconds.
        let mut run = lab.start(&[&run[..], &["--set", "op=write-fsync", "--set", "samples=20000"]].concat());
        let pid = monitor_of_first_trial(&mut run);
        // SAFETY: the call takes two numbers; the process is a child of ours.
        unsafe { libc::kill(pid, libc::SIGKILL) };
        let ended = run.end().ended_with(3);
        assert_nothing_left_behind(&lab, Duration::from_secs(5));
        assert!(processes().iter().all(|process| process.pid != pid), "{ended}");
        let shown = lab.show(&lab.path().join(monitor));
        let outcomes: Vec<_> = trials(&shown).into_iter().map(|(.., outcome)| outcome).collect();
        assert_eq!(outcomes.iter().filter(|outcome| **outcome == "complete").count(), 2, "{outcomes:?}\n{ended}");
    }
}

#[test]
fn an_interrupted_run_leaves_no_unikernel_and_no_disk() {
    let lab = Lab::new();
    for monitor in working(&lab, "an interrupt") {
        let out = lab.path().join(monitor);
        let run = ["run", "file", "--wait", "--trials", "3", "--environment", monitor, "--out", text(&out)];
        let mut run = lab.start(&[&run[..], &["--set", "op=write-fsync", "--set", "samples=20000"]].concat());
        monitor_of_first_trial(&mut run);
        run.stopped_by(libc::SIGINT);
        assert_nothing_left_behind(&lab, Duration::from_secs(5));
        let files: Vec<_> = fs::read_dir(&out).expect("a recording").flatten().map(|entry| entry.file_name()).collect();
        assert!(!files.iter().any(|name| name == "scratch"), "{files:?}");
    }
}
