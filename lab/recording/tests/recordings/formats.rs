//! Import and export: samples survive both, as far as the format can hold them.

use std::collections::BTreeMap;
use std::path::Path;

use kizami_recording::folder::{Column, Outcome, Reader, Series, State, Unit, Writer};
use kizami_recording::formats::{self, Imported, NotExported, Rows, csv, cyclictest, nerves, save};
use kizami_recording::stats::{Beyond, Deadline, Known, NoInterval, Options, Samples, Summary};

use crate::support::{recording, series, trial, values};

pub const CYCLICTEST: &[u8] = include_bytes!("../data/cyclictest-2.4.json");
pub const CYCLICTEST_OVERFLOW: &[u8] = include_bytes!("../data/cyclictest-2.4-overflow.json");
const CYCLICTEST_NANOSECONDS: &[u8] = include_bytes!("../data/cyclictest-2.4-nanoseconds.json");
const CYCLICTEST_NO_HISTOGRAM: &[u8] = include_bytes!("../data/cyclictest-2.4-no-histogram.json");

pub const NERVES: &str = "count,time,heap_size,minor_gcs\r\n1,532,2586,3\r\n2,529,2586,4\r\n3,9001,6772,4\r\n";

/// The recording that is made of `imported`.
fn saved(dir: &Path, imported: &[Imported]) -> Reader {
    let folder = dir.join(format!("r{}", std::fs::read_dir(dir).map_or(0, Iterator::count)));
    save(&folder, vec!["kizami".into(), "import".into()], imported).expect("a recording");
    let reader = Reader::open(&folder).expect("a recording");
    assert_eq!(reader.damage(), []);
    reader
}

fn text(export: impl FnOnce(&mut dyn std::io::Write) -> Result<(), NotExported>) -> String {
    let mut bytes = Vec::new();
    export(&mut bytes).expect("an export");
    String::from_utf8(bytes).expect("text")
}

/// Some rows of an Erlang process, the first of them cold.
fn erlang(writer: &mut Writer, requested: &[(&str, &str)]) -> usize {
    let columns = [("time", Unit::Nanoseconds), ("heap_size", Unit::Words), ("minor_gcs", Unit::Count)];
    let index = writer.add_series(Series {
        workload: "sum".into(),
        environment: "beam".into(),
        params: BTreeMap::from([("lang".into(), "elixir".into())]),
        requested: requested.iter().map(|(n, v)| ((*n).into(), (*v).into())).collect(),
        columns: columns.map(|(name, unit)| Column::new(name, unit)).into(),
        ..series(&format!("sum{}", writer.recording().series.len()), 3)
    });
    let rows = [[99_999, 1, 1], [532_999, 2586, 3], [529_000, 2586, 4], [9_001_001, 6772, 4]];
    trial(writer, index, rows.as_flattened(), 1, &Outcome::Complete);
    index
}

#[test]
fn nerves_rows_are_written_as_the_program_writes_them() {
    let dir = tempfile::tempdir().expect("a folder");
    let folder = dir.path().join("r");
    let mut writer = Writer::create(&folder, recording()).expect("a new folder");
    let series = erlang(&mut writer, &[("fullsweep_after", "8191")]);
    writer.finish(State::Complete).expect("an end");
    let reader = Reader::open(&folder).expect("a recording");
    let loaded = reader.series().nth(series).expect("the series");
    assert_eq!(text(|out| nerves::export(&loaded, 0, out)), NERVES);
    let name = nerves::file_name(loaded.series, &loaded.series.trials[0]);
    assert_eq!(name, "beam-GcFsa-Sum_8191-030405.csv");
    let error = nerves::export(&loaded, 1, &mut Vec::new()).expect_err("no such trial").to_string();
    assert!(error.contains("has 1 trials and no trial 2"), "{error}");
}

