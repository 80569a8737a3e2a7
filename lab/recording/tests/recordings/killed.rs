//! A run that is killed keeps the rows that it appended.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use kizami_recording::folder::{Outcome, Reader, State, Writer};

use crate::support::{STARTED, by_trial, recording, series, trial};

/// Tells the test that it is the run that will be killed, and where it writes.
const FOLDER: &str = "KIZAMI_TEST_KILLED";

/// This program once more, with only the test `name`, told where to write.
fn start(name: &str, folder: &Path) -> Child {
    let program = std::env::current_exe().expect("this program");
    let mut command = Command::new(program);
    command.args(["--exact", name, "--nocapture"]).env(FOLDER, folder).stdout(Stdio::null());
    command.spawn().expect("this program starts")
}

/// Waits until `there` says so; a run that never comes so far has failed.
fn wait_for(child: &mut Child, mut there: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !there() {
        assert!(begin.elapsed() < Duration::from_secs(60), "the run does not come so far");
        assert_eq!(child.try_wait().expect("a child"), None, "the run ended by itself");
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn told() -> Option<PathBuf> {
    std::env::var_os(FOLDER).map(PathBuf::from)
}

#[test]
fn a_killed_run_keeps_what_it_appended() {
    if let Some(folder) = told() {
        append_for_ever(&folder);
    }
    let dir = tempfile::tempdir().expect("a folder");
    let folder = dir.path().join("r");
    let mut child = start("killed::a_killed_run_keeps_what_it_appended", &folder);
    let long = |name: &str, len| folder.join(name).metadata().is_ok_and(|m| m.len() > len);
    wait_for(&mut child, || long("a.samples", 20_000) && long("b.samples", 20_000));
    child.kill().expect("killed");
    child.wait().expect("gone");

    let reader = Reader::open(&folder).expect("a recording");
    assert_eq!(reader.damage(), []);
    assert!(reader.recording().was_killed());
    for (name, columns) in [("a", 1), ("b", 3)] {
        let trials = by_trial(&reader, name);
        assert_eq!(trials[0], (0..10).map(|row| row * columns).collect::<Vec<u64>>(), "{name}");
        assert!(trials[1].len() as u64 * columns * 8 >= 20_000 - 24 * 10, "{name}: {}", trials[1].len());
        assert!((0..).zip(&trials[1]).all(|(row, sample)| *sample == row * columns), "{name}");
        let outcomes = &reader.find(name).expect("the series").series.trials;
        assert_eq!((&outcomes[0].outcome, &outcomes[1].outcome), (&Outcome::Complete, &Outcome::Running));
    }
}

/// A trial that ends, and one that does not.
fn append_for_ever(folder: &Path) -> ! {
    let mut writer = Writer::create(folder, recording()).expect("a new folder");
    let both = [writer.add_series(series("a", 1)), writer.add_series(series("b", 3))];
    for (index, columns) in both.into_iter().zip([1, 3]) {
        trial(&mut writer, index, &(0..10 * columns).collect::<Vec<u64>>(), 0, &Outcome::Complete);
    }
    writer.begin_trial(&both, &[100_000, 100_000], STARTED).expect("a trial");
    for row in (0..).step_by(7) {
        for (index, columns) in both.into_iter().zip([1, 3]) {
            let cells: Vec<u64> = (row * columns..(row + 7) * columns).collect();
            writer.append(index, &cells).expect("rows");
        }
        // As a measurement does, it takes its time; the disk of the test would be full otherwise.
        std::thread::sleep(Duration::from_micros(50));
    }
    unreachable!("it is killed before")
}

#[test]
fn a_run_may_be_killed_between_any_two_steps() {
    if let Some(folder) = told() {
        run_trials_for_ever(&folder);
    }
    for milliseconds in [0, 1, 2, 3, 5, 8, 13, 21] {
        let dir = tempfile::tempdir().expect("a folder");
        let folder = dir.path().join("r");
        let mut child = start("killed::a_run_may_be_killed_between_any_two_steps", &folder);
        wait_for(&mut child, || folder.join("recording.json").exists());
        std::thread::sleep(Duration::from_millis(milliseconds));
        child.kill().expect("killed");
        child.wait().expect("gone");
        let reader = Reader::open(&folder).expect("a recording");
        assert_eq!(reader.damage(), []);
        assert_eq!(reader.recording().state, State::Running);
        if let Some(a) = reader.find("a") {
            let samples = a.everything(0).to_vec();
            assert_eq!(samples, (0..samples.len() as u64).collect::<Vec<_>>());
            let ended = a.series.trials.iter().filter(|t| t.outcome == Outcome::Complete);
            assert!(ended.clone().all(|t| t.rows == 5), "an ended trial is whole");
            assert!(a.series.trials.len() - ended.count() <= 1, "one runs at most");
        }
    }
}

fn run_trials_for_ever(folder: &Path) -> ! {
    let mut writer = Writer::create(folder, recording()).expect("a new folder");
    let a = writer.add_series(series("a", 1));
    for first in (0..).step_by(5) {
        trial(&mut writer, a, &(first..first + 5).collect::<Vec<u64>>(), 0, &Outcome::Complete);
    }
    unreachable!("it is killed before")
}
