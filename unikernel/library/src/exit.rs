//! How a program ends.

use core::fmt;

/// What a program ends with: 0 is success.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExitCode(u8);

impl ExitCode {
    /// 0.
    pub const SUCCESS: Self = Self(0);
    /// 1.
    pub const FAILURE: Self = Self(1);
}

impl From<u8> for ExitCode {
    fn from(code: u8) -> Self {
        Self(code)
    }
}

/// What `main` may return.
pub trait Termination {
    /// The exit code of the program.
    fn code(self) -> u8;
}

impl Termination for () {
    fn code(self) -> u8 {
        0
    }
}

impl Termination for ExitCode {
    fn code(self) -> u8 {
        self.0
    }
}

impl<T: Termination, E: fmt::Debug> Termination for Result<T, E> {
    fn code(self) -> u8 {
        match self {
            Ok(value) => value.code(),
            Err(why) => {
                crate::eprintln!("Error: {why:?}");
                1
            }
        }
    }
}
