//! What the commands say of a machine, and what they refuse to say.

use std::fs;

use crate::harness::{Lab, text};

/// A histogram of 2000 cycles, of which it has 1000.
const CENSORED: &str = r#"{ "file_version": 1, "cmdline:": "cyclictest -h 16", "num_threads": 1, "resolution_in_ns": 0,
    "thread": { "0": { "histogram": { "5": 700, "15": 300 }, "cycles": 2000, "min": 5, "max": 50000, "avg": 600.5 } } }"#;

#[test]
fn samples_beyond_a_histogram_count_wherever_a_figure_stands() {
    let lab = Lab::new();
    let file = lab.path().join("hist.json");
    fs::write(&file, CENSORED).expect("a file");
    let imported = lab.kizami(&["import", "cyclictest", text(&file)]).succeeded();
    assert!(imported.err.contains("1000 of 2000 latencies of thread 0 lay beyond the end"), "{imported}");

    let one = lab.kizami(&["show", "--series", "wakeup"]).succeeded();
    for said in ["1000 samples lie beyond 16.0 µs, the greatest at 50.0 ms", "> 16.0 µs", "50.0 ms"] {
        assert!(one.out.contains(said), "{said}\n{one}");
    }
    let series = &lab.kizami(&["show", "--json", "--deadline", "50us"]).succeeded().json()["series"][0];
    let summary = &series["summary"];
    assert_eq!((&summary["count"], &summary["max"]), (&2000.into(), &50_000_000.into()), "{summary}");
    assert_eq!(summary["p99_9"]["more_than"], 15_999, "{summary}");
    assert!(summary["mean_interval"]["refused"].is_string(), "{summary}");
    let deadline = &series["deadline"];
    assert_eq!((&deadline["misses"], &deadline["possible"]), (&1.into(), &999.into()), "{deadline}");
    let sentence = lab.kizami(&["show", "--deadline", "50us"]).succeeded();
    let words = sentence.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("Between 1 and 1000 of 2000 samples are above 50us"), "{sentence}");

    let folder = lab.path().join("csv");
    lab.kizami(&["export", "summary", "--out", text(&folder)]).succeeded();
    let csv = fs::read_to_string(folder.join("summary.csv")).expect("summaries");
    assert!(csv.contains(",1000,0,5000,50000000,>"), "{csv}");
    assert!(csv.contains(",>15999,"), "{csv}");

    let recording = lab.recording();
    let copy = lab.copy_of(&recording);
    let args = ["compare", text(&recording), text(&copy), "--measure", "p99"];
    let compared = lab.kizami(&args).succeeded();
    assert!(compared.out.contains("only known to be beyond"), "{compared}");
    let page = fs::read_to_string({
        lab.kizami(&["report"]).succeeded();
        recording.join("report.html")
    });
    assert!(page.expect("a page").contains("1000 samples lie beyond 16.0 µs"));
}

#[test]
fn lost_samples_are_told_by_every_command() {
    let lab = Lab::new();
    let args = ["run", "clock-gap", "--wait", "--set", "duration=500ms", "--set", "capacity=3", "--trials", "1"];
    let ran = lab.kizami(&args).succeeded();
    assert!(ran.err.contains("were lost for want of room"), "{ran}");
    for said in ["were lost for want of room", "held up for at least"] {
        assert!(ran.out.split_whitespace().collect::<Vec<_>>().join(" ").contains(said), "{said}\n{ran}");
    }
    let series = lab.kizami(&["show", "--json", "--deadline", "1ms"]).succeeded().json()["series"].clone();
    for series in series.as_array().expect("series") {
        let lost = series["summary"]["lost"].as_u64().expect("a number");
        assert!(lost > 0 && series["series"]["trials"][0]["dropped"] == lost, "{series}");
        assert!(series["summary"]["max"]["at_least"].is_u64(), "{series}");
        assert!(series["deadline"]["interval"]["refused"].is_string(), "{series}");
    }
    let recording = lab.recording();
    let compared = lab.kizami(&["compare", text(&recording), text(&lab.copy_of(&recording))]).succeeded();
    assert!(compared.out.contains("samples for want of room"), "{compared}");
    let page = fs::read_to_string(recording.join("report.html")).expect("a page");
    assert!(page.contains("were lost for want of room"));
}

#[test]
fn one_start_a_side_supports_no_difference() {
    let lab = Lab::new();
    for samples in ["2000", "3000"] {
        lab.kizami(&["run", "empty", "--wait", "--trials", "1", "--set", &format!("samples={samples}")]).succeeded();
    }
    let recordings = lab.recordings();
    let args = ["compare", text(&recordings[0]), text(&recordings[1])];
    let compared = lab.kizami(&args).succeeded();
    assert!(compared.out.contains("One start a side support"), "{compared}");
    assert!(!compared.out.contains("A is"), "{compared}");
    let json = lab.kizami(&[&args[..], &["--json"]].concat()).succeeded().json();
    assert!(json[0]["comparison"]["support"].is_null() && json[0]["comparison"]["ratio"].is_f64(), "{json}");
}

#[test]
fn a_series_without_samples_says_why() {
    let lab = Lab::new();
    let args = ["run", "clock-gap", "--wait", "--set", "duration=50ms", "--set", "threshold=1s", "--trials", "1"];
    let ran = lab.kizami(&args).succeeded();
    let why = "no samples: none reached threshold=1s";
    for said in [&ran, &lab.kizami(&["show"]).succeeded(), &lab.kizami(&["show", "--deadline", "1ms"]).succeeded()] {
        assert!(said.out.contains(why), "{said}");
    }
    let args = ["run", "tcp", "--wait", "--set", "total=300000B", "--trials", "1", "--out", "tcp"];
    let ran = lab.kizami(&args).succeeded();
    let shown = lab.kizami(&["show", "tcp", "--series", "tcp.host"]).succeeded();
    for said in [&ran, &shown] {
        assert!(said.out.contains("no samples but the first of a trial"), "{said}");
    }
}
