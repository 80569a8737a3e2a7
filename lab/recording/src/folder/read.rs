//! Reading and checking recordings.
//!
//! The JSON and the samples are foreign bytes here: names must not lead out of the folder, counts must fit together,
//! checksums must hold. Each violation becomes a [`Damage`], and costs only the trial or the series that it touches. All
//! text is made printable, so that nothing of a recording can command the terminal that shows it.

use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::error::{Damage, Error};
use super::model::{
    FORMAT_VERSION, MOST_SAMPLES, NO_CHECKSUM, Outcome, PROFILE_CRC, RECORDING_FILE, Recording, Series, State, Trial,
};
use super::samples::{SamplesFile, View};
use crate::foreign;
use crate::profile::Profile;
use crate::stats::Samples;

/// A longer `recording.json` is none: it would have millions of trials.
const MOST_JSON: u64 = 1 << 30;

/// Stacks of a kernel are a few hundred kilobytes.
const MOST_PROFILE: u64 = 64 << 20;

/// A recording that was read and checked.
#[derive(Debug)]
pub struct Reader {
    folder: PathBuf,
    recording: Recording,
    damage: Vec<Damage>,
    files: Vec<SamplesFile>,
}

/// One series of a [`Reader`], with its samples.
#[derive(Debug, Clone, Copy)]
pub struct Loaded<'a> {
    pub series: &'a Series,
    file: &'a SamplesFile,
    folder: &'a Path,
}

impl Reader {
    /// Reads the recording in `folder`.
    ///
    /// # Errors
    /// When it is no recording, or one that cannot be understood at all. Lesser damage is in [`Self::damage`].
    pub fn open(folder: &Path) -> Result<Self, Error> {
        let path = folder.join(RECORDING_FILE);
        let text = match foreign::read_text(&path, MOST_JSON) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => {
                return Err(Error::NotARecording { path: folder.to_owned() });
            }
            other => other.map_err(Error::io("read", &path))?,
        };
        let mut recording = parse(&text, &path)?;
        let mut damage = Vec::new();
        if !checksum_holds(&text, &recording.checksum) {
            damage.push(Damage::RecordingEdited);
        }
        let files = recording.series.iter_mut().map(|series| check_series(folder, series, &mut damage)).collect();
        Ok(Self { folder: folder.to_owned(), recording, damage, files })
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The recording; trials that are damaged are gone from it or shortened, those that were cut short by a crash are
    /// as long as their samples.
    pub fn recording(&self) -> &Recording {
        &self.recording
    }

    pub fn damage(&self) -> &[Damage] {
        &self.damage
    }

    pub fn series(&self) -> impl ExactSizeIterator<Item = Loaded<'_>> + Clone {
        self.recording.series.iter().zip(&self.files).map(|(series, file)| Loaded {
            series,
            file,
            folder: &self.folder,
        })
    }

    /// The series named `name`.
    pub fn find(&self, name: &str) -> Option<Loaded<'_>> {
        self.series().find(|s| s.series.name == name)
    }
}

impl<'a> Loaded<'a> {
    /// Which functions took the instructions of a trial, of the first where that was counted.
    ///
    /// # Errors
    /// When it was, and is not there as it was.
    pub fn profile(&self) -> Option<Result<(&'a Trial, Profile), String>> {
        let counted = |trial: &&Trial| trial.outcome == Outcome::Complete && trial.facts.contains_key(PROFILE_CRC);
        let (number, trial) = self.series.trials.iter().enumerate().find(|(_, trial)| counted(trial))?;
        let path = self.folder.join(self.series.profile_file(number));
        let read = || {
            let text = foreign::read_text(&path, MOST_PROFILE).map_err(|e| e.to_string())?;
            if trial.facts.get(PROFILE_CRC) != Some(&f64::from(crc32fast::hash(text.as_bytes()))) {
                return Err("it was changed, or is damaged".to_owned());
            }
            Profile::parse(&text)
        };
        Some(read().map(|profile| (trial, profile)).map_err(|why| format!("{}: {why}", path.display())))
    }

    /// The warm samples of all trials: what summaries are made of.
    pub fn samples(&self) -> View<'a> {
        self.taken(self.column(0)).without(self.series.unrecorded())
    }

    /// The warm rows' values in column `column`.
    pub fn column(&self, column: usize) -> View<'a> {
        self.view(column, |t| t.first_row + t.cold_rows..t.first_row + t.rows)
    }

    /// The cold rows' samples.
    pub fn cold(&self) -> View<'a> {
        self.view(0, |t| t.first_row..t.first_row + t.cold_rows)
    }

    /// All rows' values in column `column`, cold ones too.
    pub fn everything(&self, column: usize) -> View<'a> {
        self.view(column, |t| t.first_row..t.first_row + t.rows)
    }

    /// The warm samples of each trial by itself.
    pub fn trials(&self) -> Vec<View<'a>> {
        let views = self.trials_of(0).into_iter().zip(&self.series.trials);
        views.map(|(view, trial)| self.taken(view).without(self.series.unrecorded_of(trial))).collect()
    }

    /// The warm rows' values in column `column`, of each trial by itself.
    pub fn trials_of(&self, column: usize) -> Vec<View<'a>> {
        let rows = |t: &Trial| t.first_row + t.cold_rows..t.first_row + t.rows;
        self.series.trials.iter().map(|t| View::new(self.file, column, vec![rows(t)])).collect()
    }

    fn view(&self, column: usize, rows: impl Fn(&Trial) -> Range<u64>) -> View<'a> {
        View::new(self.file, column, self.series.trials.iter().map(rows).collect())
    }

    /// Values of rows as the samples that they stand for.
    fn taken(&self, view: View<'a>) -> View<'a> {
        if self.series.counted { view.counted_by(1) } else { view }
    }
}

