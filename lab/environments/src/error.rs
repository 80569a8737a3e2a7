//! Errors of starting and following a probe.

use std::fmt;
use std::io;

use kizami_recording::folder::what_to_do;

/// Why a probe could not be started or followed: the operation, its object, and the reason.
#[derive(Debug)]
pub enum Error {
    /// The system refused.
    Os { doing: String, source: io::Error },
    /// A sentence that says what is missing or wrong, and what to do.
    Unusable(String),
}

impl Error {
    pub(crate) fn os(doing: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        let doing = doing.into();
        move |source| Self::Os { doing, source }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Os { doing, source } => {
                // The memory for samples counts as a file.
                let limited = source.kind() == io::ErrorKind::FileTooLarge;
                write!(f, "could not {doing}: {source}{}", if limited { what_to_do(source) } else { "" })
            }
            Self::Unusable(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for Error {}
