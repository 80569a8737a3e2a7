//! Keepers: each ends and removes something of a run once it is not needed, however the lab ends.
//!
//! A container is no child of the lab: it runs on when the lab is killed. So before one is started there is a small process
//! that waits on a pipe whose other end the lab alone holds. The kernel closes that end when the lab ends, also by `kill -9`;
//! at an orderly end the lab closes it and waits. Then the process does what its [`Keep`] says. It is the program of the
//! probe (`kizami-probe keep`), in a session of its own.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};

use kizami_protocol::Keep;

use crate::error::Error;
use crate::locate::{self, LINUX_PROBE};

/// A running keeper. Once it is dropped, what it kept is gone.
pub(crate) struct Keeper(Child);

impl Keeper {
    /// Starts one, and returns when nothing can keep it from its work any more.
    pub(crate) fn start(keep: &Keep) -> Result<Self, Error> {
        let mut command = Command::new(locate::ours(LINUX_PROBE).map_err(Error::Unusable)?);
        command.arg("keep").stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().map_err(Error::os("start kizami-probe keep"))?;
        let told = match (child.stdin.as_mut(), child.stdout.take()) {
            (Some(stdin), Some(stdout)) => {
                // It says one line when it is ready.
                let mut ready = String::new();
                let written = writeln!(stdin, "{}", keep.line());
                written.and_then(|()| BufReader::new(stdout).read_line(&mut ready)).map(|bytes| bytes > 0)
            }
            _ => Ok(false),
        };
        let keeper = Self(child);
        match told {
            Ok(true) => Ok(keeper),
            Ok(false) => Err(Error::Unusable("kizami-probe keep ended before it was ready".into())),
            Err(source) => Err(Error::Os { doing: "talk to kizami-probe keep".into(), source }),
        }
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        let _ = self.0.wait();
    }
}
