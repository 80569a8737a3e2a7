//! Files of hyperfine, fio, oslat, jitterdebugger and rtla, and histograms as text: true files are imported with every sample that they hold,
//! or told apart and refused by name.

use std::collections::BTreeMap;

use kizami_recording::formats::{
    CYCLICTEST, FIO, Format, HISTOGRAM, HYPERFINE, Imported, ImportedSeries, JITTERDEBUGGER, NERVES, OSLAT, Rows, save,
};
use kizami_recording::stats::{Beyond, Samples};
use proptest::prelude::*;

use crate::support::mutated;

macro_rules! data {
    ($name:literal) => {
        include_bytes!(concat!("../data/others/", $name))
    };
}

const HYPERFINE_JSON: &[u8] = data!("hyperfine-1.15.json");
const HYPERFINE_PARAMETERS: &[u8] = data!("hyperfine-1.15-parameters.json");
const FIO_PLUS: &[u8] = data!("fio-3.33-plus.json");
const FIO_JSON: &[u8] = data!("fio-3.33.json");
const OSLAT_JSON: &[u8] = data!("oslat-2.4.json");
const JITTERDEBUGGER_JSON: &[u8] = data!("jitterdebugger-0.3.1.json");
const CYCLICTEST_TEXT: &[u8] = data!("cyclictest-2.4-histogram.txt");
const CYCLICTEST_OF_ALL: &[u8] = data!("cyclictest-2.4-histogram-of-all.txt");
const TIMERLAT: &[u8] = data!("rtla-timerlat-hist.txt");
const OSNOISE: &[u8] = data!("rtla-osnoise-hist.txt");
const CYCLICTEST_JSON: &[u8] = include_bytes!("../data/cyclictest-2.4.json");

const ALL: [&Format; 7] = [&NERVES, &CYCLICTEST, &OSLAT, &JITTERDEBUGGER, &HISTOGRAM, &HYPERFINE, &FIO];

fn imported(format: &Format, bytes: &[u8], name: &str) -> Imported {
    format.import(bytes, name).unwrap_or_else(|e| panic!("{e}"))
}

/// Value and count of a histogram's buckets.
fn buckets(series: &ImportedSeries) -> &[(u64, u64)] {
    match &series.rows {
        Rows::Counted(buckets) => buckets,
        Rows::Cells(_) => panic!("{} is no histogram", series.name),
    }
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("text")
}

/// The samples that are only known to be greater than a limit.
fn count_beyond(series: &ImportedSeries) -> u64 {
    series.beyond.map_or(0, |beyond| beyond.count)
}

#[test]
fn every_run_of_hyperfine_is_a_sample_in_its_order() {
    let got = imported(&HYPERFINE, HYPERFINE_JSON, "hf.json");
    assert_eq!(got.series.len(), 2);
    let Rows::Cells(times) = &got.series[0].rows else { panic!("it has an order") };
    assert_eq!(times.len(), 15);
    assert_eq!(times[..3], [3_933_921, 8_001_804, 7_806_454]);
    assert_eq!(got.series[0].params["command"], "sleep 0.003");
    assert_eq!(got.series[1].params["command"], "true");
    assert_ne!(got.series[0].name, got.series[1].name);
    let with = imported(&HYPERFINE, HYPERFINE_PARAMETERS, "hf.json");
    assert_eq!(with.series.iter().map(|s| s.params["parameter n"].as_str()).collect::<Vec<_>>(), ["1", "2"]);

    let failed = text(HYPERFINE_JSON).replacen("        0,", "        1,", 2);
    let notes = imported(&HYPERFINE, failed.as_bytes(), "hf.json").notes.join("\n");
    assert!(notes.contains("2 of 15 runs of sleep 0.003 did not end with status 0"), "{notes}");
    for (from, to, expected) in [
        ("0.003933921", "-1e300", "is no time that a command takes"),
        ("\"times\"", "\"tides\"", "result 1 (sleep 0.003): it has no times of single runs"),
        ("\"command\"", "\"order\"", "missing field `command`"),
    ] {
        let error =
            HYPERFINE.import(text(HYPERFINE_JSON).replacen(from, to, 1).as_bytes(), "hf.json").expect_err(expected);
        assert!(error.to_string().contains(expected), "{error}");
    }
}

