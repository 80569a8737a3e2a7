//! Docker, and podman, which has the same commands and no daemon.
//!
//! An image is imported once a run: the probe, the folders that are mounted over, and files of the layer below where a workload wants some. A daemon that answers is used; where
//! none does, one is started with a socket and data of its own, and ended with the run. Containers have no network but the
//! loopback, because a bridge would be a change of this machine.

use std::fs;
use std::io::Write;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use kizami_protocol::Keep;

use super::engine::{Asked, Below, Engine, Files, PROBE, Prepared, SCRATCH, SHARED, real_time};
use crate::error::Error;
use crate::keeper::Keeper;
use crate::locate;

/// See the module.
pub(super) struct Cli {
    name: &'static str,
    title: &'static str,
    package: &'static str,
    daemon: bool,
    session: Mutex<Option<Session>>,
}

pub(super) static DOCKER: Cli = Cli {
    name: "docker",
    title: "a container of Docker",
    package: "docker.io",
    daemon: true,
    session: Mutex::new(None),
};
pub(super) static PODMAN: Cli =
    Cli { name: "podman", title: "a container of Podman", package: "podman", daemon: false, session: Mutex::new(None) };

/// Where a daemon that is not ours has the number of its process.
const DAEMON_NUMBER: &str = "/var/run/docker.pid";
/// The same of ours, in its folder.
const NUMBER: &str = "pid";
const SOCKET: &str = "socket";
/// What a daemon says that ends instead of answering.
const GIVES_UP: &str = "failed to start";
/// How long a daemon may take until it answers.
const PATIENCE: Duration = Duration::from_secs(30);

/// What serves the containers of a run. What is declared first ends first.
struct Session {
    /// Program and first arguments.
    program: Vec<String>,
    images: Vec<Image>,
    versions: Vec<(String, String)>,
    /// The file with the number of the daemon's process.
    daemon_number: Option<PathBuf>,
    /// The socket of the daemon, if that is of this run.
    ours: Option<PathBuf>,
    _daemon: Option<Keeper>,
}

/// An image of a run: the probe, and files of the layer below.
struct Image {
    below: Option<Below>,
    name: String,
    _keeper: Keeper,
}

