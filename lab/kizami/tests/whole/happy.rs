//! The commands in the normal case.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::Stdio;

use serde_json::Value;

use crate::harness::{Lab, recorded, skipped, text};

#[test]
fn a_run_gives_a_recording_a_report_and_findings() {
    let lab = Lab::new();
    let ran = lab.kizami(&["run", "empty", "--wait", "--set", "samples=1000", "--json"]).succeeded();
    let said = ran.json();
    assert!(said["findings"].is_array(), "{ran}");
    let recording = lab.path().join(said["recording"].as_str().expect("a path"));
    let page = fs::read_to_string(lab.path().join(said["report"].as_str().expect("a path"))).expect("the report");
    assert!(!page.contains("<script"));
    for loads in ["src=\"http", "src='http", "href=\"http", "url(http", "@import", "<link", "<iframe"] {
        assert!(!page.contains(loads), "the report loads something: {loads}");
    }
    assert!(!recording.join("scratch").exists());

    let shown = lab.kizami(&["show", "--json", "--deadline", "100us"]).succeeded().json();
    let series = &shown["series"][0];
    // The first is cold.
    assert_eq!(series["summary"]["count"], 999, "{series}");
    let deadline = &series["deadline"];
    assert!(deadline.is_object(), "{series}");
    let all = lab.kizami(&["show"]).succeeded();
    assert!(all.out.contains("empty"), "{all}");
    let deadline = lab.kizami(&["show", "--deadline", "100us"]).succeeded();
    assert!(deadline.out.contains("100"), "{deadline}");
    lab.kizami(&["show", "--deadline", "soon"]).ended_with(2).says(&["--deadline", "soon"]);
    lab.kizami(&["show", "--series", "wakeup"]).ended_with(2).says(&["wakeup"]);
    let one = lab.kizami(&["show", "--series", "empty"]).succeeded();
    assert!(one.out.contains("median"), "{one}");

    let report = lab.path().join("elsewhere.html");
    lab.kizami(&["report", "--out", text(&report)]).succeeded();
    assert_eq!(fs::read_to_string(report).expect("a report"), page, "the same recording gives the same report");
}

#[test]
fn a_recording_compared_with_its_copy_is_no_different() {
    let lab = Lab::new();
    lab.kizami(&["run", "empty", "--wait", "--trials", "5", "--set", "samples=1000"]).succeeded();
    let recording = lab.recording();
    let copy = lab.copy_of(&recording);
    for measure in ["median", "mean", "p99", "min", "max"] {
        let args = ["compare", text(&recording), text(&copy), "--measure", measure];
        let compared = lab.kizami(&[&args[..], &["--json"]].concat()).succeeded().json();
        let comparison = &compared[0]["comparison"];
        assert_eq!(comparison["ratio"], 1.0, "{measure}: {compared}");
        let table = lab.kizami(&args).succeeded();
        assert!(table.out.contains("not supported"), "{table}");
    }
}

#[test]
fn what_there_is_and_what_would_run_is_told_without_measuring() {
    let lab = Lab::new();
    let names = lab.kizami(&["list", "--json"]).succeeded().json();
    let names: Vec<_> = names.as_array().expect("a list").iter().filter_map(|n| n["name"].as_str()).collect();
    for name in ["linux", "nerves", "wakeup", "host", "beam", "policy", "cpu"] {
        assert!(names.contains(&name), "{name} is not in {names:?}");
    }
    for name in ["wakeup", "policy", "beam"] {
        lab.kizami(&["list", name]).succeeded();
        lab.kizami(&["list", name, "--json"]).succeeded().json();
    }
    let findings = lab.kizami(&["doctor", "--quick", "--json"]).succeeded().json();
    assert!(findings.as_array().is_some_and(|f| f.len() > 5), "{findings}");

    let plan = lab.kizami(&["run", "linux", "nerves", "--dry-run"]).succeeded();
    assert!(plan.out.contains("wakeup") && plan.out.contains("trials, about"), "{plan}");
    let plan = lab.kizami(&["run", "linux", "--dry-run", "--json"]).succeeded().json();
    assert!(plan["seconds"].as_f64().is_some_and(|s| s > 1.0), "{plan}");
    assert!(lab.recordings().is_empty());

    for shell in ["bash", "zsh", "fish"] {
        let completions = lab.kizami(&["completions", shell]).succeeded();
        assert!(completions.out.contains("kizami"), "{completions}");
        assert!(!completions.out.contains("\u{1b}"));
    }
}

