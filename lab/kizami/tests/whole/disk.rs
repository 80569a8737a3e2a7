//! The disk that the recording goes to is full.

use std::fs;

use serde_json::Value;

use crate::harness::{Lab, lacks_root, text, trials};
use crate::namespace::View;

#[test]
fn a_disk_without_room_for_the_samples_is_met_before_the_measurement() {
    if lacks_root("a full disk before the measurement") {
        return;
    }
    let lab = Lab::new();
    let disk = lab.path().join("disk");
    fs::create_dir(&disk).expect("a folder");
    let view = View::with_memory_at(&disk, 2 << 20);
    let out = disk.join("recording");
    // 8 MB of samples: a machine without that much time to measure it would still say so at once.
    let args = ["run", "empty", "--wait", "--set", "samples=1000000", "--out", text(&out)];
    let run = lab.start_command(view.join(lab.command(&args))).end();
    run.ended_with(1).says(&["reserve room for", "the disk is full", "--out", "What was measured until then is in"]);
    // There is nothing to show, but what there is can be read.
    let shown = lab.start_command(view.join(lab.command(&["show", "--json", text(&out)]))).end();
    assert!(trials(&shown.succeeded().json()).is_empty());
}

#[test]
fn a_disk_that_fills_during_a_run_costs_nothing_that_was_measured() {
    if lacks_root("a disk that fills during a run") {
        return;
    }
    let lab = Lab::new();
    let disk = lab.path().join("disk");
    fs::create_dir(&disk).expect("a folder");
    let view = View::with_memory_at(&disk, 4 << 20);
    let out = disk.join("recording");
    let args = ["run", "wakeup", "--wait", "--trials", "3", "--set", "cycles=600", "--out", text(&out)];
    let mut run = lab.start_command(view.join(lab.command(&args)));
    let json = view.outside(&out).join("recording.json");
    let second = |recording: Value| (recording["series"][0]["trials"].as_array()?.len() == 2).then_some(());
    run.wait_for("a second trial", || second(serde_json::from_slice(&fs::read(&json).ok()?).ok()?));
    run.wait_for_rows(100);
    view.fill(&disk);
    let ended = run.end().ended_with(1).says(&["the disk is full", "What was measured until then is in"]);
    assert_eq!(ended.err.matches("the disk is full").count(), 1, "once is enough\n{ended}");

    let show = || lab.start_command(view.join(lab.command(&["show", "--json", text(&out)]))).end();
    let shown = show().succeeded().says(&["the run ended without saying so"]).json();
    // Its room was reserved, so even the trial that met the full disk is whole.
    let rows: Vec<u64> = trials(&shown).iter().map(|(_, rows, _)| *rows).collect();
    assert_eq!(rows, [600, 600]);
    view.make_room(&disk);
    let report = disk.join("report.html");
    let args = ["report", text(&out), "--out", text(&report)];
    lab.start_command(view.join(lab.command(&args))).end().succeeded();
    assert!(view.outside(&report).is_file());
}
