//! Hostile recordings: a path that leads out of the folder, or a size that exceeds the memory, is refused with a
//! sentence.

use std::fs;
use std::path::PathBuf;

use kizami_recording::folder::{Damage, Error, Outcome, RECORDING_FILE, Reader, Series, State, Writer};
use kizami_recording::stats::{Options, Summary};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::support::{recording, reseal, series, three_trials, trial};

fn made() -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().expect("a folder");
    let folder = dir.path().join("r");
    three_trials(&folder);
    (dir, folder)
}

#[test]
fn what_cannot_be_is_refused_with_a_sentence() {
    type Change = fn(&mut Value);
    let changes: &[(Change, &str)] = &[
        (|j| j["series"][0]["name"] = "../../etc/passwd".into(), "is not a plain file name"),
        (|j| j["series"][0]["name"] = "/etc/passwd".into(), "is not a plain file name"),
        (|j| j["series"][0]["name"] = "..".into(), "is not a plain file name"),
        (|j| j["series"][0]["name"] = "a\0b".into(), "is not a plain file name"),
        (|j| j["series"][0]["name"] = "".into(), "is not a plain file name"),
        (|j| j["series"] = json!([j["series"][0], j["series"][0]]), "two series named a"),
        (|j| j["series"][0]["columns"] = json!([]), "has 0 columns"),
        (|j| j["series"][0]["columns"] = vec![j["series"][0]["columns"][0].clone(); 5000].into(), "has 5000 columns"),
        (|j| j["series"][0]["operations"] = 0.into(), "no operation"),
        (|j| j["series"][0]["trials"][1]["first_row"] = 2.into(), "begins at row 2 and not at 3"),
        (|j| j["series"][0]["trials"][1]["first_row"] = 4.into(), "begins at row 4 and not at 3"),
        (|j| j["series"][0]["trials"][2]["rows"] = u64::MAX.into(), "cannot have 18446744073709551615 rows"),
        (|j| j["series"][0]["trials"][2]["rows"] = (1u64 << 48).into(), "cannot have 281474976710656 rows"),
        (|j| j["series"][0]["trials"][0]["cold_rows"] = 4.into(), "cannot have 3 rows, 4 of them cold"),
        (|j| j["series"][0]["trials"][0]["rows"] = (-1).into(), "invalid value: integer `-1`"),
        (|j| j["series"][0]["trials"][0]["rows"] = 1e300.into(), "invalid type: floating point"),
        (
            |j| {
                j["series"][0]["trials"][0]["dropped"] = (1u64 << 47).into();
                j["series"][0]["trials"][2]["beyond"] = json!({ "limit": 5, "count": 1u64 << 47 });
            },
            "trial 3 of series a cannot have 0 samples that were lost and 140737488355328 beyond a limit",
        ),
        (|j| j["series"][0]["columns"][0]["unit"] = "parsecs".into(), "unknown variant `parsecs`"),
        (|j| j["order"][0]["series"] = json!([7]), "names a series that it does not have"),
        (|j| j["requirement"] = json!({ "deadline": 0, "miss": 0.5 }), "its requirement cannot be one"),
        (|j| j["requirement"] = json!({ "deadline": 9, "miss": 1 }), "its requirement cannot be one"),
        (|j| j["series"] = "none".into(), "invalid type"),
        (|j| drop(j.as_object_mut().map(|o| o.remove("series"))), "missing field `series`"),
        (|j| drop(j.as_object_mut().map(|o| o.remove("format_version"))), "it has no format_version"),
    ];
    for (change, expected) in changes {
        let (_dir, folder) = made();
        reseal(&folder, change);
        let error = Reader::open(&folder).expect_err(expected);
        assert!(matches!(error, Error::Unreadable { .. }), "{error:?}");
        let sentence = error.to_string();
        assert!(sentence.contains(expected) && sentence.contains("recording.json"), "{sentence}");
    }
}

