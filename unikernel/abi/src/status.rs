//! What became of a request.

use core::fmt;

/// How a request ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Status {
    Ok = 0,
    /// The host could not read or write there.
    Io = 1,
    /// What the device lies on is full.
    NoSpace = 2,
    ReadOnly = 3,
    /// Blocks that the device has not.
    Range = 4,
    /// The request makes no sense: no whole blocks, or memory that the guest has not.
    Invalid = 5,
    Unsupported = 6,
    /// More than the device takes at once.
    TooLarge = 7,
    /// A flush has failed before: nobody knows what the device holds.
    Failed = 8,
}

impl Status {
    pub const ALL: [Self; 9] = [
        Self::Ok,
        Self::Io,
        Self::NoSpace,
        Self::ReadOnly,
        Self::Range,
        Self::Invalid,
        Self::Unsupported,
        Self::TooLarge,
        Self::Failed,
    ];

    /// The status of that number; one that is not known is an error of the device.
    pub fn of(number: u32) -> Self {
        Self::ALL.into_iter().find(|status| *status as u32 == number).unwrap_or(Self::Io)
    }

    /// What an error of Linux means, by its number; 0 where there is none.
    pub fn of_linux(error: i32) -> Self {
        match error {
            // ENOSPC, EDQUOT, EFBIG
            28 | 122 | 27 => Self::NoSpace,
            // EBADF, EROFS, EPERM, EACCES
            9 | 30 | 1 | 13 => Self::ReadOnly,
            // EINVAL, EFAULT
            22 | 14 => Self::Invalid,
            _ => Self::Io,
        }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Ok => "done",
            Self::Io => "an input or output error of the host",
            Self::NoSpace => "what the device lies on is full",
            Self::ReadOnly => "the device may only be read",
            Self::Range => "the device has not so many blocks",
            Self::Invalid => "no whole blocks, or memory that the guest has not",
            Self::Unsupported => "the device cannot do that",
            Self::TooLarge => "more than the device takes at once",
            Self::Failed => "a flush has failed, so that nobody knows what the device holds",
        })
    }
}

impl core::error::Error for Status {}
