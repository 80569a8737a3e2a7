//! Damaged recordings: the damage is named, and costs only the trial or the series that it touches.

use std::fs;
use std::path::Path;

use kizami_recording::folder::{Damage, Outcome, RECORDING_FILE, Reader, State, Writer};

use crate::support::{STARTED, by_trial, recording, reseal, series, three_trials, values};

const HEADER: usize = 16;
/// Two columns.
const ROW: usize = 16;

fn a() -> String {
    "a".to_owned()
}

/// A recording with three trials, and the bytes of its samples file.
fn made(dir: &Path) -> (std::path::PathBuf, Vec<u8>) {
    let folder = dir.join("r");
    three_trials(&folder);
    let bytes = fs::read(folder.join("a.samples")).expect("the samples");
    assert_eq!(bytes.len(), HEADER + 9 * ROW);
    (folder, bytes)
}

#[test]
fn a_samples_file_that_was_cut_anywhere_keeps_the_rows_before_the_cut() {
    let dir = tempfile::tempdir().expect("a folder");
    let (folder, bytes) = made(dir.path());
    for len in 0..bytes.len() {
        fs::write(folder.join("a.samples"), &bytes[..len]).expect("the samples");
        let reader = Reader::open(&folder).expect("a recording");
        if len < HEADER {
            let why = "it is shorter than its header".to_owned();
            assert_eq!(reader.damage(), [Damage::SamplesForeign { series: a(), why }], "{len}");
        }
        let rows = len.saturating_sub(HEADER) / ROW;
        if len >= HEADER {
            let damage = Damage::SamplesTruncated { series: a(), expected: 9, found: rows as u64 };
            assert_eq!(reader.damage(), [damage], "{len}");
        }
        let series = reader.find("a").expect("the series");
        assert_eq!(values(series.everything(0)), (0..rows as u64).map(|row| row * 2).collect::<Vec<_>>(), "{len}");
        for (trial, end) in series.series.trials.iter().zip([3, 7, 9]) {
            assert_eq!(trial.outcome == Outcome::Complete, rows >= end, "{len}");
            assert!(trial.cold_rows <= trial.rows && trial.cold_rows <= 1, "{len}");
        }
    }
}

#[test]
fn an_edited_byte_costs_the_trial_that_it_is_in() {
    let dir = tempfile::tempdir().expect("a folder");
    let (folder, bytes) = made(dir.path());
    for at in 0..bytes.len() {
        let mut edited = bytes.clone();
        edited[at] ^= 0x10;
        fs::write(folder.join("a.samples"), &edited).expect("the samples");
        let reader = Reader::open(&folder).expect("a recording");
        let trials: Vec<Vec<u64>> = reader.find("a").expect("the series").trials().into_iter().map(values).collect();
        let whole = [vec![2, 4], vec![8, 10, 12], vec![16]];
        match at.checked_sub(HEADER).map(|at| at / ROW) {
            None => {
                assert!(matches!(reader.damage(), [Damage::SamplesForeign { .. }]), "{at}: {:?}", reader.damage());
                assert_eq!(trials.concat(), Vec::<u64>::new(), "{at}");
            }
            Some(row) => {
                let trial = if row < 3 {
                    0
                } else if row < 7 {
                    1
                } else {
                    2
                };
                assert_eq!(reader.damage(), [Damage::TrialEdited { series: a(), trial }], "{at}");
                for (index, (read, whole)) in trials.iter().zip(&whole).enumerate() {
                    let expected = if index == trial { &Vec::new() } else { whole };
                    assert_eq!(read, expected, "{at}");
                }
            }
        }
    }
}

#[test]
fn a_changed_digit_of_the_json_is_noticed_wherever_it_is() {
    let dir = tempfile::tempdir().expect("a folder");
    let (folder, _) = made(dir.path());
    let path = folder.join(RECORDING_FILE);
    let text = fs::read_to_string(&path).expect("the JSON");
    let (mut noticed, mut refused) = (0, 0);
    for (at, digit) in text.char_indices().filter(|(_, c)| c.is_ascii_digit()) {
        let other = if digit == '1' { "2" } else { "1" };
        let edited = format!("{}{other}{}", &text[..at], &text[at + 1..]);
        fs::write(&path, edited).expect("the JSON");
        match Reader::open(&folder) {
            Ok(reader) => {
                assert!(reader.damage().contains(&Damage::RecordingEdited), "byte {at}");
                noticed += 1;
            }
            Err(_) => refused += 1,
        }
    }
    // A version, and rows that follow on one another, are all that can be refused here.
    assert!(noticed > 100 && refused < 20, "{noticed} noticed, {refused} refused");
}

