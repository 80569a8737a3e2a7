//! Wrong usage: refused before anything runs, with a suggestion.

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
        (&["run", "empty", "--environment", "mars"], &["mars", "there are host, bwrap"]),
        (&["run", "empty", "--environment", "beam"], &["beam does not do the workload empty"]),
        (&["run", "sleep", "--environment", "beam"], &["lang"]),
        (&["run", "linux", "--environment", "mars"], &["mars", "there are host, bwrap"]),
        (&["run", "empty", "--quick", "--full"], &["--full"]),
        (&["run", "empty", "--trials", "1000000000", "--dry-run"], &["1000000000 fresh starts", "at most 100000"]),
        (&["run", "empty", "--trials", "0"], &["nothing is measured", "at least 1"]),
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

#[test]
fn samples_that_the_memory_does_not_hold_are_refused_before_the_run() {
    let lab = Lab::new();
    // A machine whose files say that it has little memory: this one may have more than any workload asks for.
    let machine = lab.path().join("machine");
    fs::create_dir_all(machine.join("proc")).expect("a folder");
    fs::write(machine.join("proc/meminfo"), "MemTotal: 200000 kB\nMemAvailable:  100000 kB\n").expect("a file");
    let run = |samples: &str| {
        let mut command = lab.command(&["run", "empty", "--dry-run", "--set", samples]);
        command.env("KIZAMI_ROOT", &machine);
        lab.start_command(command).end()
    };
    run("samples=12_000_000").succeeded();
    run("samples=13_000_000").ended_with(1).says(&["take 100 MiB", "98 MiB of memory are available", "fewer samples"]);
}

#[test]
fn a_run_of_nothing_in_particular_is_one_of_the_machine() {
    let lab = Lab::new();
    let series = |args: &[&str]| lab.kizami(args).succeeded().json()["jobs"].as_array().expect("jobs").clone();
    let named = |size: &str| series(&["run", "linux", "nerves", size, "--dry-run", "--json"]);
    assert_eq!(series(&["run", "--dry-run", "--json"]), named("--quick"));
    assert_eq!(series(&["run", "--full", "--dry-run", "--json"]), named("--full"));
    assert_eq!(series(&["run", "--set", "cycles=100", "empty", "wakeup", "--dry-run", "--json"]).len(), 2);
}

#[test]
fn a_list_says_each_reason_once() {
    let lab = Lab::new();
    // Nothing is installed.
    let mut command = lab.command(&["list"]);
    command.env("PATH", lab.path());
    let listed = lab.start_command(command).end().succeeded();
    let said = listed.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(said.matches("erl is not installed").count(), 1, "{listed}");
    // Each of the environments that it is the reason for is still named, and so is what can be measured.
    for name in ["host", "beam", "gen-server-off-heap", "cyclictest", "fio"] {
        assert!(listed.out.lines().any(|line| line.split_whitespace().next() == Some(name)), "{name}: {listed}");
    }
}
