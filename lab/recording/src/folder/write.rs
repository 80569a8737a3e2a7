//! Writing a recording so that nothing measured is lost.
//!
//! Order of writes: a trial is announced in the JSON before its rows are appended, and closed in it after they are on
//! disk. A crash in between leaves a trial that is `running`, whose rows the reader counts in the samples file.

use std::fs::{self, File, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use super::error::Error;
use super::model::{Outcome, Recording, Series, State, Trial};
use super::{RECORDING_FILE, samples};

/// The digits that stand for the checksum while it is computed.
pub(super) const NO_CHECKSUM: &str = "00000000";

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
    /// When the folder exists already, or the disk refuses.
    pub fn create(folder: &Path, mut recording: Recording) -> Result<Self, Error> {
        if let Some(parent) = folder.parent() {
            fs::create_dir_all(parent).map_err(Error::io("make the folder", parent))?;
        }
        fs::create_dir(folder).map_err(Error::io("make the folder", folder))?;
        recording.state = State::Running;
        let mut writer = Self { folder: folder.to_owned(), recording, files: Vec::new(), crcs: Vec::new() };
        writer.save()?;
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

    /// Adds a sentence about what could not be done. The same sentence is kept once.
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

    /// Announces a trial of `series`, and reserves room for `rows` rows, so that a full disk is met before the
    /// measurement and not in it.
    ///
    /// # Errors
    /// When the disk refuses.
    pub fn begin_trial(&mut self, series: &[usize], rows: &[u64], started: &str) -> Result<(), Error> {
        for (&index, &rows) in series.iter().zip(rows) {
            self.open(index)?;
            let series = &mut self.recording.series[index];
            let first_row = series.rows();
            let path = self.folder.join(series.file());
            if let Some(file) = &self.files[index] {
                samples::reserve(file, samples::offset(series.columns.len(), first_row + rows))
                    .map_err(Error::io("reserve room for", &path))?;
            }
            series.trials.push(Trial {
                started: started.to_owned(),
                first_row,
                rows: 0,
                cold_rows: 0,
                dropped: 0,
                crc32: 0,
                outcome: Outcome::Running,
                effective: Default::default(),
                facts: Default::default(),
            });
            self.crcs[index] = crc32fast::Hasher::new();
        }
        let trial = series.first().map_or(0, |&i| self.recording.series[i].trials.len() - 1);
        self.recording.order.push(super::Step { series: series.to_vec(), trial });
        self.save()
    }

    /// Appends whole rows to the trial that runs in `series`.
    ///
    /// # Errors
    /// When the disk refuses. Rows that were appended before stay.
    pub fn append(&mut self, series: usize, cells: &[u64]) -> Result<(), Error> {
        if cells.is_empty() {
            return Ok(());
        }
        let columns = self.recording.series[series].columns.len();
        debug_assert_eq!(cells.len() % columns, 0, "whole rows only");
        let path = self.folder.join(self.recording.series[series].file());
        let bytes: Vec<u8> = cells.iter().flat_map(|c| c.to_le_bytes()).collect();
        let Some(file) = self.files[series].as_mut() else { return Ok(()) };
        file.write_all(&bytes).map_err(Error::io("append samples to", &path))?;
        self.crcs[series].update(&bytes);
        if let Some(trial) = self.recording.series[series].trials.last_mut() {
            trial.rows += (cells.len() / columns) as u64;
        }
        Ok(())
    }

    /// The trial that runs in `series`, to put what was in force and what was counted.
    pub fn trial(&mut self, series: usize) -> Option<&mut Trial> {
        self.recording.series.get_mut(series)?.trials.last_mut()
    }

    /// Closes the trials that run in `series`, and puts them on disk.
    ///
    /// # Errors
    /// When the disk refuses.
    pub fn end_trial(&mut self, series: &[usize], outcome: &Outcome) -> Result<(), Error> {
        for &index in series {
            let crc = self.crcs[index].clone().finalize();
            let entry = &mut self.recording.series[index];
            let path = self.folder.join(entry.file());
            let end = samples::offset(entry.columns.len(), entry.rows());
            if let Some(trial) = entry.trials.last_mut() {
                trial.crc32 = crc;
                trial.outcome = outcome.clone();
                trial.cold_rows = trial.cold_rows.min(trial.rows);
            }
            if let Some(file) = &self.files[index] {
                file.set_len(end).and_then(|()| file.sync_data()).map_err(Error::io("finish", &path))?;
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
        let text = with_checksum(&text);
        let written = File::create(&next)
            .and_then(|mut file| file.write_all(text.as_bytes()).and_then(|()| file.sync_all()))
            .map_err(Error::io("write", &next));
        if written.is_err() {
            let _ = fs::remove_file(&next);
        }
        written?;
        fs::rename(&next, &path).map_err(Error::io("replace", &path))
    }

    fn open(&mut self, index: usize) -> Result<(), Error> {
        while self.files.len() < self.recording.series.len() {
            self.files.push(None);
            self.crcs.push(crc32fast::Hasher::new());
        }
        let series = &self.recording.series[index];
        let path = self.folder.join(series.file());
        if self.files[index].is_none() {
            let mut file = OpenOptions::new()
                .create_new(true)
                .write(true)
                .open(&path)
                .map_err(Error::io("make the samples file", &path))?;
            file.write_all(&samples::header(series.columns.len())).map_err(Error::io("write", &path))?;
            self.files[index] = Some(file);
        }
        if let Some(file) = self.files[index].as_mut() {
            file.seek(SeekFrom::Start(samples::offset(series.columns.len(), series.rows())))
                .map_err(Error::io("seek in", &path))?;
        }
        Ok(())
    }
}

/// `text` with the digits of its checksum in place.
fn with_checksum(text: &str) -> String {
    let crc = crc32fast::hash(text.as_bytes());
    text.replacen(NO_CHECKSUM, &format!("{crc:08x}"), 1)
}
