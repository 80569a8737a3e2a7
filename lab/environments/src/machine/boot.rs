//! The start of a machine of QEMU: what it is given, its command line, and what is in force in it once it is up.

use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use kizami_recording::folder::Effective;
use kizami_recording::quantity::Quantity;
use kizami_settings::Settings;

use super::board::Board;
use super::disk::{self, Disk};
use super::guest::Guest;
use super::kernels::Flavour;
use super::monitor::Monitor;
use super::network::{self, Link, Network};
use super::session::{Hello, Session};
use super::ticks;
use crate::environment::FILES_ON;
use crate::error::Error;
use crate::launch::{self, Listener};
use crate::link::NETWORK;
use crate::locate;

const MEMORY: u64 = 512 << 20;

/// A machine that is up.
#[derive(Clone)]
pub(super) struct Booted {
    pub session: Arc<Mutex<Session>>,
    pub hello: Hello,
    /// When it ran its first instruction, by this machine's clock.
    pub runs: i64,
    pub observed: Vec<(String, Effective)>,
    pub guest: Guest,
    /// Out of it, if it has a network.
    pub link: Option<Link>,
}

impl Booted {
    pub(super) fn is_alive(&self) -> bool {
        self.session.lock().unwrap_or_else(PoisonError::into_inner).is_alive()
    }
}

pub(super) fn board(asked: &Settings) -> &'static Board {
    Board::asked(asked.get("machine"))
}

pub(super) fn processors(asked: &Settings, host: usize) -> usize {
    asked.get("vm_cpus").and_then(|value| value.parse().ok()).unwrap_or(host)
}

/// What a machine is given of this one: the memory for arenas, of so many bytes, its disk, and its network.
pub(super) struct Given<'a> {
    pub region: &'a File,
    pub bytes: u64,
    pub disk: Option<Disk>,
    pub network: Option<Network>,
}

/// Starts a machine and waits until it is up; it is paused then.
pub(super) fn boot(
    asked: &Settings,
    accelerator: &str,
    given: Given<'_>,
    patience: Duration,
    interrupt: &AtomicBool,
) -> Result<Booted, Error> {
    let flavour = asked.get("vm_kernel").and_then(Flavour::named).unwrap_or(Flavour::Cloud);
    let package = flavour.package(board(asked).architecture).map_err(Error::Unusable)?;
    let disk = disk::wanted(asked).then_some(disk::VIRTIO);
    let guest = Guest::of(&package, board(asked), disk, network::wanted(asked))?;
    let pair = || UnixStream::pair().map_err(Error::os("make a socket"));
    let ((port, port_there), (control, control_there)) = (pair()?, pair()?);
    let mut descriptors = vec![given.region.as_fd(), port_there.as_fd(), control_there.as_fd()];
    descriptors.extend(given.disk.as_ref().map(Disk::descriptor));
    descriptors.extend(given.network.as_ref().and_then(Network::descriptor));
    let ignored: Listener = Box::new(|mut stdout, _| {
        let _ = io::copy(&mut stdout, &mut io::sink());
    });
    let monitor = launch::start(command(asked, accelerator, &guest, &given)?, launch::Input::Empty, &descriptors, ignored, || {})?;
    drop((port_there, control_there));
    let files = given.disk.as_ref().map(|disk| disk.folder().to_owned());
    let mut session = Session::new(&Monitor::new(monitor, control, files), port)?;
    let runs = session.begin();
    let hello = session.boot(patience, interrupt, |_| None)?;
    session.pause()?;
    let observed = observed(asked, &session, &hello);
    let link = given.network.as_ref().map(Network::link);
    Ok(Booted { session: Arc::new(Mutex::new(session)), hello, runs, observed, guest, link })
}

