//! What its user wrote cannot be: refused before anything runs, with what would do.

use std::fs;

use crate::harness::Lab;

const STUDY: &str = r#"name = "mine"
title = "Mine"

[quick]
trials = 1

[full]
trials = 1

[[group]]
id = "calls"
title = "Calls"
workloads = ["empty"]
params = { samples = 1000 }
"#;

#[test]
fn a_wrong_study_is_refused_with_its_place_and_a_suggestion() {
    let lab = Lab::new();
    let file = lab.path().join("mine.toml");
    let line = |text: &str, word: &str| text.lines().position(|l| l.contains(word)).expect("the line") + 1;
    for (from, to, words) in [
        ("workloads", "worklaods", &["unknown", "did you mean \"workloads\""][..]),
        ("\"empty\"", "\"emtpy\"", &["did you mean \"empty\""]),
        ("samples = 1000", "sampels = 1000", &["did you mean \"samples\""]),
        ("samples = 1000", "samples = 0", &["0", "between"]),
        ("trials = 1", "trials = -1", &["trials"]),
        ("title = \"Calls\"", "title = \"Calls", &[]),
        ("[quick]", "[quick", &[]),
    ] {
        let text = STUDY.replacen(from, to, 1);
        fs::write(&file, &text).expect("a file");
        let place = format!("mine.toml:{}:", line(&text, to));
        let ended = lab.kizami(&["run", "mine.toml"]).ended_with(2).says(words).says(&[&place]);
        assert!(lab.recordings().is_empty(), "{ended}");
    }
    fs::write(&file, [0xff, 0xfe, 0, 1]).expect("a file");
    lab.kizami(&["run", "mine.toml"]).ended_with(2).says(&["mine.toml"]);
    fs::write(&file, "").expect("a file");
    lab.kizami(&["run", "mine.toml"]).ended_with(2).says(&["mine.toml", "name"]);
    lab.kizami(&["run", "nowhere.toml"]).ended_with(2).says(&["nowhere.toml"]);
    lab.kizami(&["run", "."]).ended_with(2).says(&["kizami list"]);

    fs::write(&file, STUDY).expect("a file");
    lab.kizami(&["run", "mine.toml", "--wait"]).succeeded();
    assert!(lab.recording().join("mine.toml").is_file(), "a recording keeps its study");
}

#[test]
fn wrong_names_and_values_are_refused_with_what_would_do() {
    let lab = Lab::new();
    for (args, words) in [
        (&["run", "wakepu"][..], &["wakepu", "did you mean", "wakeup"][..]),
        (&["run", "linxu"], &["did you mean", "linux"]),
        (&["run", "empty", "--set", "polciy=fifo:80"], &["polciy", "did you mean", "policy"]),
        (&["run", "empty", "--set", "policy=fifo:800"], &["fifo:800", "99"]),
        (&["run", "empty", "--set", "samples=many"], &["samples", "many"]),
        (&["run", "empty", "--set", "samples=0"], &["samples", "between 1 and"]),
        (&["run", "empty", "--set", "samples"], &["NAME=VALUE"]),
        (&["run", "empty", "--load", "gpu"], &["gpu", "there are cpu, memory"]),
        (&["run", "empty", "--environment", "mars"], &["mars", "there are host, beam"]),
        (&["run", "empty", "--environment", "beam"], &["beam does not do the workload empty"]),
        (&["run", "sleep", "--environment", "beam"], &["lang"]),
        (&["run", "empty", "--quick", "--full"], &["--full"]),
        (&["run"], &["STUDY"]),
        (&["list", "emtpy"], &["emtpy", "kizami list"]),
        (&["measure"], &["measure"]),
    ] {
        let ended = lab.kizami(args);
        assert_eq!(ended.status.code(), Some(2), "{args:?}: {ended}");
        ended.says(words);
    }
    assert!(lab.recordings().is_empty());
}

#[test]
fn a_folder_that_is_there_already_is_never_written_over() {
    let lab = Lab::new();
    fs::create_dir(lab.path().join("mine")).expect("a folder");
    fs::write(lab.path().join("mine/recording.json"), "precious").expect("a file");
    let ended = lab.kizami(&["run", "empty", "--wait", "--set", "samples=1000", "--out", "mine"]).ended_with(1);
    ended.says(&["could not make the folder mine", "exists"]);
    assert_eq!(fs::read_to_string(lab.path().join("mine/recording.json")).expect("a file"), "precious");
}

#[test]
fn a_name_that_is_no_text_is_no_reason_to_panic() {
    use std::os::unix::ffi::OsStrExt;
    let lab = Lab::new();
    let mut command = lab.command(&["run", "empty", "--wait", "--set", "samples=1000", "--out"]);
    command.arg(std::ffi::OsStr::from_bytes(b"rec-\xff"));
    lab.start_command(command).end().ended_with(1).says(&["is no text", "--out"]);
}
