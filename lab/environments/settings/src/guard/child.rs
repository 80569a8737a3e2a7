//! The guard process: waits until the lab has ended, in whatever way, and restores the settings that the lab changed.
//!
//! The guard reads a pipe whose other end only the lab holds: the kernel closes that end when the lab ends, also by
//! `kill -9`. The guard is in a session of its own and ignores the signals that a terminal sends, so that Ctrl-C, a
//! closed terminal and a killed process group do not end it.

use std::io::{self, Read, Write};
use std::path::Path;

use super::journal;

/// What the guard says when the lab may begin to change things.
pub(super) const READY: &str = "ready";

/// The whole life of a guard for the journal at `journal`, and its exit status. What could not be restored is written to
/// standard output, one sentence a line.
pub fn main(journal: &Path) -> u8 {
    // SAFETY: the calls take numbers; SIG_IGN runs no code of ours. setsid fails only for the leader of a group, which
    // a child that was just started is not.
    unsafe {
        libc::setsid();
        for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGQUIT, libc::SIGTSTP, libc::SIGPIPE] {
            libc::signal(signal, libc::SIG_IGN);
        }
    }
    let mut out = io::stdout();
    let held = match journal::hold(journal) {
        Ok(held) => held,
        Err(e) => {
            let _ = writeln!(out, "the guard cannot open {}: {e}", journal.display());
            return 1;
        }
    };
    // Whether or not the lab still listens, there is only one thing to do from here on.
    let _ = writeln!(out, "{READY}").and_then(|()| out.flush());
    let mut byte = [0];
    while !matches!(io::stdin().read(&mut byte), Ok(0) | Err(_)) {}
    let restored = journal::restore(journal);
    drop(held);
    for problem in &restored.problems {
        let _ = writeln!(out, "{problem}");
    }
    u8::from(!restored.problems.is_empty())
}