#[test]
fn what_goes_out_for_nerves_comes_back_with_its_setting() {
    let settings: &[&[(&str, &str)]] = &[
        &[],
        &[("fullsweep_after", "0")],
        &[("min_heap_size", "6765")],
        &[("priority", "high")],
        &[("priority", "normal")],
        &[("governor", "powersave")],
        &[("vm_flags", "+sbwt none -x")],
        &[("policy", "fifo:80"), ("priority", "high"), ("timer_slack", "1us")],
    ];
    let dir = tempfile::tempdir().expect("a folder");
    let folder = dir.path().join("own");
    let mut writer = Writer::create(&folder, recording()).expect("a new folder");
    for requested in settings {
        erlang(&mut writer, requested);
    }
    writer.finish(State::Complete).expect("an end");
    let own = Reader::open(&folder).expect("a recording");
    let mut imported = Vec::new();
    for loaded in own.series() {
        let name = nerves::file_name(loaded.series, &loaded.series.trials[0]);
        let file = text(|out| nerves::export(&loaded, 0, out));
        imported.push(formats::NERVES.import(file.as_bytes(), &name).expect("its own file"));
    }
    let reader = saved(dir.path(), &imported);
    let names: Vec<&str> = reader.recording().series.iter().map(|s| s.name.as_str()).collect();
    assert_eq!(
        names[..3],
        ["sum-imported-beam", "sum-imported-beam-fullsweep_after=0", "sum-imported-beam-min_heap_size=6765"]
    );
    for (again, own) in reader.series().zip(own.series()) {
        assert_eq!(again.series.requested, own.series.requested);
        assert_eq!((&again.series.workload[..], &again.series.environment[..]), ("sum", "imported"));
        assert_eq!(again.series.params["lang"], "elixir");
        assert_eq!(again.series.params["target"], "beam");
        assert_eq!(again.series.asked_by, ["sum/sum"]);
        assert_eq!(values(again.samples()), [532_000, 529_000, 9_001_000]);
        for column in 1..3 {
            assert_eq!(values(again.column(column)), values(own.column(column)));
        }
    }
}

#[test]
fn files_of_the_same_condition_are_trials_of_one_series() {
    let name = |time: &str| format!("rpi3-Base-Fib_normal-{time}.csv");
    let one = formats::NERVES.import(NERVES.as_bytes(), &name("101500")).expect("a file");
    let two = formats::NERVES.import(NERVES.as_bytes(), &name("101700")).expect("a file");
    let other = formats::NERVES.import(NERVES.as_bytes(), "bbb-Base-Fib_normal-101700.csv").expect("a file");
    let bare = "count,time_1,time_2,heap_size,minor_gcs\r\n1,1,2,3,4\r\n";
    let shape = formats::NERVES.import(bare.as_bytes(), &name("101900")).expect("a file");
    let dir = tempfile::tempdir().expect("a folder");
    let reader = saved(dir.path(), &[one, two, other, shape]);
    let trials = reader.series().map(|s| (s.series.name.clone(), s.series.trials.len())).collect::<Vec<_>>();
    let expected = [("fib-imported-rpi3", 2), ("fib-imported-bbb", 1), ("fib-imported-rpi3.2", 1)];
    assert_eq!(trials, expected.map(|(name, trials)| (name.to_owned(), trials)));
    assert_eq!(reader.recording().order.len(), 4);
}

#[test]
fn every_layout_of_nerves_is_understood_and_its_warm_up_is_cold() {
    let gpio = "count,time_for_0,time_for_1,time_for_0to1,time_for_1to0,heap_size,minor_gcs\r\n\
                0,9,8,7,6,5,4\r\n1,1,2,3,4,5,6\r\n2,10,20,30,40,50,60\r\n";
    let imported = formats::NERVES.import(gpio.as_bytes(), "rpi3_rt-Base-Gpiowrite_normal-235959.csv").expect("a file");
    let dir = tempfile::tempdir().expect("a folder");
    let reader = saved(dir.path(), &[imported]);
    let loaded = reader.series().next().expect("a series");
    assert_eq!((&loaded.series.workload[..], &loaded.series.params["target"][..]), ("gpiowrite", "rpi3_rt"));
    assert_eq!((values(loaded.cold()), values(loaded.samples())), (vec![9_000], vec![1_000, 10_000]));
    assert_eq!((values(loaded.column(3)), values(loaded.column(5))), (vec![4_000, 40_000], vec![6, 60]));
    // The warm-up stays out when it goes out again.
    let again = text(|out| nerves::export(&loaded, 0, out));
    assert_eq!(again, gpio.replace("0,9,8,7,6,5,4\r\n", ""));
}

#[test]
fn a_name_that_says_nothing_is_no_obstacle_and_is_noted() {
    for name in ["results.csv", "é/..//x.csv", "", "-Base-_-.csv", "a-Base-Sum.csv", "a-GcFsa-Sum_0.csv"] {
        let imported = formats::NERVES.import(NERVES.as_bytes(), name).expect(name);
        assert_eq!(imported.series[0].requested.len(), 0, "{name}");
        assert_eq!(imported.notes.len(), 2, "{name}");
        let dir = tempfile::tempdir().expect("a folder");
        saved(dir.path(), &[imported]);
    }
}

