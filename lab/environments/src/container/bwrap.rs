//! bubblewrap: namespaces around a process, without a daemon, an image or a control group.
//!
//! Root keeps the user namespace, because in a new one it has no right to a real-time policy. Anybody else needs a new one.

use std::path::Path;
use std::process::Command;

use super::engine::{Asked, Engine, Files, PROBE, Prepared, SCRATCH, SHARED};
use crate::error::Error;
use crate::locate;

/// See the module.
pub(super) struct Bwrap;

impl Engine for Bwrap {
    fn name(&self) -> &'static str {
        "bwrap"
    }

    fn title(&self) -> &'static str {
        "a container of bubblewrap: namespaces alone"
    }

    fn package(&self) -> &'static str {
        "bubblewrap"
    }

    fn files(&self, _: &Path) -> Files {
        Files::Bind
    }

    fn has(&self, setting: &str) -> bool {
        ["files_on", "init"].contains(&setting)
    }

    fn starting(&self) -> f64 {
        0.05
    }

    fn versions(&self) -> Vec<(String, String)> {
        let program = locate::program(self.name(), self.package()).ok();
        let said = program.and_then(|path| locate::version(&path, &["--version"]));
        said.map(|version| (self.name().to_owned(), version)).into_iter().collect()
    }

    fn prepare(&self, asked: &Asked<'_>) -> Result<Prepared, Error> {
        let mut command = Command::new(locate::program(self.name(), self.package()).map_err(Error::Unusable)?);
        command.args(["--die-with-parent", "--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts"]);
        command.arg("--unshare-cgroup-try");
        if asked.init == Some(false) {
            command.arg("--as-pid-1");
        }
        // SAFETY: the call takes nothing and cannot fail.
        if unsafe { libc::geteuid() } != 0 {
            command.arg("--unshare-user");
        }
        for capability in asked.capabilities {
            command.arg("--cap-add").arg(format!("CAP_{capability}"));
        }
        command.args(["--proc", "/proc", "--dev", "/dev", "--ro-bind", "/sys", "/sys"]);
        command.arg("--ro-bind").arg(asked.probe).arg(PROBE);
        command.arg("--bind").arg(asked.shared).arg(SHARED);
        match asked.files {
            Files::Bind => command.arg("--bind").arg(asked.scratch).arg(SCRATCH),
            Files::Tmpfs => command.args(["--tmpfs", SCRATCH]),
            Files::Overlay => {
                return Err(Error::Unusable("bwrap has no overlay: set files_on to bind or tmpfs".into()));
            }
        };
        command.args(["--chdir", "/", "--clearenv", "--", PROBE]).args(asked.arguments);
        Ok(Prepared { command, keep: None })
    }
}
