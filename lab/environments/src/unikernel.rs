//! The unikernel: the workload `file` on its block device, whose blocks lie in a file beside those of the others.
//!
//! The command `unikernel` runs the probe, which is a program of its own kernel, under spt as a process or under hvt on KVM. What it says on its
//! console are the reports. The file is made and put into the page cache, or taken out of it, before the unikernel is started, as that of a
//! Linux process is.

use std::fs::{self, File};
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

use kizami_recording::folder::Effective;
use kizami_recording::quantity::Quantity;
use kizami_settings::{Scope, Setting, Settings, process};
use kizami_workloads::linux::file;
use kizami_workloads::{Pages, Params, Workload};

use crate::environment::{Environment, Job, Place};
use crate::error::Error;
use crate::launch::{self, Started};
use crate::locate;

const COMMAND: &str = "unikernel";
const PROBE: &str = "static/kizami-unikernel-probe";
/// Memory beside what the samples take.
const MEMORY: u64 = 16 << 20;
/// Bytes of a block of its devices.
const BLOCK: u64 = 512;

/// One of its monitors.
#[derive(Debug)]
pub struct Unikernel {
    name: &'static str,
    title: &'static str,
    monitor: &'static str,
}

pub static SPT: Unikernel =
    Unikernel { name: "unikernel-spt", title: "the unikernel as a process that may do next to nothing", monitor: "spt" };
pub static HVT: Unikernel =
    Unikernel { name: "unikernel-hvt", title: "the unikernel as a virtual machine, on KVM", monitor: "hvt" };
/// Its clock begins when it does, so that it does not know how long it took to be there.
pub static IN_QEMU: Unikernel =
    Unikernel { name: "unikernel-qemu", title: "the unikernel in a machine of QEMU's, with virtio devices", monitor: "qemu" };

/// The setting that says what runs the instructions of a machine.
const ACCELERATOR: &str = "accel";

impl Environment for Unikernel {
    fn name(&self) -> &'static str {
        self.name
    }

    fn title(&self) -> &'static str {
        self.title
    }

    fn available(&self) -> Result<(), String> {
        if cfg!(not(all(target_os = "linux", target_arch = "x86_64"))) {
            return Err("the unikernel runs on x86-64 only".into());
        }
        if self.monitor == "hvt" {
            let opened = File::options().read(true).write(true).open("/dev/kvm");
            opened.map_err(|why| format!("/dev/kvm cannot be opened ({why}); unikernel-spt needs none"))?;
        }
        if self.monitor == "qemu" {
            locate::program("qemu-system-x86_64", "qemu-system-x86")?;
        }
        locate::ours(COMMAND)?;
        locate::ours(PROBE).map(drop)
    }

    fn emulated(&self, settings: &Settings) -> bool {
        self.monitor == "qemu" && settings.get(ACCELERATOR) != Some("kvm")
    }

    fn does(&self, workload: &Workload) -> bool {
        ["file", "footprint"].contains(&workload.name) || (workload.name == "boot" && self.monitor != "qemu")
    }

    fn supports(&self, params: &Params) -> Result<(), String> {
        if params.workload().name != "file" {
            return Ok(());
        }
        if params.choice("cache") == "cold" && params.number("samples") != 1 {
            return Err("a unikernel cannot have the host drop its cache between samples: cold, each start has one \
                        (samples = 1)"
                .into());
        }
        if ["size", "block"].iter().any(|name| !params.number(name).is_multiple_of(BLOCK)) {
            return Err(format!("a block device has blocks of {BLOCK} bytes: size and block are multiples of that"));
        }
        Ok(())
    }

    fn has(&self, setting: &Setting) -> bool {
        match setting.scope {
            Scope::Process | Scope::System => true,
            Scope::Unikernel => self.monitor != "qemu" || setting.name == "device_sync",
            _ => self.monitor == "qemu" && setting.name == ACCELERATOR,
        }
    }

    /// Requests of one block each leave the guest by the million.
    fn beyond(&self, params: &Params, settings: &Settings) -> f64 {
        if params.workload().name != "file" || settings.get("device_interface") != Some("blocks") {
            return 0.0;
        }
        let blocks = params.number("size").saturating_mul(params.number("samples")) / BLOCK;
        blocks as f64 * if self.monitor == "hvt" { 35e-6 } else { 1e-6 }
    }

    fn versions(&self) -> Vec<(String, String)> {
        let version = locate::ours(COMMAND).ok().and_then(|path| locate::version(&path, &["--version"]));
        version.map(|v| (COMMAND.to_owned(), v)).into_iter().collect()
    }

    fn start(&self, job: &Job, place: &Place<'_>) -> Result<Started, Error> {
        let (program, probe) =
            locate::ours(COMMAND).and_then(|program| Ok((program, locate::ours(PROBE)?))).map_err(Error::Unusable)?;
        let work = Work::of(job, place)?;
        let mut command = Command::new(program);
        command.arg("run").arg(probe).args(["--monitor", self.monitor]);
        command.args(["--mem", &(MEMORY + work.memory).to_string()]);
        let devices = Devices::of(&job.settings);
        let direct = if work.direct { ",direct" } else { "" };
        let disk = place.scratch.join(DISK);
        command.arg("--block").arg(format!("data={},sync={}{direct}", disk.display(), devices.sync));
        command.args(["--interface", devices.interface, "--engine", devices.engine]);
        command.args(["--accel", if self.emulated(&job.settings) { "tcg" } else { "kvm" }]);
        let poll = devices.poll.map(|poll| poll.to_string());
        command.args(poll.iter().flat_map(|poll| ["--poll", poll]));
        command.arg("--").args(work.arguments);
        if job.workload().name == "file" {
            command.args(self.told(&devices));
        }
        let asked = job.settings.of(Scope::Process);
        let prepared = process::InChild::new(&asked).joining(place.cgroups);
        let lines = Box::new(launch::report_lines);
        let mut started = launch::start(command, launch::Input::Empty, &[], lines, move || prepared.apply())?;
        let cache = work.cache;
        let engine = (devices.interface == "rings" && self.monitor != "qemu").then(|| devices.engine.to_owned());
        started.read_back = Some(Box::new(move |pid| {
            let of_process = process::read_of(pid, &asked);
            let cache = cache.clone().map(|cache| ("cache".to_owned(), cache));
            let engine = engine.as_deref().and_then(|asked| engine_of(pid, asked));
            of_process.into_iter().chain(cache).chain(engine.map(|engine| ("device_engine".to_owned(), engine))).collect()
        }));
        Ok(started)
    }
}