#[test]
fn a_series_without_heap_is_not_made_into_rows_of_nerves() {
    let dir = tempfile::tempdir().expect("a folder");
    let folder = dir.path().join("r");
    let mut writer = Writer::create(&folder, recording()).expect("a new folder");
    let a = writer.add_series(series("native", 1));
    trial(&mut writer, a, &[1], 0, &Outcome::Complete);
    let reader = Reader::open(&folder).expect("a recording");
    let loaded = reader.series().next().expect("the series");
    let mut out = Vec::new();
    let error = nerves::export(&loaded, 0, &mut out).expect_err("no heap").to_string();
    assert!(error.contains("series native has no time, heap_size and minor_gcs"), "{error}");
    assert!(out.is_empty());
}

#[test]
fn a_real_histogram_stays_counts() {
    let imported = formats::CYCLICTEST.import(CYCLICTEST, "cyclictest-2.4.json").expect("a real file");
    assert_eq!(imported.tool, Some(("cyclictest".into(), "2.40".into())));
    assert_eq!(imported.host["kernel"], "6.18.44");
    assert_eq!(imported.host["realtime_kernel"], "false");
    let json: serde_json::Value = serde_json::from_slice(CYCLICTEST).expect("JSON");
    let dir = tempfile::tempdir().expect("a folder");
    let reader = saved(dir.path(), std::slice::from_ref(&imported));
    assert_eq!(reader.series().len(), 2);
    assert!(reader.recording().notes.iter().any(|note| note.contains("a histogram has no order")));
    for (number, loaded) in reader.series().enumerate() {
        let thread = &json["thread"][number.to_string()];
        let samples = values(loaded.samples());
        assert_eq!((samples.len(), loaded.samples().unrecorded().is_complete()), (300, true));
        let rows = thread["histogram"].as_object().expect("a histogram").len() as u64;
        assert_eq!((loaded.series.counted, loaded.series.trials[0].rows), (true, rows));
        assert!(samples.is_sorted());
        assert_eq!(samples[0] / 1000, thread["min"].as_u64().expect("min"));
        assert_eq!(samples[299] / 1000, thread["max"].as_u64().expect("max"));
        // cyclictest rounds each value down before it takes the mean, so the means agree to their last digit.
        let mean = samples.iter().sum::<u64>() as f64 / 300.0 / 1000.0;
        assert!((mean - thread["avg"].as_f64().expect("avg")).abs() < 0.0051, "{mean}");
        assert_eq!(loaded.series.part, format!("thread{number}"));
        assert_eq!(loaded.series.asked_by, ["wakeup/wakeup"]);
        assert!(loaded.series.trials[0].started.starts_with("2026-11-21T22:4"), "{}", loaded.series.trials[0].started);
    }
}

#[test]
fn what_lay_beyond_the_histogram_counts_and_is_not_invented() {
    let imported = formats::CYCLICTEST.import(CYCLICTEST_OVERFLOW, "overflow.json").expect("a real file");
    for thread in &imported.series {
        let Rows::Counted(buckets) = &thread.rows else { panic!("a histogram") };
        let inside: u64 = buckets.iter().map(|(_, count)| count).sum();
        assert!(inside < 400, "{inside}");
        // The histogram was asked for with -h 60, in whole microseconds.
        let max = thread.facts["reported_max_ns"] as u64;
        assert_eq!(thread.beyond, Some(Beyond { limit: 59_999, count: 400 - inside, max: Some(max) }));
        assert!(buckets.iter().all(|(value, _)| *value < 60_000));
    }
    let said = imported.notes.iter().filter(|note| note.contains("lay beyond the end of the histogram"));
    assert_eq!(said.count(), 2);

    let dir = tempfile::tempdir().expect("a folder");
    for (loaded, thread) in saved(dir.path(), std::slice::from_ref(&imported)).series().zip(&imported.series) {
        let summary = Summary::of(&*loaded.values(), &Options::default()).expect("samples");
        assert_eq!((summary.count, summary.max), (400, Known::Exactly(thread.facts["reported_max_ns"] as u64)));
        assert_eq!(summary.p99, Some(Known::MoreThan(59_999)));
        assert_eq!(summary.median_interval, Err(NoInterval::Unordered));
        let deadline = Deadline::of(&*loaded.values(), 100_000).expect("samples");
        assert!(deadline.misses == 1 && deadline.possible > 0, "{deadline:?}");
    }
}

#[test]
fn the_end_of_a_histogram_is_that_of_the_command_line_if_it_can_be() {
    let real = std::str::from_utf8(CYCLICTEST_OVERFLOW).expect("text");
    let limit = |asked: &str| {
        let text = real.replacen("-h 60", asked, 1);
        formats::CYCLICTEST.import(text.as_bytes(), "o.json").expect("a file").series[0]
            .beyond
            .expect("latencies beyond")
            .limit
    };
    for asked in ["-h 80", "-h80", "--histogram=80", "--histogram 80", "-H 80"] {
        assert_eq!(limit(asked), 79_999, "{asked}");
    }
    // It ends after its last latency at least.
    for asked in ["", "-h 20", "-h x"] {
        assert_eq!(limit(asked), 59_999, "{asked}");
    }
}