#[test]
fn the_bins_of_fio_are_the_samples_of_each_direction() {
    let json: serde_json::Value = serde_json::from_slice(FIO_PLUS).expect("JSON");
    let got = imported(&FIO, FIO_PLUS, "disk.json");
    assert_eq!(got.tool, Some(("fio".into(), "fio-3.33".into())));
    assert_eq!(got.series.len(), 2);
    for series in &got.series {
        let direction = &series.params["direction"];
        let latency = &json["jobs"][0][direction.as_str()]["clat_ns"];
        let total: u64 = buckets(series).iter().map(|(_, count)| count).sum();
        assert_eq!(total, latency["N"].as_u64().expect("a number"), "{direction}");
        assert_eq!(series.facts["reported_max_ns"], latency["max"].as_f64().expect("a number"));
        let greatest = buckets(series).last().expect("a bucket").0 as f64;
        assert!((greatest / series.facts["reported_max_ns"] - 1.0).abs() < 0.01, "{direction}");
        assert_eq!((series.params["fio bs"].as_str(), series.params["job"].as_str()), ("4k", "mixed"));
    }
    let error = FIO.import(FIO_JSON, "disk.json").expect_err("it has percentiles only").to_string();
    assert!(error.contains("percentiles and no histogram: let fio write --output-format=json+"), "{error}");
}

#[test]
fn the_last_bucket_of_oslat_holds_what_lies_beyond_it() {
    let got = imported(&OSLAT, OSLAT_JSON, "o.json");
    let series = &got.series[0];
    assert_eq!((series.part.as_str(), count_beyond(series), got.series.len()), ("cpu1", 338, 1));
    assert_eq!(buckets(series)[..2], [(1_000, 22_872_274), (2_000, 15)]);
    assert_eq!(buckets(series).last(), Some(&(15_000, 10)));
    assert_eq!(series.facts["reported_max_ns"], 48_935_000.0);
    assert!(
        got.notes.iter().any(|n| n.contains("338 iterations of processor 1 took 16 us or longer")),
        "{:?}",
        got.notes
    );
    assert_eq!(got.host["kernel"], "6.18.44-fc-v669");
    // Where nothing lay beyond, the last bucket is one like the others.
    let whole = text(OSLAT_JSON).replacen("\"max\": 48935", "\"max\": 16", 1);
    let whole = imported(&OSLAT, whole.as_bytes(), "o.json");
    assert_eq!((count_beyond(&whole.series[0]), buckets(&whole.series[0]).last()), (0, Some(&(16_000, 338))));
}