impl Engine for Cli {
    fn name(&self) -> &'static str {
        self.name
    }

    fn title(&self) -> &'static str {
        self.title
    }

    fn package(&self) -> &'static str {
        self.package
    }

    fn files(&self, _: &Path) -> Files {
        Files::Overlay
    }

    fn has(&self, setting: &str) -> bool {
        ["files_on", "seccomp", "init", "cpu_limit", "cpuset", "memory_limit"].contains(&setting)
    }

    fn starting(&self) -> f64 {
        0.4
    }

    fn versions(&self) -> Vec<(String, String)> {
        let session = self.session.lock().unwrap_or_else(PoisonError::into_inner);
        session.as_ref().map(|session| session.versions.clone()).unwrap_or_default()
    }

    fn prepare(&self, asked: &Asked<'_>) -> Result<Prepared, Error> {
        let mut session = self.session.lock().unwrap_or_else(PoisonError::into_inner);
        // A daemon that died is followed by another.
        session.take_if(|session| !session.is_there());
        let session = match &mut *session {
            Some(session) => session,
            none => none.insert(self.begin()?),
        };
        let image = self.image(session, asked)?;
        let mut command = session.command();
        command.args(["run", "--rm", "--pull", "never", "--log-driver", "none", "--network", "none"]);
        command.args(["--name", asked.name, "--hostname", "kizami"]);
        command.arg("--mount").arg(bind(asked.shared, SHARED)?);
        match asked.files {
            Files::Overlay => {}
            Files::Bind => {
                command.arg("--mount").arg(bind(asked.scratch, SCRATCH)?);
            }
            Files::Tmpfs => {
                command.arg("--mount").arg(format!("type=tmpfs,destination={SCRATCH}"));
            }
        }
        for capability in asked.capabilities {
            command.args(["--cap-add", capability]);
        }
        if asked.seccomp == Some(false) {
            command.args(["--security-opt", "seccomp=unconfined"]);
        }
        if let Some(processors) = asked.cpu_limit {
            command.args(["--cpus", &processors.to_string()]);
        }
        if let Some(cpus) = asked.cpuset {
            command.args(["--cpuset-cpus", cpus]);
        }
        if let Some(bytes) = asked.memory {
            command.args(["--memory", &bytes.to_string(), "--memory-swap", &bytes.to_string()]);
        }
        // A daemon that is not ours may have none to give, and then starts no container that asks.
        if let Some(microseconds) = asked.real_time.filter(|_| session.ours.is_some() || !self.daemon) {
            command.args(["--cpu-rt-runtime", &microseconds.to_string()]);
        }
        command.arg(&image).args(asked.program());
        let remove = session.words(&["rm", "--force", asked.name]);
        Ok(Prepared { command, keep: Some(Keep { run: vec![remove], ..Keep::default() }) })
    }

    fn daemon(&self) -> Option<PathBuf> {
        let session = self.session.lock().unwrap_or_else(PoisonError::into_inner);
        session.as_ref().and_then(|session| session.daemon_number.clone())
    }

    fn end(&self) {
        *self.session.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

impl Cli {
    fn begin(&self) -> Result<Session, Error> {
        let program = locate::program(self.name, self.package).map_err(Error::Unusable)?;
        let program = program.to_string_lossy().into_owned();
        let mut words = vec![program.clone()];
        let (mut daemon, mut ours) = (None, None);
        let mut daemon_number = self.daemon.then(|| PathBuf::from(DAEMON_NUMBER));
        let answers = |words: &[String]| self.ask(words, &["version", "--format", "{{.Server.Version}}"]);
        let mut whose = "one that runs on this machine";
        if self.daemon && answers(&words).is_err() {
            let keeper = start_daemon()?;
            let socket = keeper.1.run.join(SOCKET);
            words = vec![program, "--host".into(), host(&socket)];
            ours = Some(socket);
            whose = "started for this run";
            let begun = Instant::now();
            while let Err(why) = answers(&words) {
                let said = keeper.1.last_words();
                if said.contains(GIVES_UP) || begun.elapsed() > PATIENCE {
                    let after = begun.elapsed().as_secs();
                    let why = format!("dockerd was started and does not answer after {after} s: {why}; {said}");
                    return Err(Error::Unusable(why));
                }
                thread::sleep(Duration::from_millis(20));
            }
            daemon_number = Some(keeper.1.run.join(NUMBER));
            daemon = Some(keeper.0);
        }
        let mut versions = Vec::new();
        let said = self.ask(&words, &["version", "--format", "{{.Client.Version}}"]);
        versions.extend(said.ok().map(|version| (self.name.to_owned(), version)));
        if self.daemon {
            let about = "{{.ServerVersion}}, storage {{.Driver}}, control groups of version {{.CgroupVersion}}";
            let said = self.ask(&words, &["info", "--format", about]);
            versions.extend(said.ok().map(|said| ("dockerd".to_owned(), format!("{said}, {whose}"))));
        }
        Ok(Session { program: words, images: Vec::new(), versions, daemon_number, ours, _daemon: daemon })
    }

    /// The name of the image for a container. It is made when it is not there.
    fn image(&self, session: &mut Session, asked: &Asked<'_>) -> Result<String, Error> {
        if let Some(image) = session.images.iter().find(|image| image.below == asked.below) {
            return Ok(image.name.clone());
        }
        let name = format!("kizami-probe:{}-{}", std::process::id(), session.images.len());
        let remove = session.words(&["image", "rm", "--force", &name]);
        let keeper = Keeper::start(&Keep { run: vec![remove], ..Keep::default() })?;
        self.import(session, asked, &name)?;
        session.images.push(Image { below: asked.below, name: name.clone(), _keeper: keeper });
        Ok(name)
    }

    /// What a command says, or why it failed.
    fn ask(&self, words: &[String], arguments: &[&str]) -> Result<String, String> {
        let output = command(words).args(arguments).stdin(Stdio::null()).output();
        said(self.name, output.map_err(|e| format!("{} cannot be started: {e}", self.name))?)
    }

    /// Makes an image: the probe, folders to mount over, and files of the layer below.
    fn import(&self, session: &Session, asked: &Asked<'_>, image: &str) -> Result<(), Error> {
        let failed = |why: String| Error::Unusable(format!("the image could not be made: {why}"));
        let probe = fs::read(asked.probe).map_err(Error::os(format!("read {}", asked.probe.display())))?;
        let mut command = session.command();
        command.args(["import", "-", image]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(Error::os(format!("start {}", self.name)))?;
        // One that does not take it says why.
        let _ = child.stdin.take().map(|stdin| archive(&probe, asked.below, stdin));
        let output = child.wait_with_output().map_err(Error::os(format!("wait for {}", self.name)))?;
        said(self.name, output).map(drop).map_err(failed)
    }
}

fn said(name: &str, output: Output) -> Result<String, String> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    let said = text(&output.stdout);
    if output.status.success() && !said.is_empty() {
        Ok(said)
    } else {
        Err(format!("{name} says: {}", text(&output.stderr)))
    }
}

impl Session {
    /// Whether a daemon of ours still listens; another is not for us to look after.
    fn is_there(&self) -> bool {
        self.ours.as_ref().is_none_or(|socket| UnixStream::connect(socket).is_ok())
    }

    fn command(&self) -> Command {
        command(&self.program)
    }

    fn words(&self, arguments: &[&str]) -> Vec<String> {
        self.program.iter().cloned().chain(arguments.iter().map(|&word| word.to_owned())).collect()
    }
}

fn command(words: &[String]) -> Command {
    let mut command = Command::new(words.first().map_or("", String::as_str));
    command.args(&words[1.min(words.len())..]);
    command
}

/// A mount as --mount takes it: one line of comma-separated values.
fn bind(source: &Path, destination: &str) -> Result<String, Error> {
    let unusable = || Error::Unusable(format!("the folder {} is no text: choose another with --out", source.display()));
    let source = source.to_str().ok_or_else(unusable)?;
    Ok(format!("type=bind,\"source={}\",destination={destination}", source.replace('"', "\"\"")))
}

fn archive(probe: &[u8], below: Option<Below>, to: impl Write) -> std::io::Result<()> {
    let mut builder = tar::Builder::new(to);
    let header = |kind, mode, size| {
        let mut header = tar::Header::new_ustar();
        header.set_entry_type(kind);
        header.set_mode(mode);
        header.set_size(size);
        header
    };
    for folder in [SHARED, SCRATCH] {
        let path = format!("{}/", folder.trim_start_matches('/'));
        builder.append_data(&mut header(tar::EntryType::Directory, 0o755, 0), path, std::io::empty())?;
    }
    let mut file = header(tar::EntryType::Regular, 0o755, probe.len() as u64);
    builder.append_data(&mut file, PROBE.trim_start_matches('/'), probe)?;
    if let Some(below) = below {
        for path in below.paths() {
            let path = format!("{}/{path}", SCRATCH.trim_start_matches('/'));
            builder.append_data(&mut header(tar::EntryType::Regular, 0o644, below.bytes), path, below.content())?;
        }
    }
    builder.finish()
}

/// The folders of a daemon of ours.
struct Places {
    data: PathBuf,
    run: PathBuf,
}

impl Places {
    /// The last lines of what it wrote, for messages.
    fn last_words(&self) -> String {
        let log = fs::read_to_string(self.data.join("log")).unwrap_or_default();
        let lines: Vec<_> = log.lines().rev().take(3).collect();
        lines.into_iter().rev().collect::<Vec<_>>().join("; ")
    }
}

/// Starts a daemon that changes nothing of this machine's network. Its data are on a disk, as those of any daemon are.
fn start_daemon() -> Result<(Keeper, Places), Error> {
    // SAFETY: the call takes nothing and cannot fail.
    if unsafe { libc::geteuid() } != 0 {
        let why = "no daemon of Docker answers, and only root can start one: start it (sudo systemctl start docker), and be \
                   in the group docker";
        return Err(Error::Unusable(why.into()));
    }
    let daemon = locate::program("dockerd", "docker.io").map_err(Error::Unusable)?;
    let name = format!("docker-{}", std::process::id());
    let places = Places { data: Path::new("/var/lib/kizami").join(&name), run: Path::new("/run/kizami").join(&name) };
    for folder in [&places.data, &places.run] {
        fs::create_dir_all(folder).map_err(Error::os(format!("make the folder {}", folder.display())))?;
    }
    let path = |folder: &Path, name: &str| folder.join(name).to_string_lossy().into_owned();
    let cgroup = format!("kizami-{name}");
    let mut words = vec![
        daemon.to_string_lossy().into_owned(),
        format!("--data-root={}", path(&places.data, "data")),
        format!("--exec-root={}", path(&places.run, "exec")),
        format!("--pidfile={}", path(&places.run, NUMBER)),
        format!("--host={}", host(&places.run.join(SOCKET))),
        "--iptables=false".into(),
        "--bridge=none".into(),
        "--log-level=warn".into(),
        // Groups of its own can be removed with it; those of systemd have other names.
        "--exec-opt=native.cgroupdriver=cgroupfs".into(),
        format!("--cgroup-parent=/{cgroup}"),
    ];
    words.extend(real_time().map(|microseconds| format!("--cpu-rt-runtime={microseconds}")));
    let folders = vec![places.data.clone(), places.run.clone()];
    let keep = Keep { daemon: words, folders, cgroup: Some(cgroup), ..Keep::default() };
    Ok((Keeper::start(&keep)?, places))
}

/// How Docker names a socket.
fn host(socket: &Path) -> String {
    format!("unix://{}", socket.display())
}
