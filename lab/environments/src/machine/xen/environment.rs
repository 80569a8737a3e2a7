//! The two domains of Xen as environments. They share the one machine.

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use kizami_protocol::{Arena, PartSize, Request, ToGuest};
use kizami_settings::{Scope, Setting, Settings};
use kizami_workloads::linux::footprint;
use kizami_workloads::{Machine as Processors, Params, Workload};

use super::super::board::AMD64;
use super::super::disk;
use super::super::kernels::Flavour;
use super::super::session::InGuest;
use super::direct;
use super::boot::{Machine, PACKAGE, PROGRAM, REGION, region};
use super::domain::Domain;
use super::image::Packages;
use crate::environment::{Environment, FILES_ON, Job, Place};
use crate::error::Error;
use crate::launch::Started;
use crate::locate::{self, LINUX_PROBE};
use crate::probe;

/// So many machines are kept, paused.
const KEPT: usize = 2;

/// The machines of this run, the last used last.
static RUN: Mutex<Vec<Run>> = Mutex::new(Vec::new());

fn runs() -> MutexGuard<'static, Vec<Run>> {
    RUN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The machine with these settings, which is the last then.
fn of<'a>(asked: &Settings, runs: &'a mut Vec<Run>) -> io::Result<&'a mut Run> {
    let run = match runs.iter().position(|run| run.asked == *asked) {
        Some(index) => runs.remove(index),
        None => Run { asked: asked.clone(), region: region()?, machine: None, refused: None },
    };
    let excess = (runs.len() + 1).saturating_sub(KEPT);
    runs.drain(..excess);
    runs.push(run);
    runs.last_mut().ok_or_else(|| io::Error::other("no machine was made"))
}

/// The machine, with the first domain up or, where that is what the lab runs in, the other.
fn begin(
    asked: &Settings,
    region: &File,
    other: bool,
    scratch: &Path,
    interrupt: &AtomicBool,
) -> Result<Machine, Error> {
    match other && direct::is_here() {
        true => Machine::here(asked, scratch, interrupt),
        false => Machine::boot(asked, region, scratch, interrupt),
    }
}

struct Run {
    /// The settings of a machine that were asked for.
    asked: Settings,
    /// The memory for the samples of dom0.
    region: File,
    machine: Option<Machine>,
    /// Which domain did not come up, and why: a second try would take as long, and end in the same way.
    refused: Option<(bool, String)>,
}

impl Run {
    /// Dom0 or domU, up. Where the machine has disks, they are made in `scratch`.
    fn domain(&mut self, other: bool, scratch: &Path, interrupt: &AtomicBool) -> Result<Domain, Error> {
        if let Some((of, why)) = &self.refused
            && (!of || other)
        {
            return Err(Error::Unusable(why.clone()));
        }
        if self.machine.as_ref().is_some_and(|machine| !machine.is_alive()) {
            self.machine = None;
        }
        let booted = match &mut self.machine {
            Some(machine) => machine,
            None => match begin(&self.asked, &self.region, other, scratch, interrupt) {
                Ok(machine) => self.machine.insert(machine),
                Err(why) => return Err(self.refuse(false, why, interrupt)),
            },
        };
        let domain = if other { booted.domu(interrupt) } else { booted.dom0() };
        domain.map_err(|why| self.refuse(other, why, interrupt))
    }

    fn refuse(&mut self, other: bool, why: Error, interrupt: &AtomicBool) -> Error {
        self.machine = None;
        if !interrupt.load(Ordering::Relaxed) {
            self.refused = Some((other, why.to_string()));
        }
        why
    }
}

/// See the module.
#[derive(Debug)]
pub struct Xen {
    name: &'static str,
    title: &'static str,
    /// Whether it is the domain that the first one creates.
    other: bool,
}

impl Xen {
    pub(super) const fn new(name: &'static str, title: &'static str, other: bool) -> Self {
        Self { name, title, other }
    }

    /// Whether it is a domain of the Xen below this machine.
    fn is_here(&self) -> bool {
        self.other && direct::is_here()
    }
}

/// Whether the samples of dom0 are in the memory that it shares with the lab.
fn fits(bytes: u64) -> bool {
    bytes <= REGION
}

