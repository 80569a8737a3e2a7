//! The environment that an engine makes.

use std::fs;
use std::io::Read;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use kizami_protocol::Request;
use kizami_recording::quantity::Quantity;
use kizami_settings::{Scope, Setting, Settings, process};
use kizami_workloads::{Params, Workload};

use super::engine::{Asked, Below, Engine, Files, SCRATCH, SHARED, real_time_for};
use super::observed::observed;
use super::socket::{self, Served};
use super::veth;
use crate::environment::{CGROUP_DEPTH, Environment, FILES_ON, Job, MEMORY_LIMIT, Place};
use crate::error::Error;
use crate::keeper::Keeper;
use crate::launch::{self, Listener, ServedBy, Started};
use crate::link::{LINK, LOOPBACK, NETWORK};
use crate::locate::{self, LINUX_PROBE};
use crate::partner;
use crate::probe;

/// How long the first container may take, with a daemon that has to be started.
const PATIENCE: Duration = Duration::from_secs(60);
const GRACE: Duration = Duration::from_secs(5);

/// See the module.
pub struct Container {
    engine: &'static dyn Engine,
    tried: OnceLock<Result<(), String>>,
}

impl Container {
    pub(super) const fn of(engine: &'static dyn Engine) -> Self {
        Self { engine, tried: OnceLock::new() }
    }

    /// Starts one that says its version, and compares that with what the same file says here.
    fn start_once(&self) -> Result<(), Error> {
        let folder = Folder::in_temporary(self.engine.name())?;
        let [own, shared] = [folder.make("container")?, folder.make("lab")?];
        let probe = locate::ours(LINUX_PROBE).map_err(Error::Unusable)?;
        let name = unique_name();
        let asked = Asked {
            name: &name,
            probe: &probe,
            arguments: &["--version"],
            folder: &own,
            shared: &shared,
            files: Files::Tmpfs,
            below: None,
            scratch: &folder.0,
            capabilities: &[],
            seccomp: None,
            init: None,
            cpu_limit: None,
            cpuset: None,
            depth: None,
            memory: None,
            real_time: None,
        };
        let (sender, said) = channel();
        let listener: Listener = Box::new(move |mut stdout, _| {
            let mut text = String::new();
            let _ = stdout.read_to_string(&mut text);
            let _ = sender.send(text);
        });
        let mut started = self.begin(&asked, listener, &[])?;
        let said = said.recv_timeout(PATIENCE).unwrap_or_default();
        let expected = locate::version(&probe, &["--version"]);
        if expected.is_some_and(|expected| said.trim() == expected) {
            return Ok(());
        }
        let ending = started.end(GRACE);
        let errors = started.error_output();
        let errors = if errors.is_empty() { String::new() } else { format!("; it said: {errors}") };
        Err(Error::Unusable(format!("a container did not start here ({} {ending}{errors})", self.engine.name())))
    }

    fn begin(&self, asked: &Asked<'_>, listener: Listener, cgroups: &[PathBuf]) -> Result<Started, Error> {
        let prepared = self.engine.prepare(asked)?;
        let keeper = prepared.keep.as_ref().map(Keeper::start).transpose()?;
        let joining = process::InChild::new(&Settings::default()).joining(cgroups);
        let mut started = launch::start_engine(prepared.command, listener, move || joining.apply())?;
        started.keeper = keeper;
        Ok(started)
    }
}