#[test]
fn what_jitterdebugger_has_counted_and_not_binned_lies_beyond_a_millisecond() {
    let got = imported(&JITTERDEBUGGER, JITTERDEBUGGER_JSON, "results.json");
    let seen: Vec<_> = got.series.iter().map(|s| (s.part.as_str(), buckets(s)[0], s.beyond)).collect();
    let beyond = |count, max| Some(Beyond { limit: 999_999, count, max: Some(max) });
    assert_eq!(seen, [("thread0", (9_000, 1), beyond(2, 1_083_000)), ("thread1", (12_000, 2), beyond(6, 4_046_000))]);
    assert!(got.notes.iter().any(|n| n.contains("6 of 4000 latencies of thread 1 lay beyond")), "{:?}", got.notes);
    assert_eq!(got.host["kernel"], "6.18.44-fc-v669");
    let precise = imported(&JITTERDEBUGGER, data!("jitterdebugger-0.3.1-nanoseconds.json"), "n.json");
    assert_eq!((buckets(&precise.series[0])[0], count_beyond(&precise.series[0])), ((30_380, 1), 0));
    // The first version said nothing of the machine; none that is known has seconds, or fewer samples than its histogram.
    let edited = |from: &str, to: &str| text(JITTERDEBUGGER_JSON).replacen(from, to, 1).into_bytes();
    let first = imported(&JITTERDEBUGGER, &edited("\"resolution_in_ns\"", "\"other\""), "r.json");
    assert_eq!(buckets(&first.series[0])[0], (9_000, 1));
    for (from, to, expected) in [
        ("\"version\": 3", "\"version\": 4", "it has version 4, and 1 to 3 are understood"),
        ("_in_ns\": 1000", "_in_ns\": 1000000", "resolution_in_ns is neither 1 nor 1000"),
        ("\"count\": 4000", "\"count\": 3000", "thread 0: its histogram has 3998 samples, more than its 3000"),
        ("\"count\": 4000", "\"counts\": 4000", "missing field `count`"),
    ] {
        let error = JITTERDEBUGGER.import(&edited(from, to), "r.json").expect_err(expected).to_string();
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn a_printed_histogram_has_the_samples_of_each_thread() {
    for (bytes, totals, over) in [(CYCLICTEST_TEXT, [378, 390], [17, 10]), (CYCLICTEST_OF_ALL, [198, 191], [2, 9])] {
        let got = imported(&HISTOGRAM, bytes, "c.txt");
        let parts: Vec<_> = got.series.iter().map(|s| (s.part.as_str(), s.workload.as_str())).collect();
        assert_eq!(parts, [("thread0", "wakeup"), ("thread1", "wakeup")], "the column of all is no thread");
        let sums: Vec<u64> = got.series.iter().map(|s| buckets(s).iter().map(|(_, count)| count).sum()).collect();
        assert_eq!((sums, got.series.iter().map(count_beyond).collect::<Vec<_>>()), (totals.into(), over.to_vec()));
    }
    let first = imported(&HISTOGRAM, CYCLICTEST_TEXT, "c.txt");
    assert_eq!(first.series[0].facts["reported_max_ns"], 14_301_000.0);
    let one = buckets(&first.series[0])[0];
    assert_eq!(one.0 % 1000, 0, "microseconds: {one:?}");

    let timerlat = imported(&HISTOGRAM, TIMERLAT, "t.txt");
    assert_eq!(timerlat.series.len(), 10);
    assert_eq!((timerlat.series[1].part.as_str(), timerlat.series[1].workload.as_str()), ("thread-cpu0", "timerlat"));
    assert_eq!(buckets(&timerlat.series[0])[..2], [(0, 276_489), (1_000, 318_327)]);
    assert_eq!(buckets(&timerlat.series[3]).last(), Some(&(58_000, 1)));
    let osnoise = imported(&HISTOGRAM, OSNOISE, "n.txt");
    assert_eq!((osnoise.series.len(), osnoise.series[0].part.as_str()), (12, "cpu0"));
    assert_eq!(buckets(&osnoise.series[0]), [(0, 42_982), (10_000, 12_224), (20_000, 8), (30_000, 1)]);
    assert_eq!(osnoise.series[0].facts["resolution_ns"], 10_000.0);
}

#[test]
fn a_histogram_that_does_not_fit_together_is_named() {
    let real = text(CYCLICTEST_TEXT);
    let row = real.lines().find(|line| line.starts_with("000100 ")).expect("a line of the histogram");
    let at = real.lines().position(|line| line == row).expect("its line") as u64 + 1;
    let edited = |to: &str| real.replacen(row, to, 1);
    for (text, line, expected) in [
        (edited("000100 000000"), Some(at), "it has 1 counts, and the first line has 2"),
        (edited("000100 000000 many"), Some(at), "\"many\": a whole number was expected"),
        (edited("000100 -1 000000"), Some(at), "\"-1\": a whole number was expected"),
        (edited("000099 000000 000000"), Some(at), "99 after 99: values were expected to ascend"),
        (edited("000100 000999 000999"), None, "it has"),
        (edited("000100 18446744073709551615 000000"), None, "it has"),
        (real.replace("# Min Latencies:", "# Min:"), None, "no histogram as cyclictest prints it"),
        (text(TIMERLAT).replace("Thr-000", "Thread"), Some(4), "\"Thread\" is no column of rtla's"),
        (text(TIMERLAT).replace("   Thr-004", ""), Some(5), "10 counts, and the head names 9 columns"),
        (text(TIMERLAT).replace("count:   600002", "count:   600003"), None, "says 600003"),
    ] {
        let error = HISTOGRAM.import(text.as_bytes(), "c.txt").expect_err(expected);
        assert_eq!((error.line, &error.file[..]), (line, "c.txt"), "{error}");
        assert!(error.why.contains(expected), "{expected}: {error}");
    }
}

#[test]
fn a_file_of_another_tool_is_told_apart_and_named() {
    for (format, bytes, expected) in [
        (&CYCLICTEST, HYPERFINE_JSON, "it is the JSON of hyperfine: import it with kizami import hyperfine"),
        (&CYCLICTEST, FIO_PLUS, "it is the JSON of fio: import it with kizami import fio"),
        (&CYCLICTEST, OSLAT_JSON, "it is the JSON of oslat: import it with kizami import oslat"),
        (&CYCLICTEST, CYCLICTEST_TEXT, "it is a histogram of cyclictest: import it with kizami import histogram"),
        (
            &CYCLICTEST,
            JITTERDEBUGGER_JSON,
            "it is the JSON of jitterdebugger: import it with kizami import jitterdebugger",
        ),
        (&JITTERDEBUGGER, OSLAT_JSON, "kizami import oslat"),
        (&CYCLICTEST, TIMERLAT, "it is a histogram of rtla: import it with kizami import histogram"),
        (&NERVES, HYPERFINE_JSON, "kizami import hyperfine"),
        (&HYPERFINE, CYCLICTEST_JSON, "it is the JSON of cyclictest: import it with kizami import cyclictest"),
        (&OSLAT, CYCLICTEST_JSON, "kizami import cyclictest"),
        (&FIO, OSLAT_JSON, "kizami import oslat"),
        (&HISTOGRAM, b"count,time,heap_size,minor_gcs\r\n1,532,2586,3\r\n", "kizami import nerves"),
        (&HYPERFINE, data!("hyperfine-1.15.csv"), "it is the CSV of hyperfine: it has figures and no samples"),
        (&HYPERFINE, data!("hyperfine-1.15.md"), "it is a table of hyperfine"),
        (&HYPERFINE, data!("hyperfine-1.15.txt"), "it is what hyperfine prints"),
        (&OSLAT, data!("oslat-2.4.txt"), "it is what oslat prints: let oslat write its histogram with --json=FILE"),
        (
            &CYCLICTEST,
            data!("cyclictest-2.4-summary.txt"),
            "it is what cyclictest prints: it has figures and no samples",
        ),
        (&FIO, data!("fio-3.33.txt"), "it is what fio prints: it has figures and no samples"),
        (
            &CYCLICTEST,
            b"{\"file_version\": 1, \"rt_test_version:\": \"2.4\", \"num_threads\": 1}",
            "it is the JSON of another program of rt-tests",
        ),
        // What is of the right tool, or of none that is known, keeps the error of its own.
        (&CYCLICTEST, b"{\"file_version\": 1, \"resolution_in_ns\": 0}", "missing field `num_threads`"),
        (&HYPERFINE, b"nonsense", "what hyperfine writes with --export-json was expected"),
    ] {
        let error = format.import(bytes, "f").expect_err(expected).to_string();
        assert!(error.contains(expected), "{}: {error}", format.name);
    }
}

#[test]
fn counts_that_no_machine_has_measured_are_refused() {
    let most: u64 = 1 << 63;
    let fio = format!(
        r#"{{"fio version": "fio-3.33", "jobs": [{{"jobname": "j", "read": {{"total_ios": 5,
            "clat_ns": {{"min": 1, "max": 2, "mean": 1.5, "bins": {{"100": {most}, "200": {most}}}}}}}}}]}}"#
    );
    let oslat = format!(
        r#"{{"file_version": 1, "thread": {{"0": {{"cpu": 0, "freq": 1, "min": 1, "max": 3, "avg": 1.0,
            "histogram": {{"1": {most}, "2": {most}}}}}}}}}"#
    );
    let text = format!("# Histogram\n000001 {most}\n000002 {most}\n# Min Latencies: 00001\n");
    for (format, bytes) in [(&FIO, fio), (&OSLAT, oslat), (&HISTOGRAM, text)] {
        let error = format.import(bytes.as_bytes(), "f").expect_err(format.name).to_string();
        assert!(error.contains("18446744073709551615 samples: up to 281474976710655 are taken"), "{error}");
    }
}

