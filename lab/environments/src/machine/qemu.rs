//! QEMU: a PC or another board for its processor, on the processor where the kernel of this machine lends it (KVM), emulated otherwise.
//!
//! A `/dev/kvm` that opens does not tell that a kernel comes up with it: that is tried, once. Where none does within
//! [`KVM_PATIENCE`], the machine is emulated, and labelled so.

use std::fs::{self, File};
use std::io;
use std::net::SocketAddr;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use kizami_protocol::{Arena, PartSize, Request, ToGuest};
use kizami_recording::folder::Effective;
use kizami_recording::quantity::Quantity;
use kizami_settings::{Scope, Setting, Settings};
use kizami_workloads::{Machine as Processors, Params, Workload};

use super::board::{AMD64, BOARDS, Board};
use super::disk::{self, Disk};
use super::guest::{Guest, possible};
use super::kernels::Flavour;
use super::monitor::Monitor;
use super::network::{self, Link, Network};
use super::session::{Hello, InGuest, Session};
use super::ticks;
use crate::environment::{Environment, FILES_ON, Job, Place};
use crate::error::Error;
use crate::launch::{self, Listener, Started};
use crate::link::{LINK, NETWORK};
use crate::locate;
use crate::partner;
use crate::probe;

/// How long a guest may take to come up: emulated, on a machine that does other things too.
const PATIENCE: Duration = Duration::from_secs(90);
const KVM_PATIENCE: Duration = Duration::from_secs(10);
/// The memory for arenas is a region of a PCI device: its size is a power of two. No machine is given less.
const LEAST_REGION: u64 = 64 << 20;
/// So many machines are kept, paused, for what else asks for them.
const KEPT: usize = 4;
const MEMORY: u64 = 512 << 20;

/// See the module.
pub struct Qemu {
    /// The machines of this run, the last used last.
    machines: Mutex<Vec<Machine>>,
    kvm: OnceLock<Result<(), String>>,
    tried: OnceLock<Result<(), String>>,
}

struct Machine {
    /// The settings of a machine that were asked for.
    asked: Settings,
    region: File,
    bytes: u64,
    booted: Option<Booted>,
}

#[derive(Clone)]
struct Booted {
    session: Arc<Mutex<Session>>,
    hello: Hello,
    /// When it ran its first instruction, by this machine's clock.
    runs: i64,
    observed: Vec<(String, Effective)>,
    guest: Guest,
    /// Out of it, if it has a network.
    link: Option<Link>,
}

impl Booted {
    fn is_alive(&self) -> bool {
        self.session.lock().unwrap_or_else(PoisonError::into_inner).is_alive()
    }
}

impl Qemu {
    pub(super) const fn new() -> Self {
        Self { machines: Mutex::new(Vec::new()), kvm: OnceLock::new(), tried: OnceLock::new() }
    }

    fn machines(&self) -> MutexGuard<'_, Vec<Machine>> {
        self.machines.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a kernel comes up on the processor.
    fn kvm(&self) -> Result<(), String> {
        self.kvm.get_or_init(try_kvm).clone()
    }

    fn accelerator(&self, asked: &Settings) -> &'static str {
        if !board(asked).architecture.is_here() {
            return "tcg";
        }
        match (asked.get("accel"), asked.get("icount")) {
            (Some("kvm"), _) => "kvm",
            (Some(_), _) => "tcg",
            (None, Some(icount)) if icount != "off" => "tcg",
            (None, _) if self.kvm().is_ok() => "kvm",
            (None, _) => "tcg",
        }
    }

    /// Makes room for a machine as `asked`, with memory for arenas of so many bytes; it is the last of the machines then. One
    /// that is there serves, unless it has to be `new`.
    fn make_room(&self, asked: &Settings, bytes: u64, new: bool) -> io::Result<MutexGuard<'_, Vec<Machine>>> {
        let mut machines = self.machines();
        match machines.iter().position(|machine| machine.asked == *asked) {
            Some(index) if machines[index].bytes >= bytes && !new => {
                let machine = machines.remove(index);
                machines.push(machine);
                return Ok(machines);
            }
            Some(index) => drop(machines.remove(index)),
            None if machines.len() == KEPT => drop(machines.remove(0)),
            None => {}
        }
        let bytes = bytes.next_power_of_two().max(LEAST_REGION);
        machines.push(Machine { asked: asked.clone(), region: Arena::region(bytes)?, bytes, booted: None });
        Ok(machines)
    }

    /// The last of the machines, up. If it has a disk, that is made in `scratch`.
    fn booted(&self, machines: &mut [Machine], scratch: &Path, interrupt: &AtomicBool) -> Result<Booted, Error> {
        let machine = machines.last_mut().ok_or_else(|| Error::Unusable("no machine was made".into()))?;
        if let Some(booted) = machine.booted.as_ref().filter(|booted| booted.is_alive()) {
            return Ok(booted.clone());
        }
        machine.booted = None;
        let accelerator = self.accelerator(&machine.asked);
        let disk = disk::wanted(&machine.asked).then(|| Disk::make(&machine.asked, scratch)).transpose()?;
        let network = network::wanted(&machine.asked).then(|| Network::make(&machine.asked)).transpose()?;
        let given = Given { region: &machine.region, bytes: machine.bytes, disk, network };
        let booted = boot(&machine.asked, accelerator, given, PATIENCE, interrupt)?;
        machine.booted = Some(booted.clone());
        Ok(booted)
    }
}

