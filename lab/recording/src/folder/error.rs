//! Errors and damage of recordings. Each message names the file, the fault, and what the user can do.

use std::fmt;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use super::model::RECORDING_FILE;

/// What a user can do about a file that could not be written, in parentheses after the error; empty where that is not known.
pub fn what_to_do(error: &io::Error) -> &'static str {
    match error.kind() {
        ErrorKind::StorageFull => " (the disk is full: free some space, or choose another folder with --out)",
        ErrorKind::QuotaExceeded => {
            " (this user's quota is used up: free some space, or choose another folder with --out)"
        }
        ErrorKind::FileTooLarge => {
            " (files of this size are not allowed here: ulimit -f is the limit of the shell, see also the file system's own)"
        }
        ErrorKind::PermissionDenied => " (choose a folder of your own with --out)",
        _ => "",
    }
}

/// Why a recording could not be written or read at all.
#[derive(Debug)]
pub enum Error {
    /// The system refused an operation on a file.
    Io { doing: &'static str, path: PathBuf, source: std::io::Error },
    /// The folder holds no recording.
    NotARecording { path: PathBuf },
    /// The JSON is not a recording of a version that this program reads.
    Unreadable { path: PathBuf, why: String },
    /// It was written by a later version.
    TooNew { path: PathBuf, version: u64, known: u32 },
}

impl Error {
    pub(crate) fn io(doing: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        move |source| Self::Io { doing, path: path.to_owned(), source }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io { doing, path, source } => {
                write!(f, "could not {doing} {}: {source}{}", path.display(), what_to_do(source))
            }
            Self::NotARecording { path } => {
                write!(f, "{} is not a recording: it has no {}", path.display(), RECORDING_FILE)
            }
            Self::Unreadable { path, why } => write!(f, "{} cannot be read as a recording: {why}", path.display()),
            Self::TooNew { path, version, known } => write!(
                f,
                "{} has format version {version}, and this program reads versions up to {known}: use a newer kizami",
                path.display()
            ),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io { source, .. } => Some(source),
            _ => None,
        }
    }
}

/// What is wrong with a recording that could be read in part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Damage {
    /// The JSON is not as it was written: its settings and names may not be what was in force.
    RecordingEdited,
    /// The samples file of a series is gone.
    SamplesMissing { series: String },
    /// The samples file does not begin as one.
    SamplesForeign { series: String, why: String },
    /// The samples file ends too early. The trials before the cut are whole.
    SamplesTruncated { series: String, expected: u64, found: u64 },
    /// The samples of one trial are not those that were written; the trial is left out.
    TrialEdited { series: String, trial: usize },
    /// The rows of one trial stand for more samples than a series can have; the trial is left out.
    CountsTooLarge { series: String, trial: usize },
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::RecordingEdited => write!(
                f,
                "{} was changed after it was written: the settings and names in it may not be those of the run",
                RECORDING_FILE
            ),
            Self::SamplesMissing { series } => write!(f, "series {series}: its samples file is missing"),
            Self::SamplesForeign { series, why } => write!(f, "series {series}: its samples file is damaged: {why}"),
            Self::SamplesTruncated { series, expected, found } => write!(
                f,
                "series {series}: its samples file was cut: {found} of {expected} rows are left; those are used"
            ),
            Self::TrialEdited { series, trial } => write!(
                f,
                "series {series}: the samples of trial {} are not those that were measured (checksum); it is left out",
                trial + 1
            ),
            Self::CountsTooLarge { series, trial } => write!(
                f,
                "series {series}: the counts of trial {} are more than any series has; it is left out",
                trial + 1
            ),
        }
    }
}