/// The command line. The child has the memory for arenas, the port and the control as its descriptors 3 to 5, then its disk and the
/// interface of its network, if it has them; what the console says comes on its standard error.
fn command(asked: &Settings, accelerator: &str, guest: &Guest, given: &Given<'_>) -> Result<Command, Error> {
    let board = board(asked);
    let of = board.architecture;
    let mut command = Command::new(locate::program(of.program, of.package).map_err(Error::Unusable)?);
    // It waits to be told to run: until then its time is the monitor's.
    command.args(["-nodefaults", "-no-user-config", "-display", "none", "-no-reboot", "-S"]);
    command.args(["-machine", board.name, "-accel", accelerator]);
    // Some processors lack a register that this would read.
    command.args(["-cpu", if accelerator == "kvm" { "host,arch-capabilities=off" } else { of.emulated }]);
    command.args(["-smp", &processors(asked, kizami_settings::cpus::allowed().len()).to_string()]);
    let memory = asked.number("vm_memory", Quantity::Size).unwrap_or(MEMORY);
    command.args(["-m", &format!("{}M", memory >> 20)]);
    let counts = asked.get("icount").filter(|value| *value != "off");
    if let Some(shift) = counts {
        command.args(["-icount", &format!("shift={shift},sleep=off")]);
    }
    command.arg("-kernel").arg(&guest.kernel).arg("-initrd").arg(&guest.initramfs);
    // An emulated clock is as good as the host's, which the kernel cannot know: it would take the slowest that there is. Nor
    // can it measure well how fast that runs: it is the host's, or counts nanoseconds where instructions are the clock. That the
    // kernel would measure again a second after its start, against a clock of the board (HPET, PM timer), with another result at
    // each boot: it is given none. And an emulator that waits for its turn looks to a kernel as if the timer did not tick.
    let khz = if counts.is_some() { Some(1_000_000) } else { ticks::khz() };
    let khz = khz.map(|khz| format!("tsc_early_khz={khz}")).unwrap_or_default();
    let (clock, khz) = match (accelerator, of.told_its_clock, counts) {
        ("tcg", true, Some(_)) => ("tsc=reliable no_timer_check hpet=disable pmtmr=0", khz.as_str()),
        ("tcg", true, None) => ("tsc=reliable no_timer_check", khz.as_str()),
        _ => ("", ""),
    };
    let more = asked.get("kernel_args").unwrap_or("");
    let console = format!("console={} quiet panic=-1", of.line);
    let words = [&console, clock, khz, more].map(str::trim);
    let words: Vec<_> = words.into_iter().filter(|words| !words.is_empty()).collect();
    command.args(["-append", &words.join(" ")]);
    if board.shares_memory {
        let memory = format!("memory-backend-file,id=arena,mem-path=/proc/self/fd/3,size={},share=on", given.bytes);
        command.args(["-object", &memory, "-device", "ivshmem-plain,memdev=arena"]);
    }
    command.args(["-device", board.console]);
    command.args(["-chardev", "socket,id=lab,fd=4", "-device", "virtserialport,chardev=lab,name=kizami"]);
    command.args(["-chardev", "socket,id=control,fd=5", "-qmp", "chardev:control"]);
    command.args(["-chardev", "file,id=console,path=/dev/stderr", "-serial", "chardev:console"]);
    let mut next = 6;
    if given.disk.is_some() {
        command.args(disk::arguments(asked, next, board, disk::NAME));
        next += 1;
    }
    if let Some(network) = &given.network {
        command.args(network.arguments(next, board));
    }
    Ok(command)
}

/// What is in force, as the monitor and the guest say it.
fn observed(asked: &Settings, session: &Session, hello: &Hello) -> Vec<(String, Effective)> {
    let fact = |name: &str| hello.facts.get(name).map_or("", String::as_str);
    let accelerator = session.monitor().ask("query-kvm", "enabled").and_then(|enabled| enabled.as_bool());
    let accelerator = accelerator.map(|kvm| if kvm { "kvm" } else { "tcg" }.to_owned());
    let memory = session.monitor().ask("query-memory-size-summary", "base-memory").and_then(|bytes| bytes.as_u64());
    let there: Vec<_> = fact("command_line").split_whitespace().collect();
    let words = asked.get("kernel_args").map(|asked| {
        let in_force: Vec<_> = asked.split_whitespace().filter(|word| there.contains(word)).collect();
        in_force.join(" ")
    });
    let mut found = vec![
        ("accel", accelerator),
        ("machine", Board::of_guest(fact("machine")).map(|board| board.name.to_owned())),
        ("vm_cpus", Some(hello.cpus.len().to_string())),
        ("vm_memory", memory.map(|bytes| Quantity::Size.write(bytes))),
        ("vm_kernel", Flavour::of_release(fact("kernel")).map(|(flavour, _)| flavour.name().to_owned())),
        ("kernel_args", words),
        ("icount", asked.get("icount").map(str::to_owned)),
        (FILES_ON, hello.files_on()),
        (NETWORK, Some(network::observed(session.monitor().process(), fact("network_driver")))),
    ];
    if disk::wanted(asked) {
        found.extend(disk::observed(&mut session.monitor(), disk::NAME));
    }
    in_force(asked, found).into_iter().chain(hello.told()).collect()
}

/// What was found out of settings, beside what was asked of them. What is neither known nor asked for is not told.
pub(super) fn in_force(asked: &Settings, found: Vec<(&str, Option<String>)>) -> Vec<(String, Effective)> {
    let effective = |(name, value): (&str, Option<String>)| {
        let asked = asked.get(name);
        let known = value.is_some();
        let value = value.unwrap_or_else(|| "unknown".into());
        let as_requested = asked.is_none_or(|asked| asked == value);
        let why = match asked {
            Some(asked) if !as_requested => format!("{asked} was asked for and did not take effect"),
            _ => String::new(),
        };
        (known || asked.is_some()).then(|| (name.to_owned(), Effective { value, as_requested, why }))
    };
    found.into_iter().filter_map(effective).collect()
}
