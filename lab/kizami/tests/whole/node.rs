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

/// Between two processes of a board and between two boards, with IPsec; and where the time goes.
#[test]
fn datagrams_of_a_board_are_protected_counted_and_followed() {
    let lab = Lab::new();
    if !programs().join("board/kizami-node-probe").exists() {
        return skipped("kizami: the network of a board: image/node/build makes its probe");
    }
    if lab.working("the network of a board", &[BOARD]).is_empty() {
        return;
    }
    let facts = |folder: &PathBuf| -> Vec<(serde_json::Value, serde_json::Value)> {
        let recording = recorded(folder);
        let of = |series: &serde_json::Value| (series["params"].clone(), series["trials"][0].clone());
        series_in(&recording, BOARD).iter().map(|series| of(series)).collect()
    };
    let number = |trial: &serde_json::Value, name: &str| trial["facts"][name].as_f64().unwrap_or(f64::NAN);
    let run = |name: &str, more: &[&str]| {
        let out = lab.path().join(name);
        let folder = out.display().to_string();
        let run = ["run", "udp", "--wait", "--environment", BOARD, "--trials", "1", "--set", "rate=500kbit"];
        let run = [&run[..], &["--set", "duration=300ms", "--set", "ip=6", "--out", &folder], more].concat();
        lab.kizami(&run).succeeded();
        out
    };

    let alone = run("alone", &["--set", "ipsec=none,cbc-sha1,gcm,chacha20", "--set", "profile=on"]);
    let series = facts(&alone);
    assert_eq!(series.len(), 4);
    for (params, trial) in &series {
        assert_eq!(trial["outcome"], "complete", "{params}");
        assert!(number(trial, "received") > 10.0 && number(trial, "lost") == 0.0, "{params} {trial}");
        // Here it sleeps between datagrams, which takes time and no instructions.
        let counted = number(trial, "profile_crc32");
        assert!(counted >= 0.0 && number(trial, "profiled_ns") > 2e8, "{trial}");
    }
    let profiles: Vec<String> = fs::read_dir(&alone)
        .expect("a recording")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "folded"))
        .map(|path| fs::read_to_string(path).expect("text"))
        .collect();
    assert_eq!(profiles.len(), 4);
    assert!(profiles.iter().all(|text| text.contains("program;vector_swi")), "{}", profiles[0]);
    assert_eq!(profiles.iter().filter(|text| text.contains("sha1_transform ")).count(), 1);
    assert_eq!(profiles.iter().filter(|text| text.contains("chacha_permute ")).count(), 1);
    let shown = lab.kizami(&["show", &alone.display().to_string()]).succeeded();
    assert!(shown.out.contains("by function"), "{}", shown.out);

    let at_wire = run("wire", &["--set", "wire=10Mbit", "--set", "wire_delay=2ms", "--set", "ipsec=gcm"]);
    let series = facts(&at_wire);
    let (_, trial) = &series[0];
    assert_eq!(trial["outcome"], "complete", "{trial}");
    assert!(number(trial, "received") > 10.0, "{trial}");
    assert!(number(trial, "wire_frames") > number(trial, "received"), "{trial}");
    assert_eq!(trial["effective"]["wire"]["value"], "10Mbit", "{trial}");
    assert_nothing_left_behind(&lab, Duration::from_secs(5));
}
