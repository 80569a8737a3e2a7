//! Virtual machines: the same probe in a guest, whose samples outlive it, and nothing of it left, however the run ends.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use serde_json::Value;

use crate::harness::{Lab, Left, processes, recorded, series_in, skipped, trials};

const PROGRAM: &str = "qemu-system-x86";

/// Whether this test can only name itself as skipped, because no guest comes up here.
fn lacks_guests(test: &str) -> bool {
    let environment = kizami_environments::find("qemu").expect("it is in the list");
    let tried = environment.available().and_then(|()| environment.tried(&AtomicBool::new(false)));
    environment.end();
    if let Err(why) = &tried {
        skipped(&format!("kizami: {test} in qemu: {why}"));
    }
    tried.is_err()
}

/// The number of the monitor's process.
pub fn monitor(parent: i32) -> Option<i32> {
    // A name has 15 letters in the table of processes.
    processes().into_iter().find(|p| p.parent == parent && p.name.starts_with(PROGRAM)).map(|p| p.pid)
}

#[test]
fn the_same_probe_runs_in_a_guest_under_the_settings_that_were_asked_for() {
    let lab = Lab::new();
    if lacks_guests("the same probe") {
        return;
    }
    let before = Left::now();
    let run = ["run", "syscall", "clock-gap", "fcntl-lock", "--wait", "--environment", "host,qemu", "--trials", "2"];
    let set = [
        "--set",
        "vm_cpus=1",
        "--set",
        "vm_memory=256MiB",
        "--set",
        "machine=q35",
        "--set",
        "kernel_args=quiet preempt=full",
    ];
    lab.kizami(&[&run[..], &set].concat()).succeeded();
    before.again();
    let recording = recorded(&lab.recording());
    let crc = |trial: &Value| trial["facts"]["program_crc32"].clone();
    let host = crc(&series_in(&recording, "host")[0]["trials"][0]);
    assert!(host.is_number(), "{host}");
    let guests = series_in(&recording, "qemu");
    assert!(guests.len() >= 3, "{recording}");
    for series in guests {
        // Whether it is emulated is what the monitor says.
        let accelerator = &series["trials"][0]["effective"]["accel"]["value"];
        assert_eq!(series["emulated"] == true, accelerator == "tcg", "{series}");
        for trial in series["trials"].as_array().expect("trials") {
            assert_eq!(trial["outcome"], "complete", "{trial}");
            assert_eq!(crc(trial), host);
            assert!(trial["rows"].as_u64().expect("rows") > 0, "{trial}");
            for (name, value) in
                [("vm_cpus", "1"), ("vm_memory", "256MiB"), ("machine", "q35"), ("kernel_args", "quiet preempt=full")]
            {
                let effective = &trial["effective"][name];
                assert_eq!((&effective["value"], &effective["as_requested"]), (&value.into(), &true.into()), "{trial}");
            }
        }
    }
    // One clock gap series a processor, as the guest has them and not as the host has.
    let gaps = series_in(&recording, "qemu").into_iter().filter(|s| s["workload"] == "clock-gap").count();
    assert_eq!(gaps, 1);
}

#[test]
fn every_row_that_a_killed_guest_had_counted_is_in_the_recording() {
    let lab = Lab::new();
    if lacks_guests("a guest that is killed") {
        return;
    }
    let before = Left::now();
    let mut run = lab.start(&[
        "run",
        "wakeup",
        "--wait",
        "--environment",
        "qemu",
        "--trials",
        "2",
        "--set",
        "cycles=3000",
        "--json",
    ]);
    let rows = run.wait_for_rows(100);
    let parent = run.pid();
    let machine = run.wait_for("a monitor", || monitor(parent));
    // SAFETY: the call takes numbers; the process was found to be the monitor of our run.
    unsafe { libc::kill(machine, libc::SIGKILL) };
    // The second trial has a machine of its own.
    run.end().ended_with(3).says(&["wakeup in qemu", "ended with its machine", "signal 9"]);
    let trials = trials(&lab.show(&lab.recording()));
    assert!(trials.iter().any(|(_, kept, outcome)| *kept >= rows && outcome["failed"].is_string()), "{trials:?}");
    assert!(trials.iter().any(|(_, kept, outcome)| *kept == 3000 && outcome == "complete"), "{trials:?}");
    before.again();
}

#[test]
fn a_guest_that_does_not_come_up_costs_its_own_series() {
    let lab = Lab::new();
    if lacks_guests("a guest that does not come up") {
        return;
    }
    let before = Left::now();
    // Without its first process a kernel panics.
    let run =
        ["run", "syscall", "--wait", "--environment", "host,qemu", "--set", "kernel_args=rdinit=/nothing;default"];
    let ended = lab.kizami(&run).ended_with(3);
    ended.says(&["syscall in qemu", "did not come up", "panic"]);
    let trials = trials(&lab.show(&lab.recording()));
    assert_eq!(trials.iter().filter(|(_, _, outcome)| *outcome == "complete").count(), 2, "{trials:?}");
    before.again();
}

#[test]
fn nothing_of_a_guest_outlives_its_run() {
    if lacks_guests("interrupts") {
        return;
    }
    for (signal, while_it_boots) in [(libc::SIGINT, false), (libc::SIGKILL, false), (libc::SIGINT, true)] {
        let lab = Lab::new();
        let before = Left::now();
        let mut run = lab.start(&["run", "wakeup", "--wait", "--environment", "qemu", "--set", "cycles=100000"]);
        if while_it_boots {
            let parent = run.pid();
            run.wait_for("a monitor", || monitor(parent));
            std::thread::sleep(Duration::from_millis(300));
        } else {
            run.wait_for_rows(20);
        }
        run.stopped_by(signal);
        before.again();
        if !while_it_boots && signal == libc::SIGINT {
            let rows: u64 = trials(&lab.show(&lab.recording())).iter().map(|trial| trial.1).sum();
            assert!(rows >= 20, "{rows} rows");
        }
    }
}
