//! Why a probe could not be started or followed.

use std::fmt;
use std::io;

/// What was tried, on what, why it failed.
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
            Self::Os { doing, source } => write!(f, "could not {doing}: {source}"),
            Self::Unusable(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for Error {}