#[test]
fn a_histogram_of_a_thousand_million_cycles_stays_small() {
    let real = std::str::from_utf8(CYCLICTEST).expect("text");
    let more = real.replace("\"cycles\": 300", "\"cycles\": 1000000300");
    let mut json: serde_json::Value = serde_json::from_str(&more).expect("JSON");
    for thread in ["0", "1"] {
        json["thread"][thread]["histogram"] = serde_json::json!({ "10": 999_999_999, "900": 301 });
    }
    let imported = formats::CYCLICTEST.import(json.to_string().as_bytes(), "large.json").expect("a file");
    let dir = tempfile::tempdir().expect("a folder");
    let reader = saved(dir.path(), std::slice::from_ref(&imported));
    let loaded = reader.series().next().expect("a series");
    let file = std::fs::metadata(reader.folder().join(loaded.series.file())).expect("a file");
    assert!(file.len() < 100, "{}", file.len());
    let summary = Summary::of(&*loaded.values(), &Options::default()).expect("samples");
    assert_eq!((summary.count, summary.max), (1_000_000_300, Known::Exactly(900_000)));
    assert_eq!(summary.p99_999, Some(Known::Exactly(10_000)));
    let exactly = 10_000.0 + 890_000.0 * 301.0 / 1_000_000_300.0;
    assert!((summary.mean.bound() - exactly).abs() < 1e-6, "{:?}", summary.mean);
    let written = text(|out| cyclictest::export(reader.recording(), &[loaded], out));
    assert!(written.contains("\"10\": 999999999"), "{written}");
}

#[test]
fn nanoseconds_are_taken_as_such_and_a_file_without_samples_is_refused() {
    let imported = formats::CYCLICTEST.import(CYCLICTEST_NANOSECONDS, "n.json").expect("a real file");
    let [thread] = &imported.series[..] else { panic!("one thread") };
    let Rows::Counted(buckets) = &thread.rows else { panic!("a histogram") };
    assert_eq!(
        (buckets[0].0 as f64, buckets.iter().map(|(_, n)| n).sum::<u64>()),
        (thread.facts["reported_min_ns"], 38)
    );
    assert_eq!(thread.beyond.map(|beyond| beyond.count), Some(2));
    assert_eq!((&thread.part[..], thread.facts["resolution_ns"]), ("", 1.0));

    let error = formats::CYCLICTEST.import(CYCLICTEST_NO_HISTOGRAM, "p.json").expect_err("no samples").to_string();
    assert!(error.starts_with("p.json: it has no samples: let cyclictest keep a histogram, with -h"), "{error}");
}

#[test]
fn what_goes_out_for_cyclictest_comes_back_as_the_same_histogram() {
    let dir = tempfile::tempdir().expect("a folder");
    for file in [CYCLICTEST, CYCLICTEST_OVERFLOW] {
        let imported = formats::CYCLICTEST.import(file, "a.json").expect("a real file");
        let reader = saved(dir.path(), std::slice::from_ref(&imported));
        let threads: Vec<_> = reader.series().collect();
        let written = text(|out| cyclictest::export(reader.recording(), &threads, out));
        assert!(written.contains("\"cmdline:\": \"kizami import\""), "{written}");
        let again = formats::CYCLICTEST.import(written.as_bytes(), "a.json").expect("its own file");
        let series = |imported: &Imported| {
            let key = |s: &kizami_recording::formats::ImportedSeries| (s.rows.clone(), s.beyond, s.started.clone());
            imported.series.iter().map(key).collect::<Vec<_>>()
        };
        assert_eq!(series(&again), series(&imported));
        assert_eq!(again.host, imported.host);
    }
}