#[test]
fn the_same_seed_gives_the_same_order() {
    let lab = Lab::new();
    let order = |seed: &str, out: &str| {
        let trials = ["--trials", "3", "--set", "samples=100,200,300,400"];
        let args = [&["run", "empty", "--wait", "--seed", seed, "--out", out][..], &trials].concat();
        lab.kizami(&args).succeeded();
        let text = fs::read(lab.path().join(out).join("recording.json")).expect("a recording");
        serde_json::from_slice::<Value>(&text).expect("JSON")["order"].clone()
    };
    let first = order("7", "first");
    assert_eq!(first.as_array().map(Vec::len), Some(12));
    assert_eq!(first, order("7", "second"));
    assert_ne!(first, order("8", "third"), "the seeds were chosen to differ");
}

#[test]
fn colours_are_only_where_they_are_wanted() {
    let lab = Lab::new();
    lab.kizami(&["run", "empty", "--wait", "--set", "samples=1000", "--color", "never"]).succeeded();
    for args in [&["show"][..], &["doctor", "--quick"], &["list"]] {
        let with = |when| lab.kizami(&[args, &["--color", when]].concat()).succeeded().out;
        assert!(!with("never").contains('\u{1b}'), "{args:?}");
        assert!(!with("auto").contains('\u{1b}'), "{args:?}: a file is no terminal");
        assert!(with("always").contains('\u{1b}'), "{args:?}");
    }
}

#[test]
fn a_reader_that_has_seen_enough_is_no_failure() {
    let lab = Lab::new();
    lab.kizami(&["run", "empty", "--wait", "--set", "samples=1000"]).succeeded();
    let run = &["run", "empty", "--wait", "--set", "samples=1000", "--trials", "3"][..];
    for args in [
        &["list"][..],
        &["list", "--json"],
        &["show"],
        &["doctor", "--quick"],
        &["completions", "bash"],
        &["run", "linux", "--dry-run"],
        &["run", "linux", "--dry-run", "--json"],
        run,
    ] {
        let mut command = lab.command(args);
        // Nobody reads what it gives.
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program starts");
        drop(child.stdout.take());
        let messages = BufReader::new(child.stderr.take().expect("a pipe")).lines();
        let messages: Vec<_> = messages.map_while(Result::ok).collect();
        let status = child.wait().expect("our child");
        assert!(status.success(), "{args:?}: {status}: {messages:?}");
    }
    // Nobody reads what it says either.
    let mut command = lab.command(run);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("the program starts");
    drop(child.stderr.take());
    assert!(child.wait().expect("our child").success());
    let mut recordings = lab.recordings();
    recordings.sort();
    let last = lab.show(recordings.last().expect("a recording"));
    assert_eq!(crate::harness::trials(&last).len(), 3);
}

