//! Writing a recording without losing samples.
//!
//! Order of writes: a trial is announced in the JSON before its rows are appended, and closed in it after they are on
//! disk. A crash in between leaves a trial that is `running`, whose rows the reader counts in the samples file. The
//! folder is synced after each replacement, so the same holds after a loss of power: the JSON never names samples that
//! are not there.
//!
//! An operation that fails leaves the recording as it was before, apart from whole rows that were appended: a trial
//! that could not be announced is not in the recording, and nothing stays of a row that was written in part.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use super::error::Error;
use super::model::{
    MOST_ROWS, NO_CHECKSUM, Outcome, PROFILE_CRC, RECORDING_FILE, Recording, Series, State, Step, Trial,
};
use super::samples;

/// Cells that are written at once: so much memory is needed for them, and so many are lost at most when a disk is full.
const PIECE: usize = 8192;

/// An open recording.
#[derive(Debug)]
pub struct Writer {
    folder: PathBuf,
    recording: Recording,
    files: Vec<Option<File>>,
    crcs: Vec<crc32fast::Hasher>,
}

impl Writer {
    /// Makes the folder and writes the first `recording.json`.
    ///
    /// # Errors
    /// When the folder exists already, or the disk refuses. There is no new folder then.
    pub fn create(folder: &Path, mut recording: Recording) -> Result<Self, Error> {
        if let Some(parent) = folder.parent() {
            fs::create_dir_all(parent).map_err(Error::io("make the folder", parent))?;
        }
        fs::create_dir(folder).map_err(Error::io("make the folder", folder))?;
        let parent = folder.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        sync_folder(parent)?;
        recording.state = State::Running;
        let mut writer = Self { folder: folder.to_owned(), recording, files: Vec::new(), crcs: Vec::new() };
        // A folder without a recording would only be in the way of the next attempt.
        writer.save().inspect_err(|_| drop(fs::remove_dir(folder)))?;
        Ok(writer)
    }