#[test]
fn an_exported_histogram_has_the_keys_that_cyclictest_writes() {
    fn keys(json: &serde_json::Value) -> Vec<String> {
        json.as_object().expect("an object").keys().cloned().collect()
    }
    let dir = tempfile::tempdir().expect("a folder");
    let folder = dir.path().join("r");
    let mut writer = Writer::create(&folder, recording()).expect("a new folder");
    let a = writer.add_series(Series { part: "cpu3".into(), ..series("a", 1) });
    trial(&mut writer, a, &[50_000, 999, 1_000, 2_999, 2_000], 1, &Outcome::Complete);
    writer.finish(State::Complete).expect("an end");
    let reader = Reader::open(&folder).expect("a recording");
    let threads: Vec<_> = reader.series().collect();
    let written = text(|out| cyclictest::export(reader.recording(), &threads, out));
    let (ours, theirs): (serde_json::Value, serde_json::Value) =
        (serde_json::from_str(&written).expect("JSON"), serde_json::from_slice(CYCLICTEST).expect("JSON"));
    assert_eq!(keys(&ours), keys(&theirs));
    let thread = &ours["thread"]["0"];
    assert_eq!(keys(thread), keys(&theirs["thread"]["0"]));
    // The cold row is left out, as in every summary.
    assert_eq!(thread["histogram"], serde_json::json!({ "0": 1, "1": 1, "2": 2 }));
    let figures = ["cycles", "min", "max", "avg", "cpu"].map(|key| thread[key].as_f64().expect(key));
    assert_eq!(figures, [4.0, 0.0, 2.0, 1.25, 3.0]);
}

#[test]
fn csv_has_every_sample_of_every_trial_with_all_columns() {
    let dir = tempfile::tempdir().expect("a folder");
    let folder = dir.path().join("r");
    let mut writer = Writer::create(&folder, recording()).expect("a new folder");
    let a = writer.add_series(Series {
        columns: vec![Column::new("time", Unit::Nanoseconds), Column::new("odd, \"name\"", Unit::BitsPerSecond)],
        ..series("a", 2)
    });
    trial(&mut writer, a, &[10, 11, 20, 21], 1, &Outcome::Complete);
    trial(&mut writer, a, &[u64::MAX, 0], 0, &Outcome::Complete);
    // More rows than are looked at together.
    let many: Vec<u64> = (0..6000).collect();
    trial(&mut writer, a, &many, 2, &Outcome::Complete);
    writer.finish(State::Complete).expect("an end");
    let reader = Reader::open(&folder).expect("a recording");
    let written = text(|out| csv::export(&reader.series().next().expect("the series"), out));
    let expected = "trial,row,cold,time (ns),\"odd, \"\"name\"\" (bit/s)\"\n1,1,1,10,11\n1,2,0,20,21\n\
                    2,1,0,18446744073709551615,0\n3,1,1,0,1\n3,2,1,2,3\n3,3,0,4,5\n";
    assert!(written.starts_with(expected), "{}", &written[..300]);
    let last = written.lines().last().expect("a line");
    assert_eq!((last, written.lines().count()), ("3,3000,0,5998,5999", 1 + 2 + 1 + 3000));
}

#[test]
fn summaries_have_a_line_a_series_with_what_is_known_of_it() {
    let dir = tempfile::tempdir().expect("a folder");
    let folder = dir.path().join("r");
    let mut writer = Writer::create(&folder, recording()).expect("a new folder");
    let time = writer.add_series(Series { operations: 10, ..series("time", 1) });
    let columns = ["time", "bytes"].map(|name| Column::new(name, Unit::Count)).into();
    let rate = writer.add_series(Series { columns, ..series("rate", 2) });
    let columns = ["when", "MemFree"].map(|name| Column::new(name, Unit::Count)).into();
    let watched = writer.add_series(Series { columns, ..series("watched", 2) });
    writer.add_series(series("never-run", 1));
    trial(&mut writer, time, &[99, 10, 20, 40], 1, &Outcome::Complete);
    trial(&mut writer, rate, &[1_000_000_000, 125], 0, &Outcome::Complete);
    trial(&mut writer, watched, &[1, 2, 3, 4], 0, &Outcome::Complete);
    let reader = Reader::open(&folder).expect("a recording");
    let all: Vec<_> = reader.series().collect();
    let written = text(|out| csv::summaries(&all, &Options::default(), out));
    let mut csv = ::csv::Reader::from_reader(written.as_bytes());
    let rows: Vec<BTreeMap<String, String>> = csv.deserialize().collect::<Result<_, _>>().expect("CSV");
    let of = |row: usize, names: [&str; 9]| names.map(|name| rows[row][name].clone());
    let names = ["series", "unit", "operations", "count", "min", "max", "median", "variance", "p99"];
    assert_eq!(rows.len(), 2);
    assert_eq!(of(0, names), ["time", "ns", "10", "3", "10", "40", "20", "233.33333333333334", ""]);
    assert_eq!(of(1, names), ["rate", "bit/s", "1", "1", "1000", "1000", "1000", "", ""]);
    let none = csv::summaries(&all[2..], &Options::default(), &mut Vec::new());
    assert!(matches!(none, Err(NotExported::Impossible(_))), "{none:?}");
}
