//! Round trips: a recording that is written and read back has the same content.

use kizami_recording::folder::{Effective, Outcome, RECORDING_FILE, Reader, State, Writer};
use kizami_recording::stats::Samples;
use proptest::prelude::*;

use crate::support::{STARTED, recording, series, three_trials, trial, values};

#[test]
fn a_recording_without_a_series_or_a_row_can_be_read() {
    let dir = tempfile::tempdir().expect("a folder");
    let folder = dir.path().join("empty");
    let mut writer = Writer::create(&folder, recording()).expect("a new folder");
    assert_eq!(Reader::open(&folder).expect("a recording").series().len(), 0);
    writer.add_series(series("never-run", 1));
    let none = writer.add_series(series("no-rows", 3));
    trial(&mut writer, none, &[], 0, &Outcome::Failed("it did not start".into()));
    writer.finish(State::Failed).expect("an end");
    let reader = Reader::open(&folder).expect("a recording");
    assert_eq!(reader.damage(), []);
    assert_eq!(reader.recording(), writer.recording());
    assert!(reader.series().all(|s| s.samples().is_empty() && s.values().is_empty()));
}

#[test]
fn everything_that_is_said_about_a_trial_is_kept() {
    let dir = tempfile::tempdir().expect("a folder");
    let folder = dir.path().join("said");
    let mut writer = Writer::create(&folder, recording()).expect("a new folder");
    let a = writer.add_series(series("a", 1));
    writer.begin_trial(&[a], &[2], STARTED).expect("a trial");
    writer.append(a, &[5, 6]).expect("rows");
    let said = writer.trial(a).expect("a trial");
    said.dropped = 3;
    // More cold rows than there are is not possible.
    said.cold_rows = 9;
    said.facts.extend([("clock_ns".into(), 20.5), ("nonsense".into(), f64::NAN), ("endless".into(), f64::INFINITY)]);
    let refused = Effective { value: "other".into(), as_requested: false, why: "no privileges".into() };
    said.effective.insert("policy".into(), refused.clone());
    writer.end_trial(&[a], &Outcome::Interrupted).expect("an end");
    writer.note("One sentence.");
    writer.note("One sentence.");
    writer.tool("perf", "6.1");
    writer.finish(State::Interrupted).expect("an end");

    let reader = Reader::open(&folder).expect("a recording");
    assert_eq!(reader.damage(), []);
    assert_eq!(reader.recording().notes, ["One sentence."]);
    assert_eq!(reader.recording().tools["perf"], "6.1");
    let read = &reader.recording().series[0].trials[0];
    assert_eq!((read.dropped, read.cold_rows, read.rows), (3, 2, 2));
    assert_eq!(read.effective["policy"], refused);
    assert_eq!(read.outcome, Outcome::Interrupted);
    // What JSON has no number for is left out, and does not make the recording unreadable.
    assert_eq!(read.facts.iter().map(|(n, v)| (n.as_str(), *v)).collect::<Vec<_>>(), [("clock_ns", 20.5)]);
    assert!(reader.recording().ended.is_some());
}

#[test]
fn a_column_that_does_not_exist_is_empty() {
    let dir = tempfile::tempdir().expect("a folder");
    let folder = dir.path().join("r");
    three_trials(&folder);
    let reader = Reader::open(&folder).expect("a recording");
    let a = reader.find("a").expect("the series");
    assert_eq!((values(a.column(2)), values(a.everything(usize::MAX))), (vec![], vec![]));
    assert_eq!(values(a.everything(1)), (0..9).map(|row| row * 2 + 1).collect::<Vec<u64>>());
}

#[test]
fn a_folder_that_exists_is_never_written_into() {
    let dir = tempfile::tempdir().expect("a folder");
    let folder = dir.path().join("r");
    three_trials(&folder);
    let before = std::fs::read(folder.join(RECORDING_FILE)).expect("the JSON");
    let error = Writer::create(&folder, recording()).expect_err("it exists").to_string();
    assert!(error.contains("could not make the folder") && error.contains("exists"), "{error}");
    assert_eq!(std::fs::read(folder.join(RECORDING_FILE)).expect("the JSON"), before);
}

