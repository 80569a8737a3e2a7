//! The recording in `data/v1` was written by the first version of the format. Every later program must read the same
//! content from it. Neither the recording nor this test is ever changed: a new version of the format gets a recording
//! of its own.

use std::collections::BTreeMap;
use std::path::Path;

use kizami_recording::folder::{Column, Effective, Measured, Outcome, Reader, State, Step, Unit};
use kizami_recording::stats::{Known, Options, Samples, Summary};

use crate::support::values;

fn read() -> Reader {
    Reader::open(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/v1")).expect("the recording of version 1")
}

fn texts(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

#[test]
fn the_first_version_says_the_same_of_its_run_forever() {
    let reader = read();
    assert_eq!(reader.damage(), []);
    let run = reader.recording();
    assert_eq!((run.format_version, &run.kizami_version[..], &run.size[..]), (1, "0.1.0", "quick"));
    assert_eq!(
        (&run.command[..], &run.studies[..]),
        (&["kizami", "run", "linux", "--quick"].map(str::to_owned)[..], &["linux".to_owned()][..])
    );
    assert_eq!((&run.started[..], run.ended.is_some()), ("2026-01-02T03:04:05Z", true));
    assert_eq!((run.state, run.seed), (State::Interrupted, u64::MAX));
    assert_eq!(run.host, texts(&[("kernel", "6.1.0-rt"), ("realtime_kernel", "true")]));
    assert_eq!(run.tools, texts(&[("kizami", "0.1.0"), ("otp", "25")]));
    let note = "policy = fifo:80 did not take effect, other was in force: no privileges — « ja » 刻み";
    assert_eq!(run.notes, [note]);
    let step = |series: &[usize], trial| Step { series: series.to_vec(), trial };
    assert_eq!(run.order, [step(&[0, 1], 0), step(&[0, 1], 1), step(&[2], 0), step(&[3], 0), step(&[3], 1)]);
}

#[test]
fn the_first_version_says_the_same_of_its_series_forever() {
    let reader = read();
    let names: Vec<&str> = reader.series().map(|s| s.series.name.as_str()).collect();
    assert_eq!(names, ["wakeup-host-cpu0", "wakeup-host-cpu1", "sum_rtos,n=4000+x%20", "tcp-host"]);
    let series = &reader.recording().series;

    let wakeup = &series[0];
    assert_eq!((&wakeup.workload[..], &wakeup.environment[..], &wakeup.part[..]), ("wakeup", "host", "cpu0"));
    assert_eq!(wakeup.params, texts(&[("interval", "1ms"), ("threads", "per-cpu")]));
    assert_eq!(wakeup.requested, texts(&[("policy", "fifo:80")]));
    assert_eq!((wakeup.operations, wakeup.emulated), (1, false));
    assert_eq!(wakeup.asked_by, ["linux/wakeup", "linux/load"]);
    assert_eq!(wakeup.columns, [Column::new("time", Unit::Nanoseconds)]);
    let [first, second] = &wakeup.trials[..] else { panic!("two trials") };
    assert_eq!((&first.started[..], &second.started[..]), ("2026-01-02T03:04:06.250Z", "2026-01-02T03:04:07.250Z"));
    assert_eq!((first.first_row, first.rows, first.cold_rows, first.dropped), (0, 500, 2, 0));
    assert_eq!((second.first_row, second.rows, second.cold_rows, second.dropped), (500, 500, 2, 1));
    assert_eq!((&first.outcome, &second.outcome), (&Outcome::Complete, &Outcome::Interrupted));
    assert_eq!(first.facts, BTreeMap::from([("clock_ns".to_owned(), 20.5)]));
    let refused = Effective { value: "other".into(), as_requested: false, why: "no privileges".into() };
    assert_eq!(first.effective, BTreeMap::from([("policy".to_owned(), refused.clone())]));
    assert_eq!(wakeup.refused(), [("policy", "fifo:80", &refused)]);

    let sum = &series[2];
    assert_eq!((sum.operations, sum.emulated, &sum.environment[..], &sum.part[..]), (10, true, "rtos", ""));
    let units: Vec<Unit> = sum.columns.iter().map(|c| c.unit).collect();
    assert_eq!(units, [Unit::Instructions, Unit::Words, Unit::Count]);
    assert_eq!(sum.trials[0].outcome, Outcome::Failed("it ended with signal 9".into()));

    let tcp = &series[3];
    let units: Vec<Unit> = tcp.columns.iter().map(|c| c.unit).collect();
    assert_eq!(units, [Unit::Nanoseconds, Unit::Bytes, Unit::BitsPerSecond]);
    // Its last trial was still running when the program ended; its row is in the samples file only.
    let [first, last] = &tcp.trials[..] else { panic!("two trials") };
    assert_eq!((&first.outcome, first.rows), (&Outcome::Complete, 2));
    assert_eq!((&last.outcome, last.first_row, last.rows), (&Outcome::Running, 2, 1));
}

#[test]
fn the_first_version_gives_the_same_figures_forever() {
    let reader = read();
    let series: Vec<_> = reader.series().collect();
    assert_eq!(values(series[0].everything(0))[..5], [68_264, 60_583, 53_042, 62_421, 57_380]);
    assert_eq!(values(series[1].everything(0))[..5], [51_231, 68_312, 52_302, 50_055, 58_289]);
    assert_eq!(values(series[0].cold())[..2], [68_264, 60_583]);
    assert_eq!(values(series[2].everything(0)), [u64::MAX, 1000, 3000]);
    assert_eq!((values(series[2].column(1)), values(series[2].column(2))), (vec![233, 376], vec![2, 3]));
    assert_eq!(values(series[3].column(1)), [125_000, 125_000, 500_000]);

    assert_eq!(series[0].series.measured(), Measured::Time { operations: 1 });
    let expected = [
        // Each has lost a row.
        (996, 50_004, Known::AtLeast(69_978), [54_725.25, 60_098.5, 64_862.5], 69_901),
        (996, 50_007, Known::AtLeast(69_988), [54_969.75, 60_298.0, 65_274.5], 69_862),
    ];
    for (series, expected) in series.iter().zip(expected) {
        let s = Summary::of(&*series.values(), &Options::default()).expect("samples");
        let quartiles = [s.lower_quartile, s.median, s.upper_quartile].map(Known::bound);
        let p99 = s.p99.and_then(Known::exactly).expect("a percentile");
        assert_eq!((s.count, s.min, s.max, quartiles, p99), expected);
    }
    let sums: Vec<u64> = series[..2].iter().map(|s| values(s.samples()).iter().sum()).collect();
    assert_eq!(sums, [59_669_192, 59_881_579]);

    assert_eq!(series[3].series.measured(), Measured::Throughput);
    let rates = |of: &dyn Samples| {
        let mut rates = Vec::new();
        of.visit(0, of.len(), &mut |piece| rates.extend_from_slice(piece));
        rates
    };
    assert_eq!(rates(&*series[3].values()), [1_000_000_000, 333_333_333, 2_000_000_000]);
    let by_trial: Vec<Vec<u64>> = series[3].trial_values().iter().map(|trial| rates(&**trial)).collect();
    assert_eq!(by_trial, [[500_000_000], [2_000_000_000]]);
}
