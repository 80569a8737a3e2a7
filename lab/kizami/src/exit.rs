//! The exit statuses, and the one error type that carries them to `main`.

use std::fmt;

pub const FAILED: u8 = 1;
pub const USAGE: u8 = 2;
/// Some trials failed or were refused; the recording holds the rest.
pub const PARTLY: u8 = 3;
/// A recording is damaged; what is whole of it was used.
pub const DAMAGED: u8 = 4;
/// A benchmark's figure is outside its bound.
pub const MISSED: u8 = 5;
/// Another run is measuring (`EX_TEMPFAIL` of sysexits.h).
pub const BUSY: u8 = 75;
pub const INTERRUPTED: u8 = 130;

/// Ends the program: a message for the user, and the status.
#[derive(Debug)]
pub struct Exit {
    pub status: u8,
    pub message: String,
}

impl Exit {
    pub fn new(status: u8, message: impl fmt::Display) -> Self {
        Self { status, message: message.to_string() }
    }

    /// For `map_err` where nothing more precise fits.
    pub fn failed(message: impl fmt::Display) -> Self {
        Self::new(FAILED, message)
    }

    pub fn usage(message: impl fmt::Display) -> Self {
        Self::new(USAGE, message)
    }
}
