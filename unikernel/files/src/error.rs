//! What can go wrong.

use alloc::string::String;
use core::fmt;

use crate::disk::DiskError;

/// Why something could not be done. Nothing that was synced is lost by any of them.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// There is no file of that name.
    NotFound(String),
    /// There is one already.
    Exists(String),
    /// A name has 1 to 255 bytes, none of them 0.
    BadName(String),
    /// The file of that handle was removed.
    Removed,
    /// The data needs so many pages more than are free. What is freed is free after the next sync.
    NoSpace {
        needed: u64,
        free: u64,
    },
    /// The files are too many or in too many pieces for the part of the device that keeps what lies where.
    NoRoomForNames,
    /// A file has at most 2^44 bytes.
    TooLarge,
    /// There is no memory for all of a file at once.
    NoMemory {
        bytes: u64,
    },
    /// The device is too small: it needs so many bytes.
    TooSmall {
        needed: u64,
    },
    /// The device has blocks of a size that is no power of two from 512 to 4096.
    BlockSize(u32),
    /// The device has no files: it was never formatted, or its beginning was overwritten.
    NotFormatted,
    /// It was formatted by a version that this one does not know.
    Version(u32),
    /// What it says of itself cannot be, and is not what a power cut leaves.
    Damaged(&'static str),
    Disk(DiskError),
}

impl From<DiskError> for Error {
    fn from(why: DiskError) -> Self {
        Self::Disk(why)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotFound(name) => write!(f, "there is no file {name:?}"),
            Self::Exists(name) => write!(f, "there is a file {name:?} already"),
            Self::BadName(name) => write!(f, "{name:?} is no name of a file: it has 1 to 255 bytes, none of them 0"),
            Self::Removed => f.write_str("the file was removed"),
            Self::NoSpace { needed, free } => {
                write!(
                    f,
                    "the device is full: {needed} pages are needed, {free} are free (of removed files after the next sync)"
                )
            }
            Self::NoRoomForNames => f.write_str(
                "the files are too many, or in too many pieces, for the part of the device that keeps what lies where: \
                 remove some, or make a larger device",
            ),
            Self::TooLarge => f.write_str("a file has at most 2^44 bytes"),
            Self::NoMemory { bytes } => {
                write!(f, "there is no memory for {bytes} bytes at once: read the file in parts")
            }
            Self::TooSmall { needed } => write!(f, "the device is too small for files: it needs {needed} bytes"),
            Self::BlockSize(size) => write!(f, "blocks of {size} bytes: a power of two from 512 to 4096 is needed"),
            Self::NotFormatted => {
                f.write_str("the device has no files: it was never formatted, or its beginning is gone")
            }
            Self::Version(version) => {
                write!(f, "the device was formatted by version {version}, which this one does not know")
            }
            Self::Damaged(what) => write!(f, "the device is damaged: {what}"),
            Self::Disk(why) => why.fmt(f),
        }
    }
}

impl core::error::Error for Error {}
