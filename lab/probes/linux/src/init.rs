//! The first process of a container that does no work itself, as `docker run --init` has one.
//!
//! It passes no signals on: a probe heeds none but the one that cannot be caught, and when the first process of a container
//! gets that, the kernel ends all of them.

use std::os::unix::process::ExitStatusExt;
use std::process::{Command, ExitCode, ExitStatus};

/// Starts this program with `arguments`, and ends as that does.
pub fn main(arguments: &[&str]) -> Result<ExitCode, String> {
    let child = Command::new("/proc/self/exe").args(arguments).spawn();
    let child = child.map_err(|why| format!("could not start the probe as a child: {why}"))?.id().cast_signed();
    loop {
        let mut status = 0;
        // Processes whose parent has ended become children of this one, and are reaped too.
        // SAFETY: waits for any child; the status is ours.
        match unsafe { libc::waitpid(-1, &raw mut status, 0) } {
            ended if ended == child => return Ok(code(ExitStatus::from_raw(status))),
            -1 if std::io::Error::last_os_error().kind() != std::io::ErrorKind::Interrupted => {
                return Err("the probe is gone, and nobody was told how it ended".into());
            }
            _ => {}
        }
    }
}

/// As a shell tells it: 128 more than the signal.
fn code(status: ExitStatus) -> ExitCode {
    let code = status.code().or(status.signal().map(|signal| 128 + signal)).unwrap_or(1);
    ExitCode::from(u8::try_from(code).unwrap_or(u8::MAX))
}
