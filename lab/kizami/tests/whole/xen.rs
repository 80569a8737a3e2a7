//! Xen: the same probe in its first domain and in one that this creates, from one boot; and nothing of it left, however the run
//! ends.

use std::time::{Duration, Instant};

use serde_json::Value;

use crate::harness::{Lab, Running, assert_nothing_left_behind, processes, recorded, series_in, skipped, trials};
use crate::machines::monitor;

/// Whether this test can only name itself as skipped, because Xen is not here.
pub fn lacks_xen(test: &str) -> bool {
    let environment = kizami_environments::find("xen-domu").expect("it is in the list");
    let available = environment.available();
    if let Err(why) = &available {
        skipped(&format!("kizami: {test} under Xen: {why}"));
    }
    available.is_err()
}

/// The number of the monitor's process, once there is one.
fn machine_of(run: &mut Running) -> i32 {
    let parent = run.pid();
    // A program that is only asked for its version has the same name.
    let of_xen = |pid: &i32| {
        let words = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&words).contains("name=kizami-domain")
    };
    run.wait_for("a monitor", || monitor(parent).filter(of_xen))
}

/// Waits until neither the monitor nor anything else of the test's runs is there. What Xen and its domains are is all in it.
fn nothing_is_left(lab: &Lab, machine: i32) {
    let begun = Instant::now();
    while processes().iter().any(|process| process.pid == machine) {
        assert!(begun.elapsed() < Duration::from_secs(40), "the monitor is still there");
        std::thread::sleep(Duration::from_millis(10));
    }
    assert_nothing_left_behind(lab, Duration::from_secs(40));
}

/// What is wanted of one boot of Xen with disks: the same probe on the host and in both domains, and files on a disk of each, the larger of
/// which has no room there. The rows of domU are more than one piece of a stream.
const STUDY: &str = r#"
name = "xen"
title = "Xen"
[quick]
trials = 2
[full]
trials = 2
[[group]]
id = "host"
title = "Host"
workloads = ["syscall", "wakeup"]
params = { samples = 2000, batch = 1, cycles = 30 }
[[group]]
id = "domains"
title = "Domains"
workloads = ["syscall", "wakeup"]
environments = ["xen-dom0", "xen-domu"]
params = { samples = 2000, batch = 1, cycles = 30 }
settings = { files_on = "disk", disk_cache = "none", disk_engine = "native", disk_size = "16MiB" }
[[group]]
id = "disks"
title = "Disks"
workloads = ["file"]
environments = ["xen-dom0", "xen-domu"]
params = { samples = 20 }
vary = { size = ["4KiB", "64MiB"] }
settings = { files_on = "disk", disk_cache = "none", disk_engine = "native", disk_size = "16MiB" }
quick = { trials = 1 }
"#;

#[test]
fn one_boot_of_xen_serves_both_domains_with_the_same_probe_and_a_disk_each() {
    let lab = Lab::new();
    if lacks_xen("the same probe") {
        return;
    }
    std::fs::write(lab.path().join("xen.toml"), STUDY).expect("a study");
    let mut run = lab.start(&["run", "xen.toml", "--wait"]);
    let machine = machine_of(&mut run);
    // The larger file has no room on the disk.
    run.end().ended_with(3).says(&["file in xen-dom0", "file in xen-domu", "No space left on device"]);
    nothing_is_left(&lab, machine);
    let recording = recorded(&lab.recording());
    the_same_probe(&recording);
    disks(&recording);
    assert!(recording["tools"]["xen"].is_string(), "{}", recording["tools"]);
}

fn the_same_probe(recording: &Value) {
    let crc = |trial: &Value| trial["facts"]["program_crc32"].clone();
    let host = crc(&series_in(recording, "host")[0]["trials"][0]);
    assert!(host.is_number(), "{host}");
    for (environment, guest_type) in [("xen-dom0", "PV, control domain"), ("xen-domu", "PV")] {
        let series: Vec<_> =
            series_in(recording, environment).into_iter().filter(|s| s["workload"] != "file").collect();
        assert_eq!(series.len(), 2, "{recording}");
        for series in series {
            assert_eq!(series["emulated"], true, "{series}");
            let rows = if series["workload"] == "syscall" { 2000 } else { 30 };
            let trials = series["trials"].as_array().expect("trials");
            assert_eq!(trials.len(), 2, "{series}");
            for trial in trials {
                assert_eq!((&trial["outcome"], &trial["rows"]), (&"complete".into(), &rows.into()), "{trial}");
                assert_eq!((crc(trial), &trial["dropped"]), (host.clone(), &0.into()), "{trial}");
                let effective = |name: &str| trial["effective"][name]["value"].as_str().unwrap_or_default().to_owned();
                assert!(effective("hypervisor").starts_with("xen 4."), "{trial}");
                assert_eq!(effective("guest_type"), guest_type, "{trial}");
                // Xen's own stands still here until that of the processor behind has come up.
                assert_eq!(effective("clock_source"), "tsc", "{trial}");
                assert!(trial["facts"]["clock_still_pairs"].as_f64().is_some_and(|pairs| pairs < 10.0), "{trial}");
            }
        }
    }
}

fn disks(recording: &Value) {
    for environment in ["xen-dom0", "xen-domu"] {
        let series: Vec<_> =
            series_in(recording, environment).into_iter().filter(|s| s["workload"] == "file").collect();
        assert_eq!(series.len(), 2, "{recording}");
        for series in series {
            let trial = &series["trials"][0];
            let expected = [
                ("files_on", "disk"),
                ("disk_cache", "none"),
                ("disk_engine", "native"),
                ("disk_size", "16MiB"),
                ("write_cache", "write back"),
            ];
            for (name, value) in expected {
                let effective = &trial["effective"][name];
                assert_eq!((&effective["value"], &effective["as_requested"]), (&value.into(), &true.into()), "{trial}");
            }
            let whole = trial["outcome"] == "complete" && trial["rows"] == 20;
            assert_eq!(whole, series["params"]["size"] == "4KiB", "{trial}");
        }
    }
}

#[test]
fn a_machine_that_ends_while_it_boots_costs_its_own_series() {
    let lab = Lab::new();
    if lacks_xen("a machine that ends while it boots") {
        return;
    }
    let mut run = lab.start(&["run", "syscall", "--wait", "--environment", "host,xen-domu", "--trials", "2"]);
    let machine = machine_of(&mut run);
    std::thread::sleep(Duration::from_millis(1500));
    // SAFETY: the call takes numbers; the process was found to be the monitor of our run.
    unsafe { libc::kill(machine, libc::SIGKILL) };
    // The second trial does not wait for the same again.
    run.end().ended_with(3).says(&["syscall in xen-domu", "did not come up, in the phase of", "signal 9"]);
    let trials = trials(&lab.show(&lab.recording()));
    assert_eq!(trials.iter().filter(|(_, _, outcome)| *outcome == "complete").count(), 2, "{trials:?}");
    nothing_is_left(&lab, machine);
}

#[test]
fn nothing_of_xen_outlives_its_run() {
    if lacks_xen("interrupts") {
        return;
    }
    for signal in [libc::SIGINT, libc::SIGKILL] {
        let lab = Lab::new();
        let mut run = lab.start(&["run", "wakeup", "--wait", "--environment", "xen-dom0"]);
        let machine = machine_of(&mut run);
        std::thread::sleep(Duration::from_millis(300));
        run.stopped_by(signal);
        nothing_is_left(&lab, machine);
    }
}
