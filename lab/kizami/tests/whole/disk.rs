//! A full disk under the recording.

use std::fs;
use std::os::unix::process::CommandExt;

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
    let run = run.ended_with(1).says(&[
        "reserve room for",
        "the disk is full",
        "--out",
        "What was measured until then is in",
    ]);
    assert!(!run.out.contains("report.html"), "there is none\n{run}");
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
    assert!(!ended.out.contains("report.html"), "there is none\n{ended}");

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

#[test]
fn a_report_that_the_disk_does_not_take_is_not_named_and_not_left_in_part() {
    if lacks_root("a disk without room for the report") {
        return;
    }
    let lab = Lab::new();
    let disk = lab.path().join("disk");
    fs::create_dir(&disk).expect("a folder");
    // Room for the samples and the recording, and not for a page with figures.
    let view = View::with_memory_at(&disk, 48 << 10);
    let out = disk.join("recording");
    let args = ["run", "empty", "--wait", "--json", "--set", "samples=1000", "--out", text(&out)];
    let run = lab.start_command(view.join(lab.command(&args))).end().ended_with(1);
    let run = run.says(&["could not write", "report.html", "the disk is full"]);
    let json = run.json();
    assert_eq!((&json["complete"], &json["report"]), (&1.into(), &Value::Null), "{run}");
    assert!(view.outside(&out.join("recording.json")).is_file() && !view.outside(&out.join("report.html")).exists());

    for args in [&["report", text(&out)][..], &["export", "figures", text(&out), "--out", text(&disk)]] {
        let ended = lab.start_command(view.join(lab.command(args))).end().ended_with(1).says(&["the disk is full"]);
        assert_eq!(ended.out, "", "{ended}");
    }
    let imported = disk.join("imported");
    let import = ["import", "cyclictest", "c.json", "--out", text(&imported)];
    let data = concat!(env!("CARGO_MANIFEST_DIR"), "/../recording/tests/data/cyclictest-2.4.json");
    fs::copy(data, lab.path().join("c.json")).expect("a copy");
    view.fill(&disk);
    lab.start_command(view.join(lab.command(&import))).end().ended_with(1).says(&["the disk is full"]);
    assert!(!view.outside(&imported).exists());
}

#[test]
fn a_limit_of_the_size_of_files_is_told_and_costs_nothing_that_was_measured() {
    let lab = Lab::new();
    let limited = |args: &[&str], bytes: u64| {
        let mut command = lab.command(args);
        let limit = libc::rlimit { rlim_cur: bytes, rlim_max: bytes };
        // SAFETY: a system call that reads a value of ours, between fork and exec.
        let set = move || match unsafe { libc::setrlimit(libc::RLIMIT_FSIZE, &raw const limit) } {
            0 => Ok(()),
            _ => Err(std::io::Error::last_os_error()),
        };
        // SAFETY: see there.
        unsafe { command.pre_exec(set) };
        lab.start_command(command).end()
    };
    // The samples' 8 MB are more than may be, already in memory.
    let run = limited(&["run", "empty", "--wait", "--set", "samples=1000000", "--out", "r"], 1 << 20);
    let run = run.ended_with(1).says(&["get memory for the samples", "File too large", "ulimit -f"]);
    assert!(lab.path().join("r/report.html").is_file(), "it says the same\n{run}");

    // All but the report fits.
    let run = limited(&["run", "empty", "--wait", "--set", "samples=1000", "--out", "s"], 24 << 10);
    let run = run.ended_with(1).says(&["could not write", "report.html", "File too large"]);
    assert!(!run.out.contains("report.html"), "{run}");
    assert_eq!(trials(&lab.show(&lab.path().join("s")))[0].1, 1000);
}

#[test]
fn a_disk_without_room_for_the_study_ends_the_run_before_it_begins() {
    if lacks_root("a disk without room for the study") {
        return;
    }
    let lab = Lab::new();
    let disk = lab.path().join("disk");
    fs::create_dir(&disk).expect("a folder");
    let view = View::with_memory_at(&disk, 16 << 10);
    let out = disk.join("recording");
    let args = ["run", "linux", "--wait", "--out", text(&out)];
    let run = lab.start_command(view.join(lab.command(&args))).end().ended_with(1);
    let run = run.says(&["could not write", "linux.csv", "the disk is full", "--out"]);
    assert!(!run.out.contains("report.html"), "{run}");
    assert!(!view.outside(&out).exists(), "nothing was measured");
}
