//! Linux on a board without an MMU: the same run gives the same samples, since instructions are its clock.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use crate::harness::{Lab, assert_nothing_left_behind, programs, recorded, series_in, skipped};

const BOARD: &str = "mps2-none";

#[test]
fn the_same_run_on_a_board_gives_the_same_bytes() {
    let lab = Lab::new();
    if !programs().join("board/kizami-node-probe").exists() {
        let there = programs().display();
        return skipped(&format!(
            "kizami: a board without an MMU: image/node/build {there} kizami-node-probe makes its probe"
        ));
    }
    if lab.working("a board without an MMU", &[BOARD]).is_empty() {
        return;
    }
    let workloads =
        ["run", "syscall", "ctx-ring", "messages", "os-latency", "--wait", "--environment", BOARD, "--trials", "1"];
    let set = ["--set", "op=getppid,open-close", "--set", "samples=5", "--set", "batch=20", "--set", "trials=3"];
    let groups = [
        "--set",
        "groups=4",
        "--set",
        "senders=10",
        "--set",
        "receivers=10",
        "--set",
        "loops=2",
        "--set",
        "channel=pipe",
    ];
    let run = [&workloads[..], &set, &groups].concat();
    for _ in 0..2 {
        lab.kizami(&run).succeeded();
    }
    assert_nothing_left_behind(&lab, Duration::from_secs(5));
    let [first, second] = <[PathBuf; 2]>::try_from(lab.recordings()).expect("two");
    let recording = recorded(&first);
    let series = series_in(&recording, BOARD);
    // Messages have series of the memory, too.
    assert!(series.len() >= 6, "{}", series.len());
    for series in series {
        let trial = &series["trials"][0];
        assert_eq!(trial["outcome"], "complete", "{series}");
        assert_eq!(trial["effective"]["icount"]["value"], "5", "{trial}");
    }
    let mut compared = 0;
    for entry in fs::read_dir(&first).expect("a recording") {
        let path = entry.expect("an entry").path();
        if path.extension().is_some_and(|extension| extension == "samples") {
            let name = path.file_name().expect("a name");
            assert_eq!(
                fs::read(&path).expect("read"),
                fs::read(second.join(name)).expect("read"),
                "{}",
                name.display()
            );
            compared += 1;
        }
    }
    assert!(compared >= 6, "{compared}");
}
