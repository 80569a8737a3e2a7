//! Xen on the machine that the lab runs on: the lab is in the first domain, and the other is created by its tools. Nothing is emulated.

use std::fs;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use kizami_protocol::{Domain as Created, Keep};
use kizami_settings::Settings;

use super::super::board::{AMD64, Board};
use super::super::guest::Guest;
use super::super::kernels::Flavour;
use super::super::monitor::Monitor;
use super::super::session::Session;
use super::domain::{self, Domain};
use crate::error::Error;
use crate::keeper::Keeper;
use crate::launch::{self, Listener};
use crate::locate::{self, LINUX_PROBE};

pub(super) const TOOL: &str = "xl";
pub(super) const PACKAGE: &str = "xen-utils-common";
/// What stands before a phase on the monitor's standard error.
const PHASE: &str = "phase: ";

/// So many domains were asked for: two are kept beside each other where settings differ, and each has a name of its own.
static MADE: AtomicU64 = AtomicU64::new(0);

/// Whether this machine is the first domain of a Xen.
pub(super) fn is_here() -> bool {
    fs::read_to_string("/proc/xen/capabilities").is_ok_and(|has| has.contains("control_d"))
}

/// The version of the Xen below this machine.
pub(super) fn version() -> Option<String> {
    let part = |name: &str| Some(fs::read_to_string(format!("/sys/hypervisor/version/{name}")).ok()?.trim().to_owned());
    Some(format!("{}.{}{}", part("major")?, part("minor")?, part("extra")?))
}

/// Whether a domain could be created.
pub(super) fn possible() -> Result<(), String> {
    locate::program(TOOL, PACKAGE)?;
    Flavour::Cloud.package(&AMD64)?;
    locate::ours(LINUX_PROBE).map(drop)
}

/// What a domain is made of.
pub(super) fn guest() -> Result<Guest, Error> {
    Guest::of(&Flavour::Cloud.package(&AMD64).map_err(Error::Unusable)?, Board::asked(None), None, false)
}

/// A domain that is up, and paused; when it was told to begin; and what was read for it.
pub(super) fn boot(
    asked: &Settings,
    scratch: &Path,
    interrupt: &AtomicBool,
) -> Result<(Domain, i64, Vec<PathBuf>), Error> {
    let tool = locate::program(TOOL, PACKAGE).map_err(Error::Unusable)?;
    let guest = guest()?;
    let created = Created {
        name: format!("kizami-{}-{}", std::process::id(), MADE.fetch_add(1, Ordering::Relaxed)),
        kernel: guest.kernel.clone(),
        initramfs: guest.initramfs.clone(),
        kernel_args: String::new(),
        mebibytes: domain::MEMORY,
        cpus: kizami_settings::cpus::allowed().len(),
        disk: None,
    };
    let words = [&*tool.to_string_lossy(), "destroy", &created.name].map(str::to_owned);
    let keeper = Keeper::start(&Keep { run: vec![words.to_vec()], ..Keep::default() })?;
    let pair = || UnixStream::pair().map_err(Error::os("make a socket"));
    let ((port, port_there), (control, control_there)) = (pair()?, pair()?);
    let mut command = Command::new(locate::ours(LINUX_PROBE).map_err(Error::Unusable)?);
    let asked_for = serde_json::to_string(&created).map_err(|e| Error::Unusable(e.to_string()))?;
    command.arg("domain").arg(&tool).arg(asked_for).arg(scratch.join("domain.cfg"));
    let ignored: Listener = Box::new(|mut stdout, _| {
        let _ = io::copy(&mut stdout, &mut io::sink());
    });
    let child = launch::start(command, launch::Input::Empty, &[port_there.as_fd(), control_there.as_fd()], ignored, || {})?;
    drop((port_there, control_there));
    let monitor = Monitor::new(child, control, None);
    let mut session = Session::new(&monitor, port)?;
    session.monitor().keep(keeper);
    let runs = session.begin();
    let hello = session.boot(domain::PATIENCE, interrupt, phase_of)?;
    session.pause()?;
    Ok((Domain::up(session, hello, asked, ""), runs, vec![guest.kernel, guest.initramfs]))
}

/// How far the domain has come, by what its monitor said last.
fn phase_of(said: &str) -> Option<&str> {
    said.lines().rev().find_map(|line| line.strip_prefix(PHASE))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_phase_is_the_last_that_the_monitor_told() {
        assert_eq!(phase_of(""), None);
        assert_eq!(phase_of("phase: one\nphase: the domain's kernel\n[ 0.1] Linux\n"), Some("the domain's kernel"));
    }
}