#[test]
fn samples_go_out_and_come_back_the_same() {
    let lab = Lab::new();
    lab.kizami(&["run", "empty", "--wait", "--set", "samples=1000"]).succeeded();
    let export = |format: &str| {
        let folder = lab.path().join(format);
        lab.kizami(&["export", format, "--out", text(&folder)]).succeeded();
        let files: Vec<_> = fs::read_dir(folder).expect("a folder").flatten().map(|f| f.path()).collect();
        assert!(!files.is_empty(), "{format} wrote nothing");
        files
    };
    let import = |format: &str, files: &[PathBuf]| {
        let out = format!("back-{format}");
        let files: Vec<_> = files.iter().map(|f| text(f)).collect();
        lab.kizami(&[&["import", format, "--out", &out][..], &files].concat()).succeeded();
        let back = lab.show(&lab.path().join(&out));
        back["series"][0]["summary"]["count"].as_u64().expect("samples")
    };
    for format in ["csv", "figures", "summary"] {
        export(format);
    }
    assert!((999..=1000).contains(&import("cyclictest", &export("cyclictest"))));
    // Only an Erlang process has the columns of this one.
    lab.kizami(&["export", "nerves"]).ended_with(1).says(&["only an Erlang process has them"]);
    if let Err(why) = kizami_environments::find("beam").expect("it is in the list").available() {
        return skipped(&format!("kizami: samples of an Erlang VM as nerves_rt_perf writes them: {why}"));
    }
    let args = ["run", "nothing", "--wait", "--environment", "beam", "--set", "lang=erlang", "--set", "pause=0"];
    lab.kizami(&args).succeeded();
    assert_eq!(import("nerves", &export("nerves")), 100);
}

/// Three starts a side support no comparison, six do, and 27 samples have no interval: what these claims are about goes on, and
/// nothing else.
#[test]
fn a_claim_that_stays_open_takes_more_rounds_of_a_bench_unless_their_number_is_asked_for() {
    let lab = Lab::new();
    let text = r#"
        name = "goes-on"
        title = "Goes on"
        doublings = 1
        [quick]
        trials = 3
        [[group]]
        id = "open"
        title = "Open"
        workloads = ["empty"]
        vary = { samples = [1000, 1001] }
        [[group]]
        id = "other"
        title = "Other"
        workloads = ["empty"]
        params = { samples = 1002 }
        [[group]]
        id = "few"
        title = "Few"
        workloads = ["empty"]
        params = { samples = 9 }
        [[claim]]
        says = "two that are alike"
        of = { group = "open", samples = 1000 }
        statistic = "median"
        near = { group = "open", samples = 1001 }
        within = 0.99
        [[claim]]
        says = "a bound"
        of = { group = "few" }
        statistic = "median"
        between = ["0ns", "1s"]
    "#;
    fs::write(lab.path().join("goes-on.toml"), text).expect("a study");
    let planned = |command: &str| lab.kizami(&[command, "goes-on.toml", "--dry-run"]).succeeded().out;
    let (run, bench) = (planned("run"), planned("bench"));
    assert!(bench.contains("12 trials, about ") && bench.contains(" where claims stay open"), "{bench}");
    assert!(run.contains("12 trials, about ") && !run.contains("open"), "{run}");
    let trials = |folder: &str| -> Vec<usize> {
        let recording = recorded(&lab.path().join(folder));
        let series = recording["series"].as_array().expect("series").iter();
        series.map(|series| series["trials"].as_array().expect("trials").len()).collect()
    };
    let bench = ["bench", "goes-on.toml", "--wait", "--out"];
    let more = "two that are alike; a bound are not decided: 9 more trials for them";
    let went_on = lab.kizami(&[&bench[..], &["more"]].concat()).says(&[more]);
    assert!(went_on.out.contains("round by round") && went_on.out.contains("(97.5 %: "), "{went_on}");
    assert_eq!(trials("more"), [6, 6, 3, 6]);
    let notes = &recorded(&lab.path().join("more"))["notes"];
    assert!(notes.as_array().expect("notes").iter().any(|note| note == more), "{notes}");
    // A run has the rounds of its plan, however open they leave a claim.
    lab.kizami(&["run", "goes-on.toml", "--wait", "--out", "planned"]).succeeded();
    assert_eq!(trials("planned"), [3; 4]);
    // Bounds that were not seen to hold end a bench with 5.
    lab.kizami(&[&bench[..], &["asked", "--trials", "4"]].concat()).ended_with(5);
    assert_eq!(trials("asked"), [4; 4]);
}
