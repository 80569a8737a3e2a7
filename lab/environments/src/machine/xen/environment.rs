//! The two domains of Xen as environments. They share the one machine.

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use kizami_protocol::{Arena, PartSize, Request, ToGuest};
use kizami_settings::{Scope, Setting, Settings};
use kizami_workloads::{Machine as Processors, Params, Workload};

use super::super::board::AMD64;
use super::super::kernels::Flavour;
use super::super::session::InGuest;
use super::boot::{Domain, Machine, PACKAGE, PROGRAM, REGION, region};
use super::image::Packages;
use crate::environment::{Environment, Job, Place};
use crate::error::Error;
use crate::launch::Started;
use crate::locate::{self, LINUX_PROBE};
use crate::probe;

/// The machine of this run.
static RUN: Mutex<Run> = Mutex::new(Run { region: None, machine: None, refused: None });

struct Run {
    region: Option<File>,
    machine: Option<Machine>,
    /// Which domain did not come up, and why: a second try would take as long, and end in the same way.
    refused: Option<(bool, String)>,
}

impl Run {
    fn lock() -> MutexGuard<'static, Self> {
        RUN.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn region(&mut self) -> io::Result<&File> {
        match &mut self.region {
            Some(region) => Ok(region),
            none => Ok(none.insert(region()?)),
        }
    }

    /// Dom0 or domU, up.
    fn domain(&mut self, other: bool, interrupt: &AtomicBool) -> Result<Domain, Error> {
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
            None => {
                let region = self.region().map_err(Error::os("get memory for the samples"))?.try_clone();
                let region = region.map_err(Error::os("get memory for the samples"))?;
                match Machine::boot(&region, interrupt) {
                    Ok(machine) => self.machine.insert(machine),
                    Err(why) => return Err(self.refuse(false, why, interrupt)),
                }
            }
        };
        let domain = if other { booted.domu(interrupt) } else { Ok(booted.dom0.clone()) };
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
        self.title
    }

    fn emulated(&self, _: &Settings) -> bool {
        true
    }

    fn available(&self) -> Result<(), String> {
        locate::program(PROGRAM, PACKAGE)?;
        Packages::find()?;
        Flavour::Cloud.package(&AMD64)?;
        locate::ours(LINUX_PROBE).map(drop)
    }

    fn does(&self, workload: &Workload) -> bool {
        probe::does(workload)
    }

    fn supports(&self, params: &Params) -> Result<(), String> {
        probe::supports(params)
    }

    fn has(&self, setting: &Setting) -> bool {
        matches!(setting.scope, Scope::Process)
    }

    fn machine(&self, _: &Settings, host: &Processors) -> Processors {
        Processors { cpus: (0..host.cpus.len()).collect() }
    }

    fn starting(&self) -> f64 {
        0.5
    }

    fn versions(&self) -> Vec<(String, String)> {
        let program = locate::program(PROGRAM, PACKAGE).ok();
        let monitor = program.and_then(|path| locate::version(&path, &["--version"]));
        let xen = Packages::find().ok().and_then(|packages| packages.version());
        let named = |name: &str, value: Option<String>| value.map(|value| (name.to_owned(), value));
        [named(PROGRAM, monitor), named("xen", xen)].into_iter().flatten().collect()
    }

    fn arena(&self, job: &Job, sizes: &[PartSize]) -> io::Result<Arena> {
        if job.starts_anew() {
            Run::lock().machine = None;
            // It is no part of a start. Why it could not be made is told when it is wanted.
            let _ = Packages::find().map(|packages| packages.image());
        }
        match fits(Arena::bytes(sizes)?) && !self.other {
            true => Arena::create_in(Run::lock().region()?, sizes),
            false => Arena::create(sizes),
        }
    }

    fn start(&self, job: &Job, place: &Place<'_>) -> Result<Started, Error> {
        let (domain, runs, files) = {
            let mut run = Run::lock();
            let domain = run.domain(self.other, place.interrupt)?;
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
        let told = domain.hello.told();
        started.read_back = Some(Box::new(move |_| told.clone()));
        Ok(started)
    }

    fn end(&self) {
        let mut run = Run::lock();
        *run = Run { region: None, machine: None, refused: None };
    }
}