impl Environment for Qemu {
    fn name(&self) -> &'static str {
        "qemu"
    }

    fn title(&self) -> &'static str {
        "a virtual machine of QEMU with Debian's kernel"
    }

    fn emulated(&self, settings: &Settings) -> bool {
        self.accelerator(&settings.of(Scope::Machine)) == "tcg"
    }

    fn available(&self) -> Result<(), String> {
        possible(&AMD64)
    }

    fn lacks(&self) -> Vec<String> {
        let kernels = Flavour::ALL.map(|flavour| (flavour.package(&AMD64).map(drop), "vm_kernel", flavour.name()));
        let boards = BOARDS.each_ref().map(|board| (possible(board.architecture), "machine", board.name));
        let told = kernels.into_iter().chain(boards).chain([(network::possible(), NETWORK, LINK)]);
        told.filter_map(|(found, setting, value)| Some(format!("Without {setting}={value}: {}.", found.err()?))).collect()
    }

    fn starts_first(&self) -> bool {
        true
    }

    fn tried(&self, first: &Settings, interrupt: &AtomicBool) -> Result<(), String> {
        let boots = |asked: &Settings| {
            let mut machines = self.make_room(asked, LEAST_REGION, false).map_err(|e| e.to_string())?;
            self.booted(&mut machines, &std::env::temp_dir(), interrupt).map(drop).map_err(|e| e.to_string())
        };
        // What is wrong with what was asked for is for its series to tell.
        let (mut asked, any) = (of_machine(first), Settings::default());
        if disk::wanted(&asked) {
            // That lies where the files of a trial are.
            asked = any.clone();
        }
        let try_it = || boots(&asked).or_else(|why| if asked == any { Err(why) } else { boots(&any) });
        self.tried.get_or_init(try_it).clone()
    }

    fn does(&self, workload: &Workload) -> bool {
        probe::does(workload)
    }

    fn supports(&self, params: &Params) -> Result<(), String> {
        probe::supports(params)
    }

    fn has(&self, setting: &Setting) -> bool {
        matches!(setting.scope, Scope::Process | Scope::Machine | Scope::Layer)
    }

    fn takes(&self, settings: &Settings) -> Result<(), (String, String)> {
        match settings.get(FILES_ON) {
            Some(place @ ("overlay" | "bind")) => {
                let why = format!("a virtual machine has no files on {place:?}: it has them on tmpfs or disk");
                Err((FILES_ON.to_owned(), why))
            }
            _ => disk::check(settings),
        }
    }

    fn machine(&self, settings: &Settings, host: &Processors) -> Processors {
        Processors { cpus: (0..processors(settings, host.cpus.len())).collect() }
    }

    fn starting(&self) -> f64 {
        0.3
    }

    fn versions(&self) -> Vec<(String, String)> {
        let program = locate::program(AMD64.program, AMD64.package).ok();
        let said = program.and_then(|path| locate::version(&path, &["--version"]));
        let machines = self.machines();
        let booted = machines.iter().find_map(|machine| machine.booted.as_ref());
        let guest = booted.map(|booted| booted.hello.in_words());
        let named = |name: &str, value: Option<String>| value.map(|value| (name.to_owned(), value));
        named(AMD64.program, said).into_iter().chain(named("guest", guest)).collect()
    }

    fn arena(&self, job: &Job, sizes: &[PartSize]) -> io::Result<Arena> {
        let asked = of_machine(&job.settings);
        let shares = board(&asked).shares_memory;
        let machines = self.make_room(&asked, if shares { Arena::bytes(sizes)? } else { 0 }, job.starts_anew())?;
        let machine = machines.last().ok_or_else(|| io::Error::other("no machine was made"))?;
        if shares { Arena::create_in(&machine.region, sizes) } else { Arena::create(sizes) }
    }

    fn start(&self, job: &Job, place: &Place<'_>) -> Result<Started, Error> {
        let booted = self.booted(&mut self.machines(), place.scratch, place.interrupt)?;
        let size = |part| (place.arena.columns(part), place.arena.capacity(part));
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let link = booted.link.filter(|_| partner::has(job));
        let partner = link.map(|link| partner::start(job, link.host, place.interrupt)).transpose()?;
        let at = |(_, at): &(Started, SocketAddr)| link.map(|link| SocketAddr::new(link.seen_as, at.port()));
        let asked = ToGuest::Start {
            request: Box::new(Request {
                start: booted.hello.start(place.began, booted.runs),
                partner: partner.as_ref().and_then(at),
                ..probe::request(job, place, Path::new(""))
            }),
            address: link.map(|link| link.guest),
            unix_nanoseconds: now.as_nanos() as u64,
            parts: (!booted.hello.shared).then(|| (0..place.arena.parts()).map(size).collect()),
        };
        let reports = booted.session.lock().unwrap_or_else(PoisonError::into_inner).start(&asked)?;
        let mut started = Started::of(reports, Box::new(InGuest(Arc::clone(&booted.session))));
        started.server = partner.map(|(partner, _)| Box::new(partner));
        started.served_by.files = vec![booted.guest.kernel.clone(), booted.guest.initramfs.clone()];
        started.read_back = Some(Box::new(move |_| booted.observed.clone()));
        Ok(started)
    }

    fn end(&self) {
        self.machines().clear();
    }
}