#[test]
fn a_series_that_could_not_be_read_again_is_not_begun() {
    let dir = tempfile::tempdir().expect("a folder");
    let mut writer = Writer::create(&dir.path().join("r"), recording()).expect("a new folder");
    let good = writer.add_series(series("good", 1));
    for name in ["../outside", "", ".hidden", "a/b", "é", "good"] {
        let bad = writer.add_series(series(name, 1));
        writer.begin_trial(&[good, bad], &[1, 1], STARTED).expect_err(name);
        assert_eq!((writer.recording().series[good].trials.len(), writer.recording().order.len()), (0, 0), "{name}");
        // Whoever goes on can: the good one is as if nothing had been tried.
        if bad > 1 {
            continue;
        }
    }
    assert!(!dir.path().join("outside.samples").exists());
    trial(&mut writer, good, &[1, 2], 0, &Outcome::Complete);
}

/// A series to write: its columns, its trials as pieces of whole rows, and how many first rows of each trial are cold.
#[derive(Debug, Clone)]
struct Written {
    columns: usize,
    trials: Vec<Vec<Vec<u64>>>,
    cold: u64,
}

fn written() -> impl Strategy<Value = Written> {
    (1usize..5, 0u64..50).prop_flat_map(|(columns, cold)| {
        let cell = prop_oneof![any::<u64>(), 0u64..100];
        let piece = (0usize..40).prop_flat_map(move |rows| prop::collection::vec(cell.clone(), rows * columns));
        let trials = prop::collection::vec(prop::collection::vec(piece, 0..5), 0..5);
        trials.prop_map(move |trials| Written { columns, trials, cold })
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn rows_come_back_whatever_the_pieces_and_trials(two in [written(), written()]) {
        let dir = tempfile::tempdir().expect("a folder");
        let folder = dir.path().join("r");
        let mut writer = Writer::create(&folder, recording()).expect("a new folder");
        let indices = [writer.add_series(series("a", two[0].columns)), writer.add_series(series("b", two[1].columns))];
        for number in 0..5 {
            // Both run together while both have a trial; the second appends more than it reserved room for.
            let running: Vec<usize> = (0..2).filter(|&i| number < two[i].trials.len()).collect();
            if running.is_empty() { continue; }
            let chosen: Vec<usize> = running.iter().map(|&i| indices[i]).collect();
            writer.begin_trial(&chosen, &vec![3; chosen.len()], STARTED).expect("a trial");
            for piece in 0..5 {
                for &i in &running {
                    if let Some(cells) = two[i].trials[number].get(piece) {
                        writer.append(indices[i], cells).expect("rows");
                    }
                }
            }
            for &i in &running {
                writer.trial(indices[i]).expect("a trial").cold_rows = two[i].cold;
            }
            writer.end_trial(&chosen, &Outcome::Complete).expect("an end");
        }
        writer.finish(State::Complete).expect("an end");
        let reader = Reader::open(&folder).expect("a recording");
        prop_assert_eq!(reader.damage(), &[]);
        prop_assert_eq!(reader.recording(), writer.recording());
        for (name, Written { columns, trials, cold }) in ["a", "b"].into_iter().zip(&two) {
            let read = reader.find(name).expect("the series");
            for column in 0..*columns {
                let of = |cells: &[u64]| cells.iter().skip(column).step_by(*columns).copied().collect::<Vec<u64>>();
                let by_trial: Vec<Vec<u64>> = trials.iter().map(|pieces| of(&pieces.concat())).collect();
                let cold = |rows: &Vec<u64>| (*cold as usize).min(rows.len());
                let warm: Vec<Vec<u64>> = by_trial.iter().map(|rows| rows[cold(rows)..].to_vec()).collect();
                prop_assert_eq!(values(read.everything(column)), by_trial.concat());
                prop_assert_eq!(values(read.column(column)), warm.concat());
                let each: Vec<Vec<u64>> = read.trials_of(column).into_iter().map(values).collect();
                prop_assert_eq!(each, warm);
                if column == 0 {
                    let first: Vec<u64> = by_trial.iter().flat_map(|rows| rows[..cold(rows)].to_vec()).collect();
                    prop_assert_eq!(values(read.cold()), first);
                }
            }
            // A part of a view is that part of it, wherever trials begin and end.
            let (view, all) = (read.samples(), values(read.samples()));
            for (start, end) in [(0, all.len() / 2), (all.len() / 3, all.len()), (all.len(), all.len())] {
                let mut seen = Vec::new();
                view.visit(start as u64, end as u64, &mut |piece| seen.extend_from_slice(piece));
                prop_assert_eq!(&seen[..], &all[start..end]);
            }
        }
    }
}
