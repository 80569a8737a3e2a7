//! The exit status: this program's own, or passed on from a program that it has started.

use std::os::unix::process::ExitStatusExt;
use std::process::{ExitCode, ExitStatus};

/// What cargo's own failures end with; what an application ends with is passed on.
pub(crate) const FAILED: u8 = 101;

/// As a shell has it: what the VM said, or 128 and the signal.
pub(crate) fn code(status: ExitStatus) -> ExitCode {
    let code = status.code().or_else(|| Some(128 + status.signal()?)).and_then(|code| u8::try_from(code).ok());
    ExitCode::from(code.unwrap_or(u8::MAX))
}
