//! Decisions about series whose truth is known: simulated wake-ups, recorded as a run would record them.

use std::collections::BTreeMap;
use std::path::Path;

use kizami_recording::folder::{Column, Outcome, Recording, Series, State, Unit, Writer};

use crate::harness::{Lab, text};

const LATE: u64 = 300_000;

/// Wake-ups every millisecond of one environment under one policy: independent, of which about one in `rate` is late.
struct Wakeups {
    environment: &'static str,
    policy: &'static str,
    emulated: bool,
    count: usize,
    rate: f64,
}

fn record(folder: &Path, all: &[Wakeups]) {
    let recording = Recording { started: "2026-01-01T00:00:00Z".into(), ..Recording::begun() };
    let mut writer = Writer::create(folder, recording).expect("a folder");
    for (index, wakeups) in all.iter().enumerate() {
        let requested = BTreeMap::from([("policy".to_owned(), wakeups.policy.to_owned())]);
        let series = writer.add_series(Series {
            name: format!("wakeup.{}.{index}", wakeups.environment),
            workload: "wakeup".into(),
            environment: wakeups.environment.into(),
            params: BTreeMap::from([("interval".to_owned(), "1ms".to_owned())]),
            requested,
            part: String::new(),
            columns: vec![Column::new("time", Unit::Nanoseconds)],
            operations: 1,
            emulated: wakeups.emulated,
            asked_by: Vec::new(),
            counted: false,
            trials: Vec::new(),
        });
        let mut random = fastrand::Rng::with_seed(index as u64 + 1);
        let mut one = || {
            let usual = (-(1.0 - random.f64()).ln() * 20_000.0) as u64;
            if random.f64() * wakeups.rate < 1.0 { LATE } else { usual.min(100_000) }
        };
        let samples: Vec<u64> = std::iter::repeat_with(&mut one).take(wakeups.count).collect();
        writer.begin_trial(&[series], &[samples.len() as u64], "2026-01-01T00:00:00Z").expect("a trial");
        writer.append(series, &samples).expect("samples");
        writer.end_trial(&[series], &Outcome::Complete).expect("an end");
    }
    writer.finish(State::Complete).expect("an end");
}

#[test]
fn each_environment_and_setting_gets_its_decision_and_what_would_help() {
    let lab = Lab::new();
    let folder = lab.path().join("simulated");
    let wakeups = |environment, policy, emulated, count, rate| Wakeups { environment, policy, emulated, count, rate };
    record(
        &folder,
        &[
            wakeups("host", "other", false, 50_000, 100.0),
            wakeups("host", "fifo:80", false, 50_000, f64::INFINITY),
            wakeups("docker", "fifo:80", false, 2_000, f64::INFINITY),
            wakeups("qemu", "other", true, 50_000, f64::INFINITY),
        ],
    );
    let args = ["decide", text(&folder), "--period", "1ms", "--deadline", "200us", "--miss", "0.001"];
    let said = lab.kizami(&[&args[..], &["--json"]].concat()).succeeded().json();
    let decisions = said["decisions"].as_array().expect("decisions");
    assert_eq!(decisions[0]["decision"], "does-not", "{said}");
    assert_eq!(decisions[0]["helps"], "policy=fifo:80", "{said}");
    assert_eq!(decisions[1]["decision"], "meets", "{said}");
    let more = decisions[2]["decision"]["not-yet"]["times"].as_f64().expect("a number");
    // By the rule of three, 3000 samples that are as good as independent.
    assert!((1.5..10.0).contains(&more), "{said}");
    assert!(decisions[3]["decision"].is_null(), "an emulator's times decide nothing: {said}");

    let table = lab.kizami(&args).succeeded();
    let words = table.out.split_whitespace().collect::<Vec<_>>().join(" ");
    for said in
        ["does not:", "meets it:", "not enough samples:", "s more would tell", "decide nothing", "policy=fifo:80"]
    {
        assert!(words.contains(said), "{said}\n{table}");
    }
}

#[test]
fn a_decision_that_nothing_stands_on_is_refused_with_what_to_measure() {
    let lab = Lab::new();
    let folder = lab.path().join("simulated");
    record(&folder, &[Wakeups { environment: "host", policy: "other", emulated: false, count: 1000, rate: 10.0 }]);
    let of = |period, deadline, miss| {
        lab.kizami(&["decide", text(&folder), "--period", period, "--deadline", deadline, "--miss", miss])
    };
    of("2ms", "1ms", "0.1").ended_with(2).says(&["every 1ms only", "--set interval=2ms"]);
    of("1ms", "soon", "0.1").ended_with(2).says(&["--deadline", "soon"]);
    of("0", "1ms", "0.1").ended_with(2).says(&["--period"]);
    of("1ms", "1ms", "2").ended_with(2).says(&["between 0 and 1"]);
}

#[test]
fn a_report_is_held_to_the_deadline_that_it_is_given() {
    let lab = Lab::new();
    let folder = lab.path().join("simulated");
    let wakeups = |policy, rate| Wakeups { environment: "host", policy, emulated: false, count: 50_000, rate };
    record(&folder, &[wakeups("other", 100.0), wakeups("fifo:80", f64::INFINITY)]);
    let page = || std::fs::read_to_string(folder.join("report.html")).expect("a report");
    lab.kizami(&["report", text(&folder)]).succeeded();
    assert!(
        !page().contains("class=\"decisions\"") && page().contains("kizami report --deadline"),
        "no claim without one"
    );

    let args = ["report", text(&folder), "--deadline", "200us", "--miss", "0.001", "--json"];
    let said = lab.kizami(&args).succeeded().json();
    let of =
        lab.kizami(&["decide", text(&folder), "--period", "1ms", "--deadline", "200us", "--miss", "0.001", "--json"]);
    assert_eq!(said["decisions"], of.succeeded().json()["decisions"], "the same decisions");
    for decision in said["decisions"].as_array().expect("decisions") {
        let sentence = decision["sentence"].as_str().expect("a sentence").split_once(": ").expect("a verdict").1;
        assert!(page().contains(sentence), "{sentence}");
    }
    lab.kizami(&["report", text(&folder), "--miss", "0.001"]).ended_with(2).says(&["--deadline"]);
    lab.kizami(&["report", text(&folder), "--deadline", "0"]).ended_with(2).says(&["longer than nothing"]);
}

#[test]
fn a_run_keeps_the_deadline_that_it_was_asked_for() {
    let lab = Lab::new();
    let run = [
        "run",
        "wakeup",
        "--wait",
        "--environment",
        "host",
        "--set",
        "cycles=200,300",
        "--deadline",
        "5s",
        "--miss",
        "0.1",
    ];
    let ran = lab.kizami(&run).succeeded();
    assert!(ran.out.contains("Is the deadline met?") && ran.out.contains("at most 5.00 s late"), "{ran}");
    let folder = lab.recording();
    let recorded = crate::harness::recorded(&folder);
    assert_eq!(recorded["requirement"], serde_json::json!({ "deadline": 5_000_000_000u64, "miss": 0.1 }));
    let page = std::fs::read_to_string(folder.join("report.html")).expect("a report");
    assert!(page.contains("class=\"decisions\"") && page.contains("deadline 5.00 s"), "{page}");
    let shown = lab.kizami(&["show"]).succeeded();
    assert!(shown.out.contains("Is the deadline met?"), "{shown}");
}
