//! An emulated machine with Xen: booted when the first trial asks for it, and paused between trials. Its second domain is
//! created when a trial asks for that.

use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use kizami_protocol::{Arena, Domain as Created, ToGuest};
use kizami_settings::Settings;

use super::direct;
use super::domain::{self, Domain};
use super::image::{ARCHIVE, DOMAIN_ARCHIVE, DOMAIN_KERNEL, HYPERVISOR, KERNEL, Packages};
use crate::error::Error;
use crate::launch::{self, Listener};
use crate::locate;

use super::super::board::Board;
use super::super::disk::{self, Disk};
use super::super::monitor::Monitor;
use super::super::session::Session;
use super::super::ticks;

pub(super) const PROGRAM: &str = "qemu-system-x86_64";
pub(super) const PACKAGE: &str = "qemu-system-x86";
/// How long dom0 may take to come up, emulated, on a machine that does other things too.
const DOM0_PATIENCE: Duration = Duration::from_secs(150);
/// The memory for the samples of dom0. A trial that needs more sends its rows.
pub(super) const REGION: u64 = 64 << 20;
/// Mebibytes of the domains, and of the machine: Xen needs some for itself.
const DOM0_MEMORY: u64 = 512;
const MEMORY: u64 = DOM0_MEMORY + domain::MEMORY + 192;
/// The disks of a machine that has them: what QEMU calls that of dom0, and that which dom0 hands on to domU.
const DISKS: [&str; 2] = ["dom0", "domu"];
/// The second of them, in dom0.
const HANDED_ON: &str = "/dev/vdb";

/// A booted machine, or a domain of the one that the lab runs on.
pub(super) struct Machine {
    dom0: Option<Domain>,
    domu: Option<Domain>,
    /// When it ran its first instruction, by this machine's clock.
    pub runs: i64,
    /// What was read to start it.
    pub files: Vec<PathBuf>,
    /// The settings of a machine that it was started with.
    asked: Settings,
    /// The lab's end of the port of the domain that is not created yet.
    waiting: Option<Session>,
}

impl Machine {
    /// Boots Xen and dom0; it is paused then. The samples of dom0 lie in `region`, and disks, if they are asked for, in `scratch`.
    pub(super) fn boot(
        asked: &Settings,
        region: &File,
        scratch: &Path,
        interrupt: &AtomicBool,
    ) -> Result<Self, Error> {
        let image = Packages::find().map_err(Error::Unusable)?.image(disk::wanted(asked))?;
        let disks = DISKS.iter().filter(|_| disk::wanted(asked)).map(|_| Disk::make(asked, scratch));
        let disks = disks.collect::<Result<Vec<_>, _>>()?;
        let pair = || UnixStream::pair().map_err(Error::os("make a socket"));
        let ((port, port_there), (control, control_there)) = (pair()?, pair()?);
        let (domain, domain_there) = pair()?;
        let mut descriptors = vec![region.as_fd(), port_there.as_fd(), control_there.as_fd(), domain_there.as_fd()];
        descriptors.extend(disks.iter().map(Disk::descriptor));
        let ignored: Listener = Box::new(|mut stdout, _| {
            let _ = io::copy(&mut stdout, &mut io::sink());
        });
        let monitor = launch::start(command(asked, &image)?, launch::Input::Empty, &descriptors, ignored, || {})?;
        drop((port_there, control_there, domain_there));
        let monitor = Monitor::new(monitor, control, disks.first().map(|disk| disk.folder().to_owned()));
        let mut session = Session::new(&monitor, port)?;
        let runs = session.begin();
        let hello = session.boot(DOM0_PATIENCE, interrupt, |console| Some(phase_of(console)))?;
        session.pause()?;
        let dom0 = Domain::up(session, hello, asked, DISKS[0]);
        let files = [HYPERVISOR, KERNEL, ARCHIVE].map(|name| image.join(name)).to_vec();
        let waiting = Some(Session::new(&monitor, domain)?);
        Ok(Self { dom0: Some(dom0), domu: None, runs, files, asked: asked.clone(), waiting })
    }

    /// The one domain that this machine's own Xen makes, which is paused.
    pub(super) fn here(asked: &Settings, scratch: &Path, interrupt: &AtomicBool) -> Result<Self, Error> {
        let (domu, runs, files) = direct::boot(asked, scratch, interrupt)?;
        Ok(Self { dom0: None, domu: Some(domu), runs, files, asked: asked.clone(), waiting: None })
    }

    /// The first domain.
    pub(super) fn dom0(&self) -> Result<Domain, Error> {
        self.dom0.clone().ok_or_else(|| Error::Unusable("the first domain is what the lab runs in".into()))
    }