    pub fn recording(&self) -> &Recording {
        &self.recording
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Adds a series; gives its index.
    pub fn add_series(&mut self, series: Series) -> usize {
        self.recording.series.push(series);
        self.recording.series.len() - 1
    }

    /// Adds a sentence about what could not be done, or for what a run goes on. The same sentence is kept once.
    pub fn note(&mut self, note: impl Into<String>) {
        let note = note.into();
        if !self.recording.notes.contains(&note) {
            self.recording.notes.push(note);
        }
    }

    /// Records the version of a program that took part.
    pub fn tool(&mut self, name: &str, version: &str) {
        self.recording.tools.insert(name.to_owned(), version.to_owned());
    }

    /// Announces a trial of all `series`, and reserves room for so many `rows` in each, so that a full disk is met
    /// before the measurement and not in it.
    ///
    /// # Errors
    /// When the disk refuses, or a series has a name that cannot be a file's. There is no such trial then.
    pub fn begin_trial(&mut self, series: &[usize], rows: &[u64], started: &str) -> Result<(), Error> {
        let room = series.iter().zip(rows).try_for_each(|(&index, &rows)| self.make_room(index, rows));
        let announced = room.and_then(|()| {
            for &index in series {
                let entry = &mut self.recording.series[index];
                let trial = Trial {
                    started: started.to_owned(),
                    first_row: entry.rows(),
                    rows: 0,
                    cold_rows: 0,
                    dropped: 0,
                    beyond: None,
                    crc32: 0,
                    outcome: Outcome::Running,
                    effective: Default::default(),
                    facts: Default::default(),
                };
                entry.trials.push(trial);
                self.crcs[index] = crc32fast::Hasher::new();
            }
            let trial = series.first().map_or(0, |&i| self.recording.series[i].trials.len() - 1);
            self.recording.order.push(Step { series: series.to_vec(), trial });
            self.save().inspect_err(|_| {
                self.recording.order.pop();
                series.iter().for_each(|&index| drop(self.recording.series[index].trials.pop()));
            })
        });
        if announced.is_err() {
            // What was reserved is given back, so that there is room to say how the run ended.
            series.iter().for_each(|&index| drop(self.cut(index)));
        }
        announced
    }

    /// Appends whole rows to the trial that runs in `series`.
    ///
    /// # Errors
    /// When the disk refuses. Rows that were appended before stay, and those of `cells` that could still be written.
    pub fn append(&mut self, series: usize, cells: &[u64]) -> Result<(), Error> {
        let columns = self.recording.series[series].columns.len();
        debug_assert_eq!(cells.len() % columns, 0, "whole rows only");
        let piece = (PIECE / columns).max(1) * columns;
        let mut bytes = Vec::with_capacity(piece.min(cells.len()) * 8);
        for cells in cells.chunks(piece) {
            bytes.clear();
            cells.iter().for_each(|cell| bytes.extend_from_slice(&cell.to_le_bytes()));
            let Some(file) = self.files.get_mut(series).and_then(Option::as_mut) else { return Ok(()) };
            if let Err(source) = file.write_all(&bytes) {
                let path = self.folder.join(self.recording.series[series].file());
                // Part of a row may have been written. If it cannot be cut off, the reader leaves it out.
                let _ = self.cut(series);
                return Err(Error::io("append samples to", &path)(source));
            }
            self.crcs[series].update(&bytes);
            if let Some(trial) = self.recording.series[series].trials.last_mut() {
                trial.rows += (cells.len() / columns) as u64;
            }
        }
        Ok(())
    }

    /// The trial that runs in `series`, to put what was in force and what was counted.
    pub fn trial(&mut self, series: usize) -> Option<&mut Trial> {
        self.recording.series.get_mut(series)?.trials.last_mut()
    }

    /// Keeps which functions took the instructions of the trial that runs in `series`, in a file beside its samples.
    ///
    /// # Errors
    /// When the disk refuses.
    pub fn profile(&mut self, series: usize, text: &str) -> Result<(), Error> {
        let entry = &mut self.recording.series[series];
        let path = self.folder.join(entry.profile_file(entry.trials.len().saturating_sub(1)));
        File::create(&path)
            .and_then(|mut file| file.write_all(text.as_bytes()).and_then(|()| file.sync_all()))
            .map_err(Error::io("write", &path))?;
        if let Some(trial) = entry.trials.last_mut() {
            trial.facts.insert(PROFILE_CRC.to_owned(), f64::from(crc32fast::hash(text.as_bytes())));
        }
        Ok(())
    }

    /// Closes the trials that run in `series`, and puts them on disk.
    ///
    /// # Errors
    /// When the disk refuses.
    pub fn end_trial(&mut self, series: &[usize], outcome: &Outcome) -> Result<(), Error> {
        for &index in series {
            let crc = self.crcs[index].clone().finalize();
            self.cut(index)?;
            let entry = &mut self.recording.series[index];
            if let Some(trial) = entry.trials.last_mut() {
                trial.crc32 = crc;
                trial.outcome = outcome.clone();
                trial.cold_rows = trial.cold_rows.min(trial.rows);
            }
            if let Some(file) = &self.files[index] {
                file.sync_data().map_err(Error::io("finish", &self.folder.join(entry.file())))?;
            }
        }
        self.save()
    }

    /// Ends the recording.
    ///
    /// # Errors
    /// When the disk refuses.
    pub fn finish(&mut self, state: State) -> Result<(), Error> {
        self.recording.state = state;
        self.recording.ended = Some(humantime::format_rfc3339_seconds(std::time::SystemTime::now()).to_string());
        self.save()
    }

    /// Replaces `recording.json` as a whole.
    ///
    /// # Errors
    /// When the disk refuses; the earlier file is still there then.
    pub fn save(&mut self) -> Result<(), Error> {
        let path = self.folder.join(RECORDING_FILE);
        let next = self.folder.join("recording.json.next");
        self.recording.checksum = NO_CHECKSUM.to_owned();
        let mut text = serde_json::to_string_pretty(&self.recording)
            .map_err(|e| Error::Unreadable { path: path.clone(), why: e.to_string() })?;
        text.push('\n');
        let checksum = format!("{:08x}", crc32fast::hash(text.as_bytes()));
        let text = text.replacen(NO_CHECKSUM, &checksum, 1);
        self.recording.checksum = checksum;
        let written = File::create(&next)
            .and_then(|mut file| file.write_all(text.as_bytes()).and_then(|()| file.sync_all()))
            .map_err(Error::io("write", &next));
        if written.is_err() {
            let _ = fs::remove_file(&next);
        }
        written?;
        fs::rename(&next, &path).map_err(Error::io("replace", &path))?;
        sync_folder(&self.folder)
    }

    /// Opens the samples file of a series where its next row goes, with room for `rows` more.
    fn make_room(&mut self, index: usize, rows: u64) -> Result<(), Error> {
        let series = &self.recording.series[index];
        let (columns, path) = (series.columns.len(), self.folder.join(series.file()));
        series.check().map_err(|why| Error::Unreadable { path: path.clone(), why })?;
        self.files.resize_with(self.recording.series.len(), || None);
        self.crcs.resize_with(self.recording.series.len(), crc32fast::Hasher::new);
        let file = match &mut self.files[index] {
            Some(file) => file,
            none => {
                let mut options = OpenOptions::new();
                let file = options.create_new(true).write(true).open(&path);
                let mut file = file.map_err(Error::io("make the samples file", &path))?;
                if let Err(source) = file.write_all(&samples::header(columns)) {
                    // Without its header it would be in the way of the next attempt.
                    let _ = fs::remove_file(&path);
                    return Err(Error::io("write", &path)(source));
                }
                none.insert(file)
            }
        };
        let first_row = self.recording.series[index].rows();
        file.seek(SeekFrom::Start(samples::offset(columns, first_row))).map_err(Error::io("seek in", &path))?;
        let end = first_row.saturating_add(rows).min(MOST_ROWS);
        samples::reserve(file, samples::offset(columns, end)).map_err(Error::io("reserve room for", &path))
    }

    /// Ends the samples file of a series after its last whole row, and gives back what was reserved beyond it.
    fn cut(&mut self, index: usize) -> Result<(), Error> {
        let series = &self.recording.series[index];
        let end = samples::offset(series.columns.len(), series.rows());
        let Some(file) = self.files.get_mut(index).and_then(Option::as_mut) else { return Ok(()) };
        let cut = file.set_len(end).and_then(|()| file.seek(SeekFrom::Start(end)));
        cut.map(drop).map_err(Error::io("finish", &self.folder.join(series.file())))
    }
}

/// Puts the names in a folder on disk: a new or replaced file is there after a loss of power only then.
fn sync_folder(folder: &Path) -> Result<(), Error> {
    match File::open(folder).and_then(|folder| folder.sync_all()) {
        // Some file systems cannot do that for a folder.
        Err(e) if e.kind() == io::ErrorKind::InvalidInput => Ok(()),
        other => other.map_err(Error::io("sync the folder", folder)),
    }
}
