//! A full disk costs only the rows that did not fit. The disk is real: a file system of 1 MiB, mounted where only the
//! test sees it.

use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use kizami_recording::folder::{Error, Outcome, Reader, State, Writer};

use crate::support::{STARTED, by_trial, recording, series, skipped, trial};

/// Tells the test that it runs on the small disk, and where that is.
const DISK: &str = "KIZAMI_TEST_SMALL_DISK";

/// The status of unshare(1) without the right to do it; a test that fails has another.
const NO_UNSHARE: i32 = 1;

/// Ends the shell that could not mount.
const NO_MOUNT: i32 = 77;

/// Runs the test `name` once more with a small disk; `None` when this is that run already, with the disk.
fn on_a_small_disk(name: &str) -> Option<PathBuf> {
    if let Some(disk) = std::env::var_os(DISK) {
        return Some(disk.into());
    }
    let dir = tempfile::tempdir().expect("a folder");
    let program = std::env::current_exe().expect("this program");
    let script = format!("mount -t tmpfs -o size=1m kizami \"${DISK}\" || exit {NO_MOUNT}; exec \"$0\" --exact \"$1\"");
    let mut shell = Command::new("unshare");
    shell.args(["-m", "sh", "-c", &script]).arg(program).arg(name).env(DISK, dir.path());
    match shell.output() {
        Ok(ran) if ran.status.success() => {
            let said = String::from_utf8_lossy(&ran.stdout);
            assert!(said.contains("1 passed"), "the test did not run there: {said}");
        }
        Ok(ran) if matches!(ran.status.code(), Some(NO_UNSHARE | NO_MOUNT)) => skipped(&format!(
            "recording, {name}: no file system of its own can be mounted here ({})",
            String::from_utf8_lossy(&ran.stderr).trim()
        )),
        Ok(ran) => panic!("{}{}", String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr)),
        Err(e) => skipped(&format!("recording, {name}: unshare(1) does not run here: {e}")),
    }
    None
}

fn assert_full(error: &Error) {
    assert!(matches!(error, Error::Io { source, .. } if source.kind() == io::ErrorKind::StorageFull), "{error:?}");
    assert!(error.to_string().contains("the disk is full: free some space"), "{error}");
}

/// A recording with one trial of 100 rows.
fn begun(disk: &Path, columns: usize) -> (PathBuf, Writer, usize) {
    let folder = disk.join("r");
    let mut writer = Writer::create(&folder, recording()).expect("room for a recording");
    let a = writer.add_series(series("a", columns));
    trial(&mut writer, a, &(0..100 * columns as u64).collect::<Vec<_>>(), 0, &Outcome::Complete);
    (folder, writer, a)
}

#[test]
fn a_full_disk_is_met_before_the_trial_that_would_not_fit() {
    let Some(disk) = on_a_small_disk("disk_full::a_full_disk_is_met_before_the_trial_that_would_not_fit") else {
        return;
    };
    let (folder, mut writer, a) = begun(&disk, 1);
    let b = writer.add_series(series("b", 1));
    let error = writer.begin_trial(&[a, b], &[100_000, 1 << 20], STARTED).expect_err("8 MiB do not fit");
    assert_full(&error);
    // There is room to say how it ended.
    writer.finish(State::Failed).expect("room for the end");
    let reader = Reader::open(&folder).expect("a recording");
    assert_eq!(reader.damage(), []);
    assert_eq!(reader.recording(), writer.recording());
    assert_eq!(by_trial(&reader, "a"), [(0..100).collect::<Vec<u64>>()]);
    assert_eq!(reader.recording().order.len(), 1);
    // And for a smaller one, because nothing stays reserved: it fits only without what the other series got.
    trial(&mut writer, b, &[7; 100_000], 0, &Outcome::Complete);
    assert_eq!(by_trial(&Reader::open(&folder).expect("a recording"), "b"), [vec![7; 100_000]]);
}

#[test]
fn a_disk_that_fills_up_keeps_the_rows_before() {
    let Some(disk) = on_a_small_disk("disk_full::a_disk_that_fills_up_keeps_the_rows_before") else { return };
    // Rows of 24 bytes fit no page, so the write that fails ends within a row.
    let (folder, mut writer, a) = begun(&disk, 3);
    writer.begin_trial(&[a], &[0], STARTED).expect("no room is needed yet");
    let mut row = 0u64;
    let error = loop {
        let cells: Vec<u64> = (row * 3..(row + 50) * 3).collect();
        match writer.append(a, &cells) {
            Ok(()) => row += 50,
            Err(error) => break error,
        }
        assert!(row < 100_000, "1 MiB was full long ago");
    };
    assert_full(&error);
    let whole = (folder.join("a.samples").metadata().expect("the samples").len() - 16) % 24;
    assert_eq!(whole, 0, "a part of a row was left");
    // Not even the JSON may fit any more; then the earlier one is there, and says that the trial runs.
    let closed =
        writer.end_trial(&[a], &Outcome::Failed(error.to_string())).and_then(|()| writer.finish(State::Failed));
    let reader = Reader::open(&folder).expect("a recording");
    assert_eq!(reader.damage(), []);
    let trials = by_trial(&reader, "a");
    assert_eq!(trials[0], (0..100).map(|row| row * 3).collect::<Vec<u64>>());
    assert_eq!(trials[1], (0..row).map(|row| row * 3).collect::<Vec<u64>>());
    assert!(row > 10_000, "only {row} rows fitted");
    let outcome = &reader.recording().series[a].trials[1].outcome;
    assert_eq!(*outcome == Outcome::Running, closed.is_err(), "{outcome:?}");
    assert!(!folder.join("recording.json.next").exists());
}

#[test]
fn a_recording_that_cannot_be_replaced_stays_what_it_was() {
    let Some(disk) = on_a_small_disk("disk_full::a_recording_that_cannot_be_replaced_stays_what_it_was") else {
        return;
    };
    let (folder, mut writer, a) = begun(&disk, 1);
    let before = std::fs::read(folder.join("recording.json")).expect("the JSON");
    let filler = disk.join("filler");
    let mut file = std::fs::File::create(&filler).expect("a file");
    while io::Write::write_all(&mut file, &[1; 512]).is_ok() {}
    // Some bytes of its last page may be left; a long note does not fit in them.
    writer.note("x".repeat(20_000));
    assert_full(&writer.finish(State::Complete).expect_err("no room"));
    assert_full(&writer.begin_trial(&[a], &[0], STARTED).expect_err("no room"));
    assert_eq!(std::fs::read(folder.join("recording.json")).expect("the JSON"), before);
    assert_eq!(writer.recording().series[a].trials.len(), 1);
    drop(file);
    std::fs::remove_file(&filler).expect("removed");
    writer.finish(State::Complete).expect("room again");
    let reader = Reader::open(&folder).expect("a recording");
    assert_eq!((reader.damage(), reader.recording()), (&[][..], writer.recording()));
}