/// How its device is to be asked.
struct Devices<'a> {
    interface: &'a str,
    engine: &'a str,
    /// In microseconds; `None` is for the monitor to choose.
    poll: Option<u64>,
    sync: &'a str,
}

impl<'a> Devices<'a> {
    fn of(settings: &'a Settings) -> Self {
        let asked = |name, default| settings.get(name).unwrap_or(default);
        let poll = settings.get("device_poll").and_then(|poll| Quantity::Time.parse(poll).ok());
        Self {
            interface: asked("device_interface", "calls"),
            engine: asked("device_engine", "auto"),
            poll: poll.map(|poll| poll / 1000),
            sync: asked("device_sync", "writeback"),
        }
    }
}

impl Unikernel {
    /// What the guest is told of what was requested, to say what of it is in force.
    fn told(&self, devices: &Devices<'_>) -> Vec<String> {
        let sync = format!("device_sync={}", devices.sync);
        if self.monitor == "qemu" {
            return vec![sync];
        }
        let poll = devices.poll.map(|poll| format!("device_poll={poll}us"));
        [sync, format!("device_interface={}", devices.interface)].into_iter().chain(poll).collect()
    }
}

/// By what the monitor does what is asked in rings, by the files that it has.
fn engine_of(monitor: u32, asked: &str) -> Option<Effective> {
    let files = fs::read_dir(format!("/proc/{monitor}/fd")).ok()?.flatten();
    let is_ring = |file: fs::DirEntry| fs::read_link(file.path()).is_ok_and(|to| to.ends_with("anon_inode:[io_uring]"));
    let value = if files.into_iter().any(is_ring) { "io_uring" } else { "plain" };
    let why = "found among the files that the monitor has open".to_owned();
    Some(Effective { value: value.to_owned(), as_requested: ["auto", value].contains(&asked), why })
}

/// The file of the disk, in the folder of the trial.
const DISK: &str = "disk.img";

/// What the probe is asked to do.
struct Work {
    arguments: Vec<String>,
    /// Bytes that it takes beside those that it always does.
    memory: u64,
    direct: bool,
    /// What was found of the page cache.
    cache: Option<Effective>,
}

impl Work {
    /// Makes the disk, too.
    fn of(job: &Job, place: &Place<'_>) -> Result<Self, Error> {
        let (params, name) = (&job.params, job.workload().name);
        let path = place.scratch.join(DISK);
        let workload = format!("workload={name}");
        if name != "file" {
            let make = || File::create(&path)?.set_len(BLOCK);
            make().map_err(Error::os(format!("make {}", path.display())))?;
            // The disk is there before anything is started, as an image is.
            let began = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos());
            let arguments = vec![workload, format!("began={began}")];
            return Ok(Self { arguments, memory: 0, direct: false, cache: None });
        }
        let pages = file::prepare(params, path, place.interrupt).map_err(|why| Error::Unusable(why.to_string()))?;
        let (size, samples) = (params.number("size"), params.number("samples"));
        let block = match params.number("block") {
            0 => size.min(1 << 20),
            block => block.min(size),
        };
        let step = if params.choice("place") == "sequential" { size } else { 0 };
        let op = params.choice("op");
        let numbers = [("size", size), ("block", block), ("samples", samples), ("step", step)];
        let numbers = numbers.map(|(name, number)| format!("{name}={number}"));
        let arguments = [workload, format!("op={op}")].into_iter().chain(numbers).collect();
        let cache = params.choice("cache");
        Ok(Self { arguments, memory: block + 16 * samples, direct: cache == "direct", cache: found(cache, pages) })
    }
}

/// What of the file was in the page cache before the unikernel was started.
fn found(wanted: &str, pages: Option<Pages>) -> Option<Effective> {
    if wanted == "direct" {
        let why = "the monitor opened the disk with O_DIRECT".to_owned();
        return Some(Effective { value: wanted.to_owned(), as_requested: true, why });
    }
    let pages = pages.filter(|pages| pages.all > 0)?;
    let as_requested = pages.cached == if wanted == "cold" { 0 } else { pages.all };
    let value = match as_requested {
        true => wanted.to_owned(),
        false => format!("{:.2} % of the pages in the cache", pages.cached as f64 * 100.0 / pages.all as f64),
    };
    Some(Effective { value, as_requested, why: "found with mincore before it was started".into() })
}
