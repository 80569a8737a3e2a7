//! Recordings for the tests.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use kizami_recording::folder::{Column, Outcome, RECORDING_FILE, Reader, Recording, Series, State, Unit, View, Writer};
use proptest::prelude::*;

/// When every trial of these tests started.
pub const STARTED: &str = "2026-01-02T03:04:05Z";

pub fn recording() -> Recording {
    Recording {
        kizami_version: "0.1.0".into(),
        command: vec!["kizami".into(), "run".into(), "wakeup".into()],
        studies: vec!["wakeup".into()],
        size: "quick".into(),
        started: STARTED.into(),
        seed: 7,
        host: BTreeMap::from([("kernel".into(), "6.1.0".into())]),
        ..Recording::begun()
    }
}

/// A series whose first column is a time, and others are counts.
pub fn series(name: &str, columns: usize) -> Series {
    let others = (1..columns).map(|index| Column::new(format!("count{index}"), Unit::Count));
    Series {
        name: name.into(),
        workload: "wakeup".into(),
        environment: "host".into(),
        params: BTreeMap::from([("interval".into(), "1ms".into())]),
        requested: BTreeMap::new(),
        part: String::new(),
        columns: std::iter::once(Column::new("time", Unit::Nanoseconds)).chain(others).collect(),
        operations: 1,
        emulated: false,
        asked_by: vec!["wakeup/wakeup".into()],
        counted: false,
        trials: Vec::new(),
    }
}

/// Writes a trial of one series.
pub fn trial(writer: &mut Writer, series: usize, cells: &[u64], cold_rows: u64, outcome: &Outcome) {
    let rows = cells.len() / writer.recording().series[series].columns.len();
    writer.begin_trial(&[series], &[rows as u64], STARTED).expect("a trial begins");
    writer.append(series, cells).expect("rows are appended");
    writer.trial(series).expect("a trial").cold_rows = cold_rows;
    writer.end_trial(&[series], outcome).expect("a trial ends");
}

/// One series, `a`, of two columns with trials of 3, 4 and 2 rows, the cells numbered from 0; the first row of each
/// trial is cold.
pub fn three_trials(folder: &Path) {
    let mut writer = Writer::create(folder, recording()).expect("a new folder");
    let a = writer.add_series(series("a", 2));
    for rows in [0..3, 3..7, 7..9] {
        let cells: Vec<u64> = (rows.start * 2..rows.end * 2).collect();
        trial(&mut writer, a, &cells, 1, &Outcome::Complete);
    }
    writer.finish(State::Complete).expect("an end");
}

pub fn values(view: View<'_>) -> Vec<u64> {
    view.to_vec()
}

/// All samples of each trial of the series `name`, cold ones too.
pub fn by_trial(reader: &Reader, name: &str) -> Vec<Vec<u64>> {
    let series = reader.find(name).expect("the series");
    let mut all = values(series.everything(0)).into_iter();
    series.series.trials.iter().map(|t| all.by_ref().take(t.rows as usize).collect()).collect()
}

/// Changes the JSON of a recording, and seals it again as if it had been written so.
pub fn reseal(folder: &Path, change: impl FnOnce(&mut serde_json::Value)) {
    let path = folder.join(RECORDING_FILE);
    let mut json = serde_json::from_str(&fs::read_to_string(&path).expect("the JSON")).expect("JSON");
    change(&mut json);
    json["checksum"] = "00000000".into();
    let text = format!("{json:#}");
    let crc = format!("{:08x}", crc32fast::hash(text.as_bytes()));
    fs::write(&path, text.replacen("00000000", &crc, 1)).expect("the JSON");
}

/// A line for the list of what could not be tested here.
pub fn skipped(what: &str) {
    use std::io::Write;
    if let Some(path) = std::env::var_os("KIZAMI_SKIPPED") {
        let file = fs::OpenOptions::new().append(true).create(true).open(path);
        file.and_then(|mut file| writeln!(file, "{what}")).expect("the list of skipped tests");
    }
}

/// A valid file with some of its bytes replaced, removed or repeated.
pub fn mutated(valid: &'static [u8]) -> impl Strategy<Value = Vec<u8>> {
    let edit = (any::<prop::sample::Index>(), any::<u8>(), 0..4u8);
    prop::collection::vec(edit, 1..6).prop_map(move |edits| {
        let mut bytes = valid.to_vec();
        for (at, byte, kind) in edits {
            // The end is a place to insert at, and no byte.
            let at = at.index(bytes.len() + 1);
            match kind {
                0 if at < bytes.len() => bytes[at] = byte,
                1 if at < bytes.len() => drop(bytes.remove(at)),
                2 => bytes.truncate(at),
                _ => bytes.insert(at, byte),
            }
        }
        bytes
    })
}