impl std::fmt::Debug for Qemu {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Qemu")
    }
}

/// Boots a kernel with KVM. That none came up is kept until this machine is started anew: each try takes the whole patience.
fn try_kvm() -> Result<(), String> {
    File::options().read(true).write(true).open("/dev/kvm").map_err(|e| format!("/dev/kvm: {e}"))?;
    let boot_id = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let kept = locate::cache().join("no-kvm");
    if fs::read_to_string(&kept).is_ok_and(|kept| kept == boot_id) {
        return Err("no kernel came up with it since this machine was started".into());
    }
    let region = Arena::region(LEAST_REGION).map_err(|e| e.to_string())?;
    let (asked, never) = (Settings::default(), AtomicBool::new(false));
    let given = Given { region: &region, bytes: LEAST_REGION, disk: None, network: None };
    let booted = boot(&asked, "kvm", given, KVM_PATIENCE, &never);
    if booted.is_err() {
        // Where it cannot be kept, it is tried again.
        let _ = fs::write(&kept, boot_id);
    }
    booted.map(drop).map_err(|e| e.to_string())
}

/// What a machine is started with.
fn of_machine(settings: &Settings) -> Settings {
    settings.of(Scope::Machine).merged(&settings.of(Scope::Layer))
}

fn board(asked: &Settings) -> &'static Board {
    Board::asked(asked.get("machine"))
}

fn processors(asked: &Settings, host: usize) -> usize {
    asked.get("vm_cpus").and_then(|value| value.parse().ok()).unwrap_or(host)
}

/// What a machine is given of this one: the memory for arenas, of so many bytes, its disk, and its network.
struct Given<'a> {
    region: &'a File,
    bytes: u64,
    disk: Option<Disk>,
    network: Option<Network>,
}

/// Starts a machine and waits until it is up; it is paused then.
fn boot(
    asked: &Settings,
    accelerator: &str,
    given: Given<'_>,
    patience: Duration,
    interrupt: &AtomicBool,
) -> Result<Booted, Error> {
    let flavour = asked.get("vm_kernel").and_then(Flavour::named).unwrap_or(Flavour::Cloud);
    let package = flavour.package(board(asked).architecture).map_err(Error::Unusable)?;
    let guest = Guest::of(&package, board(asked), asked)?;
    let pair = || UnixStream::pair().map_err(Error::os("make a socket"));
    let ((port, port_there), (control, control_there)) = (pair()?, pair()?);
    let mut descriptors = vec![given.region.as_fd(), port_there.as_fd(), control_there.as_fd()];
    descriptors.extend(given.disk.as_ref().map(Disk::descriptor));
    descriptors.extend(given.network.as_ref().and_then(Network::descriptor));
    let ignored: Listener = Box::new(|mut stdout, _| {
        let _ = io::copy(&mut stdout, &mut io::sink());
    });
    let monitor = launch::start(command(asked, accelerator, &guest, &given)?, &descriptors, ignored, || {})?;
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
    command.stdin(Stdio::null());
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
    command.args(["-chardev", "socket,id=control,fd=5", "-mon", "chardev=control,mode=control"]);
    command.args(["-chardev", "file,id=console,path=/dev/stderr", "-serial", "chardev:console"]);
    let mut next = 6;
    if given.disk.is_some() {
        command.args(disk::arguments(asked, next, board));
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
        found.extend(disk::observed(&mut session.monitor()));
    }
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
    found.into_iter().filter_map(effective).chain(hello.told()).collect()
}
