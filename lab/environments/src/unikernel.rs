//! The unikernel: the workload `file` on its block device, whose blocks lie in a file beside those of the others.
//!
//! The command `unikernel` runs the probe, which is a program of its own kernel, under spt as a process or under hvt on KVM. What it says on its
//! console are the reports.

use std::fs::File;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use kizami_recording::quantity::Quantity;
use kizami_settings::{Scope, Setting, process};
use kizami_workloads::{Params, Workload};

use crate::environment::{Environment, Job, Place};
use crate::error::Error;
use crate::launch::{self, Started};
use crate::locate;

const COMMAND: &str = "unikernel";
const PROBE: &str = "static/kizami-unikernel-probe";
/// Memory beside what the samples take.
const MEMORY: u64 = 16 << 20;

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
        locate::ours(COMMAND)?;
        locate::ours(PROBE).map(drop)
    }

    fn does(&self, workload: &Workload) -> bool {
        workload.name == "file"
    }

    fn supports(&self, params: &Params) -> Result<(), String> {
        let multiple = |name| params.number(name).is_multiple_of(512);
        if params.choice("cache") != "hot" {
            return Err("a unikernel cannot have the host drop its caches: set cache = \"hot\"".into());
        }
        if !multiple("size") || !multiple("block") {
            return Err("a block device has blocks of 512 bytes: size and block are multiples of that".into());
        }
        Ok(())
    }

    fn has(&self, setting: &Setting) -> bool {
        matches!(setting.scope, Scope::Process | Scope::System | Scope::Unikernel)
    }

    fn versions(&self) -> Vec<(String, String)> {
        let version = locate::ours(COMMAND).ok().and_then(|path| locate::version(&path, &["--version"]));
        version.map(|v| (COMMAND.to_owned(), v)).into_iter().collect()
    }

    fn start(&self, job: &Job, place: &Place<'_>) -> Result<Started, Error> {
        let (program, probe) =
            locate::ours(COMMAND).and_then(|program| Ok((program, locate::ours(PROBE)?))).map_err(Error::Unusable)?;
        let plan = Plan::of(&job.params);
        let disk = plan.disk(place)?;
        let mut command = Command::new(program);
        command.arg("run").arg(probe).args(["--monitor", self.monitor]).stdin(Stdio::null());
        command.args(["--mem", &(MEMORY + plan.block + 16 * plan.samples).to_string()]);
        let asked = |name| job.settings.get(name);
        let sync = asked("device_sync").unwrap_or("writeback");
        command.arg("--block").arg(format!("data={},sync={sync}", disk.display()));
        command.args(["--interface", asked("device_interface").unwrap_or("calls")]);
        if let Some(poll) = asked("device_poll").and_then(|poll| Quantity::Time.parse(poll).ok()) {
            command.args(["--poll", &(poll / 1000).to_string()]);
        }
        command.arg("--").args(plan.arguments(&job.params));
        let asked = job.settings.of(Scope::Process);
        let prepared = process::InChild::new(&asked).joining(place.cgroups);
        let lines = Box::new(launch::report_lines);
        let mut started = launch::start(command, &[], lines, move || prepared.apply())?;
        started.read_back = Some(Box::new(move |pid| process::read_of(pid, &asked)));
        Ok(started)
    }
}

/// What of the workload's parameters the disk depends on.
struct Plan {
    size: u64,
    block: u64,
    samples: u64,
    step: u64,
}

impl Plan {
    fn of(params: &Params) -> Self {
        let size = params.number("size");
        let block = match params.number("block") {
            0 => size.min(1 << 20),
            block => block.min(size),
        };
        let step = if params.choice("place") == "sequential" { size } else { 0 };
        Self { size, block, samples: params.number("samples"), step }
    }

    /// A file for all samples.
    fn disk(&self, place: &Place<'_>) -> Result<PathBuf, Error> {
        let path = place.scratch.join("disk.img");
        let bytes = self.step * (self.samples - 1) + self.size;
        let make = || File::create(&path)?.set_len(bytes);
        make().map_err(Error::os(format!("make {}", path.display())))?;
        Ok(path)
    }

    fn arguments(&self, params: &Params) -> Vec<String> {
        let Self { size, block, samples, step } = self;
        let op = params.choice("op");
        vec![
            format!("op={op}"),
            format!("size={size}"),
            format!("block={block}"),
            format!("samples={samples}"),
            format!("step={step}"),
        ]
    }
}
