//! Damaged recordings: files that were changed, cut or removed after they were written.

use std::fs;
use std::path::{Path, PathBuf};

use crate::harness::{Ended, Lab, text, trials};

/// A recording of two series with two trials each, and copies of it to damage.
struct Damaged {
    lab: Lab,
    whole: PathBuf,
}

const SMALL: &str = "empty,samples=2000";

impl Damaged {
    fn new() -> Self {
        let lab = Lab::new();
        lab.kizami(&["run", "empty", "--wait", "--trials", "2", "--set", "samples=2000,3000"]).succeeded();
        let whole = lab.recording();
        Self { lab, whole }
    }

    /// A copy that `damage` has changed.
    fn copy(&self, name: &str, damage: impl FnOnce(&Path)) -> PathBuf {
        let copy = self.lab.path().join(name);
        fs::create_dir(&copy).expect("a folder");
        for file in fs::read_dir(&self.whole).expect("the recording").flatten() {
            fs::copy(file.path(), copy.join(file.file_name())).expect("a copy");
        }
        damage(&copy);
        copy
    }

    /// The samples file of the series with 2000 samples a trial.
    fn samples(&self, copy: &Path) -> PathBuf {
        let shown = self.lab.show(&self.whole);
        let is_small = |name: &&str| trials(&shown).iter().any(|(n, rows, _)| n == name && *rows == 2000);
        let names: Vec<_> = shown["series"].as_array().expect("series").iter().collect();
        let name = names.iter().filter_map(|s| s["series"]["name"].as_str()).find(is_small).expect(SMALL);
        copy.join(format!("{name}.samples"))
    }

    /// What show, report and compare say of it.
    fn all(&self, recording: &Path) -> [Ended; 3] {
        let report = recording.join("again.html");
        [
            self.lab.kizami(&["show", "--json", text(recording)]),
            self.lab.kizami(&["report", text(recording), "--out", text(&report)]),
            self.lab.kizami(&["compare", text(recording), text(&self.whole)]),
        ]
    }

    /// All commands tell the damage, use the rest, and end with the status for it; gives the trials that are left.
    fn is_told(&self, recording: &Path, words: &[&str]) -> Vec<(String, u64, serde_json::Value)> {
        let [show, report, compare] = self.all(recording).map(|ended| ended.ended_with(4).says(words));
        assert!(recording.join("again.html").is_file(), "{report}");
        assert!(compare.out.contains("not supported"), "the whole series is compared\n{compare}");
        trials(&show.json())
    }

    /// Nothing of it can be used, and all commands say why.
    fn is_refused(&self, recording: &Path, words: &[&str]) {
        for ended in self.all(recording) {
            assert!(ended.ended_with(4).says(words).out.is_empty());
        }
    }
}

fn edit(path: &Path, change: impl FnOnce(&mut Vec<u8>)) {
    let mut bytes = fs::read(path).expect("a file");
    change(&mut bytes);
    fs::write(path, bytes).expect("a file");
}

fn edit_json(folder: &Path, from: &str, to: &str) {
    edit(&folder.join("recording.json"), |bytes| {
        let text = String::from_utf8(bytes.clone()).expect("text");
        assert!(text.contains(from), "{from} is not in it");
        *bytes = text.replacen(from, to, 1).into_bytes();
    });
}

#[test]
fn damaged_samples_cost_only_what_is_damaged() {
    let damaged = Damaged::new();

    let cut = damaged.copy("cut", |copy| edit(&damaged.samples(copy), |bytes| bytes.truncate(16 + 2500 * 8)));
    let left = damaged.is_told(&cut, &["was cut", "2500 of 4000 rows"]);
    let mut rows: Vec<u64> = left.iter().map(|(_, rows, _)| *rows).collect();
    rows.sort_unstable();
    assert_eq!(rows, [500, 2000, 3000, 3000]);

    let edited = damaged.copy("edited", |copy| edit(&damaged.samples(copy), |bytes| bytes[16 + 2100 * 8] ^= 1));
    let left = damaged.is_told(&edited, &["the samples of trial 2", "checksum"]);
    assert_eq!(left.iter().filter(|(_, _, outcome)| outcome == "complete").count(), 3, "{left:?}");

    let missing = damaged.copy("missing", |copy| fs::remove_file(damaged.samples(copy)).expect("a file"));
    let left = damaged.is_told(&missing, &["its samples file is missing"]);
    assert_eq!(left.iter().filter(|(_, rows, _)| *rows == 3000).count(), 2, "{left:?}");

    let foreign = damaged.copy("foreign", |copy| fs::write(damaged.samples(copy), [7; 5000]).expect("a file"));
    damaged.is_told(&foreign, &["its samples file is damaged", "does not begin as a samples file"]);
}

#[test]
fn a_description_that_was_edited_is_used_with_a_warning() {
    let damaged = Damaged::new();
    let edited = damaged.copy("edited", |copy| edit_json(copy, "\"size\": \"quick\"", "\"size\": \"quack\""));
    let left = damaged.is_told(&edited, &["recording.json was changed after it was written"]);
    assert_eq!(left.len(), 4);
}

#[test]
fn what_is_no_recording_is_refused_with_the_reason() {
    let damaged = Damaged::new();

    let empty = damaged.lab.path().join("nothing");
    fs::create_dir(&empty).expect("a folder");
    damaged.is_refused(&empty, &["is not a recording: it has no recording.json"]);

    let newer = damaged.copy("newer", |copy| edit_json(copy, "\"format_version\": 2", "\"format_version\": 7"));
    damaged.is_refused(&newer, &["has format version 7", "use a newer kizami"]);

    let cut = damaged.copy("cut", |copy| edit(&copy.join("recording.json"), |bytes| bytes.truncate(bytes.len() / 2)));
    damaged.is_refused(&cut, &["cannot be read as a recording", "line"]);

    let binary = damaged.copy("binary", |copy| fs::write(copy.join("recording.json"), [0xff; 100]).expect("a file"));
    damaged.is_refused(&binary, &["recording.json"]);

    let hostile = damaged.copy("hostile", |copy| {
        let name = damaged.samples(copy).file_stem().expect("a name").to_string_lossy().into_owned();
        edit_json(copy, &format!("\"name\": \"{name}\""), "\"name\": \"../../etc/passwd\"");
    });
    damaged.is_refused(&hostile, &["is not a plain file name"]);

    let gone = damaged.lab.path().join("gone");
    for args in [["show", text(&gone)], ["report", text(&gone)]] {
        damaged.lab.kizami(&args).ended_with(4).says(&["is not a recording"]);
    }
    let none = damaged.lab.path().join("elsewhere");
    fs::create_dir(&none).expect("a folder");
    let mut command = damaged.lab.command(&["show"]);
    command.current_dir(&none);
    damaged
        .lab
        .start_command(command)
        .end()
        .ended_with(2)
        .says(&["there is no recording in ./recordings", "kizami run"]);
}
