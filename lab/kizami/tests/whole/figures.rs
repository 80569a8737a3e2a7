//! The report's page: what it says of a run, and of another tool's samples.

use std::fs;
use std::path::Path;

use crate::harness::{Lab, text};

fn page(recording: &Path) -> String {
    fs::read_to_string(recording.join("report.html")).expect("a report")
}

#[test]
fn the_worst_sample_of_a_run_has_its_time_of_day() {
    let lab = Lab::new();
    lab.kizami(&["run", "wakeup", "--wait", "--set", "cycles=200"]).succeeded();
    let recording = lab.recording();
    let shown = lab.show(&recording);
    let max = shown["series"][0]["summary"]["max"].as_u64().expect("a maximum");
    let page = page(&recording);
    let trials = &page[page.find("wakeup-wakeup-trials").expect("the figure of all samples in order")..];
    let label = trials.split("</text>").find_map(|part| part.rsplit('>').next().filter(|text| text.contains(" at ")));
    let label = label.unwrap_or_else(|| panic!("no time in {trials}"));
    let (value, time) = label.rsplit_once(" at ").expect("a value and a time");
    // On a machine that is so busy that periods were missed, the plan does not tell the time of a sample.
    let value = value.split_once(" in sample ").map_or(value, |(value, _)| value);
    assert_eq!(value, kizami_report::plot::Unit::Nanoseconds.value(max as f64));
    let digits = |text: &str| text.chars().all(|c| c.is_ascii_digit());
    assert!(matches!(time.len(), 8 | 12) && time.split([':', '.']).all(digits), "{label}");
}

#[test]
fn an_import_says_once_what_is_known_of_its_machine() {
    let lab = Lab::new();
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../recording/tests/data/cyclictest-2.4.json");
    lab.kizami(&["import", "cyclictest", text(&file), "--out", "imported"]).succeeded();
    lab.kizami(&["report", "imported"]).succeeded();
    let page = page(&lab.path().join("imported"));
    let kernel = "6.18.44";
    assert_eq!(page.matches(&format!(">{kernel}<")).count(), 1, "the kernel is told once");
    assert_eq!(page.matches("A thread sleeps with clock_nanosleep").count(), 1, "so is what the workload does");
    assert!(!page.contains("this machine") && !page.contains("Settings in force for each series"));
    // The samples of a histogram ascend, which is not the order in which they were taken.
    assert!(page.contains("how often each time occurred") && !page.contains("every sample, in order"));
    // Under which policy and load a thread woke, and how often, is not in the file.
    assert!(page.contains("the longest of") && !page.contains("A thread under policy"));
    lab.kizami(&["decide", "imported", "--period", "1ms", "--deadline", "1ms", "--miss", "1e-2"])
        .ended_with(2)
        .says(&["imported has wake-ups of which it does not say how often they came"]);
}