impl Environment for Xen {
    fn name(&self) -> &'static str {
        self.name
    }

    fn title(&self) -> &'static str {
        if self.is_here() { "a paravirtualised domain of this machine's Xen" } else { self.title }
    }

    fn emulated(&self, _: &Settings) -> bool {
        !self.is_here()
    }

    fn available(&self) -> Result<(), String> {
        if direct::is_here() {
            let first = "this machine is the first domain of a Xen, so that is what the environment host measures";
            return if self.other { direct::possible() } else { Err(first.into()) };
        }
        locate::program(PROGRAM, PACKAGE)?;
        Packages::find()?;
        Flavour::Cloud.package(&AMD64)?;
        locate::ours(LINUX_PROBE).map(drop)
    }

    fn lacks(&self) -> Vec<String> {
        if self.is_here() {
            return Vec::new();
        }
        vec!["Whether it boots was not tried, as it takes half a minute: a run finds out.".into()]
    }

    fn does(&self, workload: &Workload) -> bool {
        probe::does(workload)
    }

    fn supports(&self, params: &Params) -> Result<(), String> {
        if self.is_here() && params.workload().name == footprint::WORKLOAD.name {
            return Err("the memory of a domain is Xen's, and no process of this machine has it".into());
        }
        probe::supports(params)
    }

    fn has(&self, setting: &Setting) -> bool {
        matches!(setting.scope, Scope::Process) || setting.name == FILES_ON || disk::SETTINGS.contains(&setting.name)
    }

    fn takes(&self, settings: &Settings) -> Result<(), (String, String)> {
        if self.is_here() && disk::wanted(settings) {
            let why = "a domain of this machine's own Xen has its files in memory: the lab gives it no disk";
            return Err((FILES_ON.into(), why.into()));
        }
        disk::check(settings)
    }

    fn machine(&self, _: &Settings, host: &Processors) -> Processors {
        Processors::of((0..host.cpus.len()).collect())
    }

    fn starting(&self) -> f64 {
        0.5
    }

    fn booting(&self) -> f64 {
        match (self.is_here(), self.other) {
            (true, _) => 2.0,
            (false, true) => 28.0,
            (false, false) => 11.0,
        }
    }

    fn versions(&self) -> Vec<(String, String)> {
        if self.is_here() {
            return direct::version().map(|version| ("xen".to_owned(), version)).into_iter().collect();
        }
        let program = locate::program(PROGRAM, PACKAGE).ok();
        let monitor = program.and_then(|path| locate::version(&path, &["--version"]));
        let xen = Packages::find().ok().and_then(|packages| packages.version());
        let named = |name: &str, value: Option<String>| value.map(|value| (name.to_owned(), value));
        [named(PROGRAM, monitor), named("xen", xen)].into_iter().flatten().collect()
    }

    fn arena(&self, job: &Job, sizes: &[PartSize]) -> io::Result<Arena> {
        let (asked, mut runs) = (job.settings.of_virtual_machine(), runs());
        let run = of(&asked, &mut runs)?;
        if job.starts_anew() {
            run.machine = None;
            // It is no part of a start. Why it could not be made is told when it is wanted.
            if self.is_here() {
                let _ = direct::guest();
            } else {
                let _ = Packages::find().map(|packages| packages.image(disk::wanted(&asked)));
            }
        }
        match fits(Arena::bytes(sizes)?) && !self.other {
            true => Arena::create_in(&run.region, sizes),
            false => Arena::create(sizes),
        }
    }

    fn start(&self, job: &Job, place: &Place<'_>) -> Result<Started, Error> {
        let (domain, runs, files) = {
            let mut runs = runs();
            let run = of(&job.settings.of_virtual_machine(), &mut runs).map_err(Error::os("get memory for the samples"))?;
            let domain = run.domain(self.other, place.scratch, place.interrupt)?;
            let machine = run.machine.as_ref().map(|machine| (machine.runs, machine.files.clone()));
            let (runs, files) = machine.unwrap_or_default();
            (domain, runs, files)
        };
        let size = |part| (place.arena.columns(part), place.arena.capacity(part));
        let sizes: Vec<(usize, u64)> = (0..place.arena.parts()).map(size).collect();
        let parts: Vec<_> = sizes.iter().map(|&(columns, rows)| PartSize { columns, rows }).collect();
        let shared = domain.hello.shared && Arena::bytes(&parts).is_ok_and(fits);
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let asked = ToGuest::Start {
            request: Box::new(Request {
                start: domain.hello.start(place.began, runs),
                ..probe::request(job, place, Path::new(""))
            }),
            address: None,
            unix_nanoseconds: now.as_nanos() as u64,
            parts: (!shared).then_some(sizes),
        };
        let reports = domain.session.lock().unwrap_or_else(PoisonError::into_inner).start(&asked)?;
        let mut started = Started::of(reports, Box::new(InGuest(Arc::clone(&domain.session))));
        started.served_by.files = files;
        started.read_back = Some(Box::new(move |_| domain.observed.clone()));
        Ok(started)
    }

    fn end(&self) {
        runs().clear();
    }
}
