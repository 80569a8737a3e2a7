//! An Erlang VM as a child process of this program. The VM does not outlive the program.

use std::os::unix::process::CommandExt;
use std::process::{Child, Command};

use anyhow::{Context, Result};
use rustix::process::{Signal, getpid, getppid, set_parent_process_death_signal};

/// From how many milliseconds on the application tells that a callback has held its scheduler up; see `otp_held.erl`.
const HELD: (&str, &str) = ("OTP_LONG_SCHEDULE", "100");

/// Has the application tell of callbacks that compute for long, unless the environment says something else.
pub(crate) fn tell_who_holds_up(erl: &mut Command) {
    let (name, limit) = HELD;
    if std::env::var_os(name).is_none() {
        erl.env(name, limit);
    }
}

/// Starts a VM that does not outlive this program.
pub(crate) fn spawn(erl: &mut Command) -> Result<Child> {
    let parent = getpid();
    let follow = move || {
        set_parent_process_death_signal(Some(Signal::KILL))?;
        // It may have ended before that was said.
        if getppid() == Some(parent) { Ok(()) } else { Err(std::io::ErrorKind::Interrupted.into()) }
    };
    // SAFETY: between fork and exec the function makes two system calls, and neither allocates nor takes a lock.
    unsafe { erl.pre_exec(follow) };
    erl.spawn().context("cannot start erl")
}