#[test]
fn counts_that_no_file_has_are_a_cut_file_and_not_a_crash() {
    let (_dir, folder) = made();
    reseal(&folder, |json| json["series"][0]["trials"][2]["rows"] = ((1u64 << 48) - 8).into());
    let reader = Reader::open(&folder).expect("a recording");
    assert_eq!(reader.damage().len(), 1);
    assert_eq!(reader.find("a").expect("the series").everything(0).to_vec().len(), 9);
}

#[test]
fn a_trial_whose_counts_are_more_than_any_series_has_is_left_out() {
    let dir = tempfile::tempdir().expect("a folder");
    let folder = dir.path().join("r");
    let mut writer = Writer::create(&folder, recording()).expect("a new folder");
    let counted = writer.add_series(Series { counted: true, ..series("counted", 2) });
    for count in [5, u64::MAX - 4, (1 << 48) - 6, 1] {
        trial(&mut writer, counted, &[100, count], 0, &Outcome::Complete);
    }
    writer.finish(State::Complete).expect("an end");
    let reader = Reader::open(&folder).expect("a recording");
    let left_out = |trial| Damage::CountsTooLarge { series: "counted".into(), trial };
    assert_eq!(reader.damage(), [left_out(1), left_out(3)]);
    let values = reader.find("counted").expect("the series").values();
    let summary = Summary::of(&values, &Options::default()).expect("samples");
    assert_eq!((summary.count, summary.max.exactly(), summary.mean.exactly()), ((1 << 48) - 1, Some(100), Some(100.0)));
}

#[test]
fn a_later_version_is_refused_with_what_to_do() {
    let (_dir, folder) = made();
    reseal(&folder, |json| {
        json["format_version"] = 3.into();
        // Whatever else it may have become.
        json["series"] = "elsewhere".into();
    });
    let error = Reader::open(&folder).expect_err("a later version");
    assert!(matches!(error, Error::TooNew { version: 3, known: 2, .. }), "{error:?}");
    assert!(error.to_string().contains("use a newer kizami"), "{error}");
}

#[test]
fn what_is_no_recording_is_told_from_one_that_is_broken() {
    let dir = tempfile::tempdir().expect("a folder");
    let error = Reader::open(dir.path()).expect_err("an empty folder");
    assert!(matches!(error, Error::NotARecording { .. }), "{error:?}");
    let error = Reader::open(&dir.path().join("nowhere")).expect_err("no folder");
    assert!(matches!(error, Error::NotARecording { .. }), "{error:?}");
    for bytes in [&b""[..], b"{", b"[]", b"null", b"{\"format_version\": \"1\"}", b"\xff\xfe", &[b'['; 100_000]] {
        fs::write(dir.path().join(RECORDING_FILE), bytes).expect("a file");
        let error = Reader::open(dir.path()).expect_err("no recording");
        assert!(matches!(error, Error::Unreadable { .. } | Error::Io { .. }), "{error:?}");
        assert!(error.to_string().contains("recording.json"), "{error}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]
    #[test]
    fn no_change_of_bytes_makes_the_reader_panic(
        json in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
        samples in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
    ) {
        let (_dir, folder) = made();
        let mut changed = false;
        for (file, edits) in [(RECORDING_FILE, &json), ("a.samples", &samples)] {
            let path = folder.join(file);
            let mut bytes = fs::read(&path).expect("a file");
            let before = bytes.clone();
            for (at, byte) in edits {
                let at = at.index(bytes.len());
                bytes[at] = *byte;
            }
            changed |= bytes != before;
            fs::write(&path, bytes).expect("a file");
        }
        if let Ok(reader) = Reader::open(&folder) {
            prop_assert_eq!(changed, !reader.damage().is_empty(), "{:?}", reader.damage());
            for series in reader.series() {
                let _ = (series.samples().to_vec(), series.values(), series.trial_values());
            }
        }
    }
}