    /// The second domain, created if it was not.
    pub(super) fn domu(&mut self, interrupt: &AtomicBool) -> Result<Domain, Error> {
        if let Some(mut session) = self.waiting.take() {
            let dom0 = self.dom0()?;
            let asked = ToGuest::Domain(Created {
                name: "kizami".to_owned(),
                kernel: Path::new("/").join(DOMAIN_KERNEL),
                initramfs: Path::new("/").join(DOMAIN_ARCHIVE),
                kernel_args: clock(),
                mebibytes: domain::MEMORY,
                cpus: dom0.hello.cpus.len(),
                disk: disk::wanted(&self.asked).then(|| HANDED_ON.to_owned()),
            });
            dom0.lock().start_domain(&session, &asked)?;
            let hello = session.boot(domain::PATIENCE, interrupt, |_| None)?;
            session.pause()?;
            self.domu = Some(Domain::up(session, hello, &self.asked, DISKS[1]));
        }
        self.domu.clone().ok_or_else(|| Error::Unusable("the domain did not come up before".into()))
    }

    /// Whether its domains can run another probe.
    pub(super) fn is_alive(&self) -> bool {
        let is_alive = |domain: &Option<Domain>| domain.as_ref().is_none_or(Domain::is_alive);
        is_alive(&self.dom0) && is_alive(&self.domu)
    }
}

/// The command line, for the folder `image`. The child has the memory for arenas, the port, the control and the port of the
/// second domain as its descriptors 3 to 6, then the disks if it has them; what Xen's console says comes on its standard error.
fn command(asked: &Settings, image: &Path) -> Result<Command, Error> {
    let mut command = Command::new(locate::program(PROGRAM, PACKAGE).map_err(Error::Unusable)?);
    // It waits to be told to run. The parts are named without a folder: a comma or a blank in its path would divide them.
    command.current_dir(image);
    command.args(["-nodefaults", "-no-user-config", "-display", "none", "-no-reboot", "-S"]);
    command.args(["-machine", "pc", "-accel", "tcg,thread=multi", "-cpu", "qemu64"]);
    command.args(["-smp", &kizami_settings::cpus::allowed().len().to_string(), "-m", &format!("{MEMORY}M")]);
    command.args(["-kernel", HYPERVISOR]);
    // All of the machine's memory would be written to otherwise.
    command.args(["-append", &format!("console=com1 bootscrub=0 dom0_mem={DOM0_MEMORY}M,max:{DOM0_MEMORY}M")]);
    // What dom0's kernel says tells how far it has come.
    command.args(["-initrd", &format!("{KERNEL} console=hvc0 loglevel=7 panic=-1 {},{ARCHIVE}", clock())]);
    command.args(["-object", &format!("memory-backend-file,id=arena,mem-path=/proc/self/fd/3,size={REGION},share=on")]);
    command.args(["-device", "ivshmem-plain,memdev=arena", "-device", "virtio-serial-pci"]);
    command.args(["-chardev", "socket,id=lab,fd=4", "-device", "virtserialport,chardev=lab,name=kizami"]);
    command.args(["-chardev", "socket,id=control,fd=5", "-qmp", "chardev:control"]);
    command.args(["-chardev", "socket,id=domain,fd=6", "-device", "virtserialport,chardev=domain,name=kizami-domain"]);
    command.args(["-chardev", "file,id=console,path=/dev/stderr", "-serial", "chardev:console"]);
    for (number, name) in (7..).zip(DISKS).filter(|_| disk::wanted(asked)) {
        command.args(disk::arguments(asked, number, Board::asked(None), name));
    }
    Ok(command)
}

/// What tells a kernel to read the counter of its processor, which is this machine's whichever of the emulated ones reads it, and how
/// fast that runs. Xen sets the clock of each processor by a timer of the machine, so that they run apart by milliseconds where
/// that is emulated; a kernel that reads those lets its clock stand still until the one behind has come up.
fn clock() -> String {
    let khz = ticks::khz().map(|khz| format!(" tsc_early_khz={khz}")).unwrap_or_default();
    format!("tsc=reliable clocksource=tsc{khz}")
}

/// Memory for the samples of dom0.
pub(super) fn region() -> io::Result<File> {
    Arena::region(REGION)
}

/// How far dom0 has come, by what the console said last.
fn phase_of(console: &str) -> &'static str {
    let begins = |begin: &str| console.lines().any(|line| line.starts_with(begin));
    match () {
        () if console.contains(" as init process") || begins("init: ") => "dom0's first process",
        () if begins("[ ") => "dom0's kernel",
        () => "Xen",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_phase_is_the_last_that_the_console_tells_of() {
        assert_eq!(phase_of(""), "Xen");
        assert_eq!(phase_of("(XEN) Xen version 4.17.7\n(XEN) Freed 656kB init memory\n"), "Xen");
        let kernel = "(XEN) Freed 656kB init memory\n[    0.000000] Linux version 6.1.0\n";
        assert_eq!(phase_of(kernel), "dom0's kernel");
        assert_eq!(
            phase_of(&format!("{kernel}[    9.1] Run /init as init process\n[    9.2] virtio\n")),
            "dom0's first process"
        );
    }
}
