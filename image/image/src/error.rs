//! What can go wrong while an image is made, each with what to do about it.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use crate::cpio::BadPath;

#[derive(Debug)]
pub enum Error {
    Io {
        doing: &'static str,
        path: PathBuf,
        source: io::Error,
    },
    /// A file is not what it should be.
    Form {
        path: PathBuf,
        why: String,
    },
    NoModule {
        name: String,
        for_whom: Option<String>,
        similar: Option<String>,
    },
    Path(BadPath),
    /// A program of the system that takes part, or a file of its packages.
    Tool {
        name: String,
        package: String,
        why: String,
    },
}

impl Error {
    pub(crate) fn io(doing: &'static str, path: impl AsRef<Path>) -> impl FnOnce(io::Error) -> Self {
        let path = path.as_ref().to_owned();
        move |source| Self::Io { doing, path, source }
    }
}

impl From<BadPath> for Error {
    fn from(bad: BadPath) -> Self {
        Self::Path(bad)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io { doing, path, source } => write!(f, "could not {doing} {}: {source}", path.display()),
            Self::Form { path, why } => write!(f, "{}: {why}", path.display()),
            Self::NoModule { name, for_whom, similar } => {
                write!(f, "the kernel has no module {name:?}, built in or in its package")?;
                if let Some(whom) = for_whom {
                    write!(f, ", and {whom} needs it")?;
                }
                match similar {
                    Some(similar) => write!(f, ": did you mean {similar}?"),
                    None => Ok(()),
                }
            }
            Self::Path(bad) => bad.fmt(f),
            Self::Tool { name, package, why } => write!(f, "{name} (of Debian's package {package}) {why}"),
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