#[test]
fn an_import_becomes_a_recording_with_a_series_of_its_own_for_each() {
    let dir = tempfile::tempdir().expect("a folder");
    let all = [
        imported(&HYPERFINE, HYPERFINE_JSON, "a.json"),
        imported(&HYPERFINE, HYPERFINE_PARAMETERS, "b.json"),
        imported(&FIO, FIO_PLUS, "c.json"),
        imported(&HISTOGRAM, CYCLICTEST_TEXT, "d.txt"),
        imported(&HISTOGRAM, OSNOISE, "e.txt"),
    ];
    let folder = dir.path().join("r");
    save(&folder, vec!["kizami".into()], &all).expect("a recording");
    let reader = kizami_recording::folder::Reader::open(&folder).expect("a recording");
    assert_eq!(reader.damage(), []);
    let series: usize = all.iter().map(|one| one.series.len()).sum();
    assert_eq!(reader.series().len(), series);
    let samples: BTreeMap<_, _> = reader.series().map(|s| (s.series.name.clone(), s.samples().len())).collect();
    assert_eq!(samples["run-time-imported-a"], 15);
    assert_eq!(samples["wakeup-imported-d-thread1"], 390);
    assert_eq!(samples["noise-imported-e-cpu0"], 55_215);
}

fn any_mutated() -> impl Strategy<Value = Vec<u8>> {
    let valid = [
        HYPERFINE_JSON,
        FIO_PLUS,
        OSLAT_JSON,
        JITTERDEBUGGER_JSON,
        CYCLICTEST_TEXT,
        CYCLICTEST_OF_ALL,
        TIMERLAT,
        OSNOISE,
    ];
    prop::sample::select(valid.to_vec()).prop_flat_map(mutated)
}