fn parse(text: &str, path: &Path) -> Result<Recording, Error> {
    let unreadable = |why: String| Error::Unreadable { path: path.to_owned(), why };
    let mut json: serde_json::Value = serde_json::from_str(text).map_err(|e| unreadable(e.to_string()))?;
    match json.get("format_version").and_then(serde_json::Value::as_u64) {
        None => return Err(unreadable("it has no format_version".into())),
        Some(version) if version > u64::from(FORMAT_VERSION) => {
            return Err(Error::TooNew { path: path.to_owned(), version, known: FORMAT_VERSION });
        }
        Some(_) => {}
    }
    // Parsed from the text and not from the value, so that an error says where.
    let mut recording: Recording = serde_json::from_str(text).map_err(|e| unreadable(e.to_string()))?;
    // Here, once: what is read from now on may be shown anywhere.
    if foreign::make_printable(&mut json) {
        recording = serde_json::from_value(json).map_err(|e| unreadable(e.to_string()))?;
    }
    if let Some(requirement) = recording.requirement.filter(|requirement| !requirement.is_possible()) {
        return Err(unreadable(format!("its requirement cannot be one: {requirement:?}")));
    }
    let mut names = BTreeSet::new();
    for series in &recording.series {
        series.check().map_err(unreadable)?;
        if !names.insert(&series.name) {
            return Err(unreadable(format!("it has two series named {}", series.name)));
        }
    }
    if let Some(step) = recording.order.iter().find(|s| s.series.iter().any(|&i| i >= recording.series.len())) {
        return Err(unreadable(format!("its order names a series that it does not have: {:?}", step.series)));
    }
    Ok(recording)
}

fn checksum_holds(text: &str, checksum: &str) -> bool {
    let bare = text.replacen(checksum, NO_CHECKSUM, 1);
    checksum.len() == NO_CHECKSUM.len() && format!("{:08x}", crc32fast::hash(bare.as_bytes())) == checksum
}

/// CRC-32 of the rows of `trial`.
fn checksum(file: &SamplesFile, trial: &Trial) -> u32 {
    let mut crc = crc32fast::Hasher::new();
    file.visit(trial.first_row..trial.first_row + trial.rows, &mut |bytes| crc.update(bytes));
    crc.finalize()
}

/// Opens the samples of `series`, and brings its trials to what is really there.
fn check_series(folder: &Path, series: &mut Series, damage: &mut Vec<Damage>) -> SamplesFile {
    let (name, columns) = (series.name.clone(), series.columns.len());
    let closed = |t: &&Trial| t.outcome != Outcome::Running;
    let expected: u64 = series.trials.iter().filter(closed).map(|t| t.rows).sum();
    let opened = File::open(folder.join(series.file())).and_then(|file| SamplesFile::open(&file, columns));
    let unusable = match &opened {
        Ok(file) if file.rows() < expected => {
            Some(Damage::SamplesTruncated { series: name.clone(), expected, found: file.rows() })
        }
        Ok(_) => None,
        // Nothing was measured yet, or nothing reached the disk.
        Err(e) if expected == 0 && matches!(e.kind(), io::ErrorKind::NotFound | io::ErrorKind::UnexpectedEof) => None,
        Err(e) if e.kind() == io::ErrorKind::NotFound => Some(Damage::SamplesMissing { series: name.clone() }),
        Err(e) => Some(Damage::SamplesForeign { series: name.clone(), why: e.to_string() }),
    };
    damage.extend(unusable);
    let file = opened.unwrap_or_else(|_| SamplesFile::empty(columns));
    // A trial without an end was cut short by a crash: it has the rows that reached the disk.
    if let Some(last) = series.trials.last_mut().filter(|t| t.outcome == Outcome::Running) {
        last.rows = file.rows().saturating_sub(last.first_row);
        last.cold_rows = last.cold_rows.min(last.rows);
    }
    for (index, trial) in series.trials.iter_mut().enumerate() {
        let there = file.rows().saturating_sub(trial.first_row).min(trial.rows);
        if there < trial.rows {
            trial.rows = there;
            trial.cold_rows = trial.cold_rows.min(there);
            trial.outcome = Outcome::Failed("its samples were cut from the file".into());
        } else if trial.outcome != Outcome::Running && checksum(&file, trial) != trial.crc32 {
            damage.push(Damage::TrialEdited { series: name.clone(), trial: index });
            // All rows are marked cold: they stay where they are, and no summary takes them.
            trial.cold_rows = trial.rows;
            trial.outcome = Outcome::Failed("its samples were edited".into());
        }
    }
    if series.counted {
        leave_out_too_many(&file, series, damage);
    }
    file
}

/// Marks the trials of a series of counts cold with which it would have more than [`MOST_SAMPLES`].
fn leave_out_too_many(file: &SamplesFile, series: &mut Series, damage: &mut Vec<Damage>) {
    let mut total = 0u64;
    for (index, trial) in series.trials.iter_mut().enumerate() {
        let rows = trial.first_row + trial.cold_rows..trial.first_row + trial.rows;
        let with = total.saturating_add(View::new(file, 0, vec![rows]).counted_by(1).len());
        if with <= MOST_SAMPLES {
            total = with;
            continue;
        }
        damage.push(Damage::CountsTooLarge { series: series.name.clone(), trial: index });
        trial.cold_rows = trial.rows;
        trial.outcome = Outcome::Failed("its counts are more than any series has".into());
    }
}

impl Recording {
    /// Whether the run ended without saying so.
    pub fn was_killed(&self) -> bool {
        self.state == State::Running
    }
}
