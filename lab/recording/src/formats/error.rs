//! Errors of import and export.

use std::{fmt, io};

/// A file of another tool that is not as the tool writes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    pub file: String,
    /// From 1; `None` where the file as a whole is meant.
    pub line: Option<u64>,
    /// What is wrong there, and what was expected.
    pub why: String,
}

impl Error {
    pub(super) fn new(file: &str, line: impl Into<Option<u64>>, why: impl Into<String>) -> Self {
        Self { file: file.to_owned(), line: line.into(), why: why.into() }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}:{line}: {}", self.file, self.why),
            None => write!(f, "{}: {}", self.file, self.why),
        }
    }
}

impl std::error::Error for Error {}

/// Why nothing was exported.
#[derive(Debug)]
pub enum NotExported {
    /// The format has no way to say what the series holds; a sentence.
    Impossible(String),
    /// The file could not be written.
    Write(io::Error),
}

impl fmt::Display for NotExported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Impossible(why) => write!(f, "{why}"),
            Self::Write(source) => write!(f, "could not write the samples: {source}"),
        }
    }
}

impl std::error::Error for NotExported {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Impossible(_) => None,
            Self::Write(source) => Some(source),
        }
    }
}

impl From<io::Error> for NotExported {
    fn from(source: io::Error) -> Self {
        Self::Write(source)
    }
}