/// None panics; who takes it has series, who refuses says why.
fn try_all(bytes: &[u8], name: &str) {
    for format in ALL {
        match format.import(bytes, name) {
            Ok(imported) => assert!(!imported.series.is_empty(), "{}", format.name),
            Err(error) => assert!(!error.why.is_empty() && error.file == name, "{}", format.name),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]
    #[test]
    fn arbitrary_text_makes_no_import_panic(text in "[-#{}\\[\\]\":,.a-zA-Z0-9 \n]{0,200}", name in ".{0,40}") {
        try_all(text.as_bytes(), &name);
    }

    #[test]
    fn damaged_files_make_no_import_panic(bytes in any_mutated(), name in ".{0,40}") {
        try_all(&bytes, &name);
    }

    #[test]
    fn the_times_of_hyperfine_come_in_to_the_nanosecond(times in prop::collection::vec(0u64..1 << 50, 1..40)) {
        let seconds: Vec<String> = times.iter().map(|ns| format!("{}.{:09}", ns / 1_000_000_000, ns % 1_000_000_000)).collect();
        let json = format!("{{\"results\": [{{\"command\": \"c\", \"times\": [{}]}}]}}", seconds.join(", "));
        let got = HYPERFINE.import(json.as_bytes(), "h.json").expect("a file");
        prop_assert_eq!(&got.series[0].rows, &Rows::Cells(times));
    }
}