#[test]
fn the_samples_of_another_recording_are_not_taken_for_these() {
    let dir = tempfile::tempdir().expect("a folder");
    let (folder, _) = made(dir.path());
    let other = dir.path().join("other");
    let mut writer = Writer::create(&other, recording()).expect("a new folder");
    for (name, columns) in [("same-shape", 2), ("other-shape", 3)] {
        let index = writer.add_series(series(name, columns));
        let cells: Vec<u64> = (1000..1000 + 9 * columns as u64).collect();
        crate::support::trial(&mut writer, index, &cells, 0, &Outcome::Complete);
    }
    fs::copy(other.join("same-shape.samples"), folder.join("a.samples")).expect("a copy");
    let reader = Reader::open(&folder).expect("a recording");
    let edited = |trial| Damage::TrialEdited { series: a(), trial };
    assert_eq!(reader.damage(), [edited(0), edited(1), edited(2)]);
    assert_eq!(values(reader.find("a").expect("the series").samples()), Vec::<u64>::new());

    fs::copy(other.join("other-shape.samples"), folder.join("a.samples")).expect("a copy");
    let reader = Reader::open(&folder).expect("a recording");
    let why = "it has 3 columns where its recording says 2".to_owned();
    assert_eq!(reader.damage(), [Damage::SamplesForeign { series: a(), why }]);
}

#[test]
fn missing_samples_are_missed_and_the_rest_is_read() {
    let dir = tempfile::tempdir().expect("a folder");
    let folder = dir.path().join("r");
    let mut writer = Writer::create(&folder, recording()).expect("a new folder");
    for name in ["a", "b"] {
        let index = writer.add_series(series(name, 1));
        crate::support::trial(&mut writer, index, &[1, 2, 3], 0, &Outcome::Complete);
    }
    writer.finish(State::Complete).expect("an end");
    fs::remove_file(folder.join("a.samples")).expect("removed");
    let reader = Reader::open(&folder).expect("a recording");
    assert_eq!(reader.damage(), [Damage::SamplesMissing { series: a() }]);
    assert_eq!(by_trial(&reader, "a"), [Vec::<u64>::new()]);
    assert_eq!(by_trial(&reader, "b"), [vec![1, 2, 3]]);
    assert!(reader.damage()[0].to_string().contains("series a: its samples file is missing"));
}

#[test]
fn a_running_trial_does_not_hide_that_earlier_ones_were_cut() {
    let dir = tempfile::tempdir().expect("a folder");
    let folder = dir.path().join("r");
    let mut writer = Writer::create(&folder, recording()).expect("a new folder");
    let index = writer.add_series(series("a", 1));
    crate::support::trial(&mut writer, index, &[1, 2, 3], 0, &Outcome::Complete);
    writer.begin_trial(&[index], &[10], STARTED).expect("a trial");
    writer.append(index, &[4, 5]).expect("rows");
    drop(writer);
    let reader = Reader::open(&folder).expect("a recording");
    assert_eq!((reader.damage(), by_trial(&reader, "a")), (&[][..], vec![vec![1, 2, 3], vec![4, 5]]));

    let bytes = fs::read(folder.join("a.samples")).expect("the samples");
    fs::write(folder.join("a.samples"), &bytes[..HEADER + 2 * 8]).expect("the samples");
    let reader = Reader::open(&folder).expect("a recording");
    assert_eq!(reader.damage(), [Damage::SamplesTruncated { series: a(), expected: 3, found: 2 }]);
    assert_eq!(by_trial(&reader, "a"), [vec![1, 2], vec![]]);

    // A file that was begun with something else is no killed run's.
    fs::write(folder.join("a.samples"), b"It is a text that is longer than a header.").expect("the samples");
    let reader = Reader::open(&folder).expect("a recording");
    assert!(matches!(reader.damage(), [Damage::SamplesForeign { .. }]), "{:?}", reader.damage());
}

#[test]
fn fields_of_a_later_program_are_accepted() {
    let dir = tempfile::tempdir().expect("a folder");
    let (folder, _) = made(dir.path());
    reseal(&folder, |json| {
        json["weather"] = "rain".into();
        json["series"][0]["colour"] = serde_json::json!({ "red": 1 });
        json["series"][0]["trials"][0]["moon"] = 0.5.into();
    });
    let reader = Reader::open(&folder).expect("a recording");
    assert_eq!(reader.damage(), []);
    assert_eq!(by_trial(&reader, "a"), [vec![0, 2, 4], vec![6, 8, 10, 12], vec![14, 16]]);
}