impl Environment for Container {
    fn name(&self) -> &'static str {
        self.engine.name()
    }

    fn title(&self) -> &'static str {
        self.engine.title()
    }

    fn available(&self) -> Result<(), String> {
        locate::program(self.engine.name(), self.engine.package())?;
        locate::ours(LINUX_PROBE).map(drop)
    }

    fn starts_first(&self) -> bool {
        true
    }

    fn tried(&self, _: &Settings, _: &AtomicBool) -> Result<(), String> {
        self.tried.get_or_init(|| self.start_once().map_err(|e| e.to_string())).clone()
    }

    fn does(&self, workload: &Workload) -> bool {
        probe::does(workload)
    }

    fn supports(&self, params: &Params) -> Result<(), String> {
        probe::supports(params)
    }

    fn has(&self, setting: &Setting) -> bool {
        match setting.scope {
            Scope::Process | Scope::System => true,
            Scope::Container => self.engine.has(setting.name),
            Scope::Layer => setting.name == NETWORK || self.engine.has(setting.name),
            Scope::Beam | Scope::Machine | Scope::Unikernel | Scope::Board => false,
        }
    }

    fn takes(&self, settings: &Settings) -> Result<(), (String, String)> {
        match (settings.get(FILES_ON), settings.get(NETWORK)) {
            (Some(place), _) if Files::parse(place).is_none() => {
                let why = format!("{} has no files on {place:?}: a container has them on overlay, bind or tmpfs", self.name());
                Err((FILES_ON.to_owned(), why))
            }
            (_, Some(network)) if ![LOOPBACK, LINK].contains(&network) => {
                let why = format!("{} has no network {network:?}: a container has loopback or link", self.name());
                Err((NETWORK.to_owned(), why))
            }
            _ => Ok(()),
        }
    }

    fn joins_groups_for(&self) -> &'static [&'static str] {
        if self.engine.has(MEMORY_LIMIT) { &[] } else { &[MEMORY_LIMIT] }
    }

    fn starting(&self) -> f64 {
        self.engine.starting()
    }

    fn versions(&self) -> Vec<(String, String)> {
        self.engine.versions()
    }

    fn start(&self, job: &Job, place: &Place<'_>) -> Result<Started, Error> {
        let folder = Folder::at(place.scratch);
        let [own, shared, scratch] = [folder.make("container")?, folder.make("lab")?, folder.make("files")?];
        let settings = &job.settings;
        let mut capabilities = Vec::new();
        if settings.get("policy").is_some() || settings.get("nice").is_some() {
            capabilities.push("SYS_NICE");
        }
        if settings.get("lock_memory") == Some("true") {
            capabilities.push("IPC_LOCK");
        }
        let name = unique_name();
        let files = settings.get(FILES_ON).and_then(Files::parse).unwrap_or_else(|| self.engine.files(&scratch));
        let asked = Asked {
            name: &name,
            probe: &locate::ours(LINUX_PROBE).map_err(Error::Unusable)?,
            arguments: &["connect", &format!("{SHARED}/{}", socket::NAME)],
            folder: &own,
            shared: &shared,
            files,
            below: if files == Files::Overlay { Below::of(job)? } else { None },
            scratch: &scratch,
            capabilities: &capabilities,
            seccomp: settings.get("seccomp").map(|value| value == "on"),
            init: settings.get("init").map(|value| value == "on"),
            cpu_limit: settings.get("cpu_limit").and_then(|value| value.parse().ok()),
            cpuset: settings.get("cpuset"),
            depth: settings.get(CGROUP_DEPTH).and_then(|value| value.parse().ok()),
            memory: settings.number(MEMORY_LIMIT, Quantity::Size).filter(|_| self.engine.has(MEMORY_LIMIT)),
            real_time: settings.get("policy").and_then(real_time_for),
        };
        let (process, seen) = (Arc::new(OnceLock::new()), Arc::new(OnceLock::new()));
        let (for_look, job) = (Arc::clone(&seen), job.clone());
        let request = probe::request(&job, place, Path::new(SCRATCH));
        let arena = place.arena.descriptor().try_clone_to_owned();
        let served = Served {
            listener: socket::listen(&shared).map_err(Error::os(format!("make a socket in {}", shared.display())))?,
            arena: arena.map_err(Error::os("copy the descriptor of the arena"))?,
            process: Arc::clone(&process),
            give: Box::new(move |process| {
                let partner = partner(&job, process)?;
                let at = partner.as_ref().map(|(_, at)| *at);
                let _ = for_look.set(observed(process, &job.settings));
                let request = probe::written(&Request { partner: at, ..request })?;
                Ok((request, partner.map(|(partner, _)| partner)))
            }),
        };
        let listener: Listener = Box::new(move |engine, sender| served.serve(engine, sender));
        let mut started = self.begin(&asked, listener, place.cgroups)?;
        started.served_by = ServedBy { probe: process, daemon: self.engine.daemon(), files: Vec::new() };
        started.read_back = Some(Box::new(move |_| seen.get().cloned().unwrap_or_default()));
        Ok(started)
    }

    fn end(&self) {
        self.engine.end();
    }
}

impl std::fmt::Debug for Container {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Container").field(&self.engine.name()).finish()
    }
}

/// Makes the network that `job` asks for, to the container in which `process` is, and starts the other half of its workload at the
/// end of that here.
fn partner(job: &Job, process: u32) -> Result<Option<(Started, SocketAddr)>, Error> {
    if job.settings.get(NETWORK) != Some(LINK) {
        return Ok(None);
    }
    let ends = veth::make(process)?;
    let never = AtomicBool::new(false);
    partner::has(job).then(|| partner::start(job, ends.here.into(), &never)).transpose()
}

fn unique_name() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    format!("kizami-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}

/// A folder in which others are made. One of ours goes when it is dropped.
struct Folder(std::path::PathBuf, bool);

impl Folder {
    fn at(path: &Path) -> Self {
        Self(path.to_owned(), false)
    }

    fn in_temporary(name: &str) -> Result<Self, Error> {
        let path = std::env::temp_dir().join(format!("kizami-try-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).map_err(Error::os(format!("make the folder {}", path.display())))?;
        Ok(Self(path, true))
    }

    fn make(&self, name: &str) -> Result<std::path::PathBuf, Error> {
        let path = self.0.join(name);
        fs::create_dir_all(&path).map_err(Error::os(format!("make the folder {}", path.display())))?;
        // An engine may be started elsewhere, or a daemon.
        fs::canonicalize(&path).map_err(Error::os(format!("find the folder {}", path.display())))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if self.1 {
            let _ = fs::remove_dir_all(&self.0);
        }
    }
}
