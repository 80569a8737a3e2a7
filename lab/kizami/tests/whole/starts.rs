//! How long an environment takes to start, and what it takes of memory and of the disk, in each that works here.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::harness::{Lab, Left, recorded, series_in, skipped, text};

/// The rows of a series by the names of its columns, without their units.
fn rows(folder: &Path, workload: &str, environment: &str) -> Vec<BTreeMap<String, u64>> {
    let file = fs::read_to_string(folder.join(format!("{workload}.{environment}.csv"))).expect("a series");
    let mut lines = file.lines().map(|line| line.split(','));
    let head = lines.next().expect("a heading").map(|name| name.split(' ').next().unwrap_or(name).to_owned());
    let head: Vec<String> = head.collect();
    let row = |cells: std::str::Split<'_, char>| {
        let numbers = cells.map(|cell| cell.parse().expect("a number"));
        head.iter().cloned().zip(numbers).collect()
    };
    lines.map(row).collect()
}

#[test]
fn a_start_is_told_in_phases_and_what_it_takes_in_bytes() {
    let lab = Lab::new();
    let layers = lab.working("starts", &["bwrap", "runc", "docker", "qemu"]);
    let mut all = [&["host"], layers.as_slice()].concat();
    match kizami_environments::find("beam").expect("it is in the list").available() {
        Ok(()) => all.push("beam"),
        Err(why) => skipped(&format!("kizami: the start of an Erlang VM: {why}")),
    }
    let before = Left::now();
    let run = ["run", "boot", "footprint", "--wait", "--trials", "2", "--environment", &all.join(",")];
    lab.kizami(&run).succeeded();
    before.again();
    let recording = recorded(&lab.recording());
    let folder = lab.path().join("rows");
    lab.kizami(&["export", "csv", text(&lab.recording()), "--out", text(&folder)]).succeeded();
    let of_host = rows(&folder, "footprint", "host")[0]["host"];
    for environment in all {
        assert!(series_in(&recording, environment).iter().all(|s| s["trials"][0]["outcome"] == "complete"));
        let own_kernel = environment == "qemu";
        let starts = rows(&folder, "boot", environment);
        assert_eq!(starts.len(), 2, "{environment}");
        for row in starts {
            let sum: u64 = ["monitor", "firmware", "kernel", "init", "probe"].iter().map(|phase| row[*phase]).sum();
            assert_eq!(row["total"], sum, "{environment}: {row:?}");
            assert!(row["monitor"] > 0 && row["probe"] > 0, "{environment}: {row:?}");
            for phase in ["firmware", "kernel", "init"] {
                let has_phase = own_kernel || (environment == "beam" && phase == "init");
                assert_eq!(row[phase] > 0, has_phase, "{environment}: {row:?}");
            }
        }
        for row in rows(&folder, "footprint", environment) {
            // What serves the probe comes on top of it.
            assert!(row["host"] >= of_host / 2 && row["guest"] > 64 << 10 && row["disk"] > 1 << 20, "{row:?}");
            if environment == "docker" {
                assert!(row["host"] > 16 << 20 && row["disk"] > 16 << 20, "the daemon is counted: {row:?}");
            }
            // The least of a VM with schedulers and the code of its standard library.
            if environment == "beam" {
                assert!(row["host"] > 8 << 20 && row["guest"] > 4 << 20, "{row:?}");
            }
            if own_kernel {
                assert!(row["host"] > row["guest"] && row["disk"] > 8 << 20, "{row:?}");
            }
        }
    }
}
