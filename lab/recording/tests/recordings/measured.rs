//! Measured values of a series: times as they were taken, throughput computed from time and bytes.

use kizami_recording::folder::{Column, Measured, Outcome, Reader, Series, State, Unit, Writer};
use kizami_recording::stats::Samples;

use crate::support::{recording, series, trial};

fn samples(of: &dyn Samples) -> Vec<u64> {
    let mut all = Vec::new();
    of.visit(0, of.len(), &mut |piece| all.extend_from_slice(piece));
    all
}

/// Writes `series` with `trials`, the first row of each cold; gives its values, and those of each trial.
fn values(series: Series, trials: &[&[u64]]) -> (Measured, Vec<u64>, Vec<Vec<u64>>) {
    let dir = tempfile::tempdir().expect("a folder");
    let folder = dir.path().join("r");
    let mut writer = Writer::create(&folder, recording()).expect("a new folder");
    let index = writer.add_series(series);
    trials.iter().for_each(|cells| trial(&mut writer, index, cells, 1, &Outcome::Complete));
    writer.finish(State::Complete).expect("an end");
    let reader = Reader::open(&folder).expect("a recording");
    let loaded = reader.series().next().expect("the series");
    let by_trial = loaded.trial_values().iter().map(|v| samples(&**v)).collect();
    (loaded.series.measured(), samples(&*loaded.values()), by_trial)
}

fn with(columns: &[&str]) -> Series {
    let columns = columns.iter().map(|name| Column::new(*name, Unit::Count)).collect();
    Series { columns, ..series("a", 1) }
}

#[test]
fn a_time_is_shown_as_it_was_taken() {
    let series = Series { operations: 10, ..series("a", 2) };
    let (measured, all, by_trial) = values(series, &[&[9, 0, 5, 0, 6, 0], &[8, 0], &[7, 0, 4, 0]]);
    assert_eq!(measured, Measured::Time { operations: 10 });
    assert_eq!(all, [5, 6, 4]);
    // A trial of cold rows only has nothing to compare.
    assert_eq!(by_trial, [vec![5, 6], vec![4]]);
}

#[test]
fn bytes_over_time_are_bits_a_second() {
    // Warm rows: 1000 bytes in 1 us, then 500 bytes in 4 us.
    let (measured, all, by_trial) = values(with(&["time", "bytes"]), &[&[1, 1, 1_000, 1_000, 4_000, 500]]);
    assert_eq!(measured, Measured::Throughput);
    assert_eq!(all, [8_000_000_000, 1_000_000_000]);
    // The trial as a whole: 1500 bytes in 5 us, and not the mean of the two rates.
    assert_eq!(by_trial, [[2_400_000_000]]);
}

#[test]
fn received_datagrams_count_with_their_size() {
    let mut series = with(&["time", "sent", "received"]);
    series.params.insert("size".into(), "1KiB".into());
    let rows: &[u64] = &[1, 1, 1, 1_000_000_000, 20, 10];
    assert_eq!(values(series.clone(), &[rows]).1, [10 * 1024 * 8]);
    // Without a size nothing is known of the bytes, and none are made up.
    series.params.remove("size");
    assert_eq!(values(series, &[rows]), (Measured::Throughput, vec![], vec![]));
}

#[test]
fn impossible_transfers_are_large_numbers_and_no_crash() {
    let rows: &[u64] = &[0, 0, 0, 1, u64::MAX, u64::MAX, 0, u64::MAX];
    let (_, all, by_trial) = values(with(&["time", "bytes"]), &[rows]);
    assert_eq!(all, [8_000_000_000, 8_000_000_000, u64::MAX]);
    assert_eq!(by_trial, [[8_000_000_000]]);
}

#[test]
fn what_was_read_beside_the_work_is_no_distribution() {
    assert_eq!(values(with(&["when", "MemFree"]), &[&[1, 2, 3, 4]]).0, Measured::Watched);
    // Also when one of the things that were read is called bytes.
    assert_eq!(values(with(&["when", "bytes"]), &[&[1, 2, 3, 4]]).0, Measured::Watched);
}
