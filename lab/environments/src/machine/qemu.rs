//! QEMU: a PC or another board for its processor, on the processor where the kernel of this machine lends it (KVM), emulated otherwise.
//!
//! A `/dev/kvm` that opens does not tell that a kernel comes up with it: that is tried, once. Where none does within
//! [`KVM_PATIENCE`], the machine is emulated, and labelled so.

use std::fs::{self, File};
use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use kizami_protocol::{Arena, PartSize, Request, ToGuest};
use kizami_settings::{Scope, Setting, Settings};
use kizami_workloads::{Machine as Processors, Params, Workload};

use super::board::{AMD64, BOARDS};
use super::boot::{Booted, Given, board, boot, processors};
use super::disk::{self, Disk};
use super::guest::possible;
use super::kernels::Flavour;
use super::network::{self, Network};
use super::session::InGuest;
use crate::environment::{Environment, Job, Place};
use crate::error::Error;
use crate::launch::Started;
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
        let (mut asked, any) = (first.of_virtual_machine(), Settings::default());
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

    fn own_loads(&self, settings: &Settings) -> Option<&'static [&'static str]> {
        const ALL: &[&str] = &["cpu", "memory", "network", "disk", "scheduler"];
        settings.get("icount").filter(|shift| *shift != "off").map(|_| ALL)
    }

    fn takes(&self, settings: &Settings) -> Result<(), (String, String)> {
        disk::check(settings)
    }

    fn machine(&self, settings: &Settings, host: &Processors) -> Processors {
        Processors::of((0..processors(settings, host.cpus.len())).collect())
    }

    fn starting(&self) -> f64 {
        0.3
    }

    fn booting(&self) -> f64 {
        5.0
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
        let asked = job.settings.of_virtual_machine();
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
