//! The harness of these tests: runs the program, and reads its output, its files and its processes.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::Write;
use std::os::fd::IntoRawFd;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use kizami_protocol::Arena;
use kizami_settings::Settings;
use serde_json::Value;
use tempfile::TempDir;

/// After this the program hangs. Everything in these tests takes seconds, but somebody else may be measuring on this
/// machine, and then they wait for their turn.
pub const HANGS: Duration = Duration::from_secs(900);

/// A file of the machine that runs change and have to restore.
pub const RT_RUNTIME: &str = "/proc/sys/kernel/sched_rt_runtime_us";

/// The user and group without any rights.
const NOBODY: u32 = 65534;

/// One test's turn on the machine, with an empty folder to work in.
pub struct Lab {
    folder: TempDir,
    program: PathBuf,
    /// It is started by a user without rights,
    no_rights: bool,
    /// who is not the one that these tests have.
    nobody: bool,
    _turn: MutexGuard<'static, ()>,
}

/// The folder with the programs of this build, and the probe in it.
pub fn programs() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_kizami")).parent().expect("the target folder")
}

pub const PROBE: &str = "static/kizami-probe";

/// A program that has ended.
#[derive(Debug)]
pub struct Ended {
    pub status: ExitStatus,
    pub out: String,
    pub err: String,
}

impl Lab {
    pub fn new() -> Self {
        static TURN: Mutex<()> = Mutex::new(());
        let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        // A shell that starts the tests in the background has them, and all that they start, pass over Ctrl-C.
        // SAFETY: sets what the kernel does by itself, and no function of ours is called.
        unsafe { libc::signal(libc::SIGINT, libc::SIG_DFL) };
        let folder = tempfile::tempdir().expect("a folder");
        Self { folder, program: env!("CARGO_BIN_EXE_kizami").into(), no_rights: false, nobody: false, _turn: turn }
    }

    /// The same for a user without rights. The programs are copied to where that user can start them.
    pub fn without_rights() -> Self {
        let mut lab = Self::with_probe(&programs().join(PROBE));
        (lab.no_rights, lab.nobody) = (true, is_root());
        if lab.nobody {
            fs::set_permissions(lab.path(), fs::Permissions::from_mode(0o755)).expect("our folder");
            std::os::unix::fs::chown(lab.path(), Some(NOBODY), Some(NOBODY)).expect("root may");
        }
        lab
    }

    /// The same with copies of the programs, and `probe` in the place of the probe. One that is missing is the program's own to
    /// complain about.
    pub fn with_probe(probe: &Path) -> Self {
        let mut lab = Self::new();
        let copies = lab.path().join("programs");
        fs::create_dir_all(copies.join("static")).expect("a folder");
        for name in ["kizami", "static/kizami-init"] {
            let _ = fs::copy(programs().join(name), copies.join(name));
        }
        let _ = fs::copy(probe, copies.join(PROBE));
        let _ = std::os::unix::fs::symlink(programs().join("kernels"), copies.join("kernels"));
        lab.program = copies.join("kizami");
        lab
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// The program, to be started in the test's folder, in a process group of its own as a shell does it.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command.args(args).current_dir(self.path()).stdin(Stdio::null()).process_group(0);
        command.env_remove("KIZAMI_ROOT").env("COLUMNS", "100");
        // What is compiled for the Erlang VM is kept between tests, but not in the user's own cache.
        command.env("XDG_CACHE_HOME", env!("CARGO_TARGET_TMPDIR"));
        if self.nobody {
            command.uid(NOBODY).gid(NOBODY);
        }
        if self.no_rights {
            command.env("HOME", self.path()).env_remove("XDG_RUNTIME_DIR").env("XDG_CACHE_HOME", self.path());
            let limits = || {
                for resource in [libc::RLIMIT_RTPRIO, libc::RLIMIT_NICE, libc::RLIMIT_MEMLOCK] {
                    let none = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
                    // SAFETY: a system call that reads a value of ours. Everybody may lower limits.
                    unsafe { libc::setrlimit(resource, &raw const none) };
                }
                Ok(())
            };
            // SAFETY: only system calls between fork and exec.
            unsafe { command.pre_exec(limits) };
        }
        command
    }

    /// Runs the program to its end.
    pub fn kizami(&self, args: &[&str]) -> Ended {
        self.start(args).end()
    }

    pub fn start(&self, args: &[&str]) -> Running {
        self.start_command(self.command(args))
    }

    pub fn start_command(&self, mut command: Command) -> Running {
        // Files, so that a full pipe holds up nobody and a child that keeps one open does neither.
        let output = tempfile::tempdir_in(self.path()).expect("a folder");
        let file = |name| File::create(output.path().join(name)).expect("a file");
        let child = command.stdout(file("out")).stderr(file("err")).spawn().expect("the program starts");
        Running { child, output, ended: false }
    }

    /// The one recording that the test's runs have made.
    pub fn recording(&self) -> PathBuf {
        let all = self.recordings();
        assert_eq!(all.len(), 1, "{all:?}");
        all.into_iter().next().expect("there is one")
    }

    pub fn recordings(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.path().join("recordings")).into_iter().flatten().flatten();
        entries.map(|entry| entry.path()).collect()
    }

    /// A copy of a recording, beside it as another run's.
    pub fn copy_of(&self, recording: &Path) -> PathBuf {
        let copy = self.path().join("copy");
        fs::create_dir(&copy).expect("a folder");
        for file in fs::read_dir(recording).expect("a recording").flatten() {
            fs::copy(file.path(), copy.join(file.file_name())).expect("a copy");
        }
        copy
    }

    /// What `show --json` says of `recording`, which is whole.
    pub fn show(&self, recording: &Path) -> Value {
        self.kizami(&["show", "--json", text(recording)]).succeeded().json()
    }

    /// Those of `environments` that really start here; the others are named as skipped, with the reason. A start takes the test's
    /// turn: another test could take what is started for its own.
    pub fn working(&self, test: &str, environments: &[&'static str]) -> Vec<&'static str> {
        let works = |name: &&str| {
            let environment = kizami_environments::find(name).expect("it is in the list");
            let tried = |()| environment.tried(&Settings::default(), &AtomicBool::new(false));
            let tried = environment.available().and_then(|()| environment.prepared()).and_then(tried);
            environment.end();
            if let Err(why) = &tried {
                skipped(&format!("kizami: {test} in {name}: {why}"));
            }
            tried.is_ok()
        };
        environments.iter().copied().filter(works).collect()
    }
}

impl Ended {
    /// Fails unless the status is 0.
    pub fn succeeded(self) -> Self {
        self.ended_with(0)
    }

    pub fn ended_with(self, status: i32) -> Self {
        assert_eq!(self.status.code(), Some(status), "{self}");
        self
    }

    /// The messages, which are wrapped for a terminal, on one line.
    pub fn said(&self) -> String {
        self.err.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// Fails unless the messages hold every one of `words`.
    pub fn says(self, words: &[&str]) -> Self {
        let said = self.said();
        let missing: Vec<_> = words.iter().filter(|word| !said.contains(**word)).collect();
        assert!(missing.is_empty(), "it does not say {missing:?}\n{self}");
        assert!(!said.contains("panicked"), "{self}");
        self
    }

    pub fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|e| panic!("{e}\n{self}"))
    }
}

impl std::fmt::Display for Ended {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "status: {}\nmessages:\n{}\noutput:\n{}", self.status, self.err, self.out)
    }
}

/// The program while it runs; killed when the test gives up.
pub struct Running {
    child: Child,
    output: TempDir,
    ended: bool,
}

impl Running {
    pub fn pid(&self) -> i32 {
        self.child.id() as i32
    }

    pub fn is_running(&mut self) -> bool {
        self.child.try_wait().expect("our child").is_none()
    }

    /// Waits for the end.
    pub fn end(mut self) -> Ended {
        let begun = Instant::now();
        let status = loop {
            match self.child.try_wait().expect("our child") {
                Some(status) => break status,
                None => assert!(begun.elapsed() < HANGS, "it does not end\n{}", self.messages()),
            }
            thread::sleep(Duration::from_millis(5));
        };
        self.ended = true;
        let read =
            |name| String::from_utf8_lossy(&fs::read(self.output.path().join(name)).expect("a file")).into_owned();
        Ended { status, out: read("out"), err: read("err") }
    }

    /// The file of its messages.
    pub fn output(&self) -> PathBuf {
        self.output.path().join("err")
    }

    /// What it said so far.
    pub fn messages(&self) -> String {
        fs::read_to_string(self.output()).unwrap_or_default()
    }

    pub fn signal(&self, signal: i32) {
        // SAFETY: the call takes numbers; the child is ours and not yet reaped.
        unsafe { libc::kill(self.pid(), signal) };
    }

    /// To everything in its process group, as a terminal does it with Ctrl-C.
    pub fn signal_group(&self, signal: i32) {
        // SAFETY: as above; the child leads its group.
        unsafe { libc::kill(-self.pid(), signal) };
    }

    /// Ends it: Ctrl-C reaches the group, and any other signal the program alone. Gives its end, which is as it should be.
    pub fn stopped_by(self, signal: i32) -> Ended {
        if signal == libc::SIGINT {
            self.signal_group(signal)
        } else {
            self.signal(signal)
        }
        let ended = self.end();
        assert!(signal != libc::SIGINT || ended.status.code() == Some(130), "{ended}");
        ended
    }

    /// The child process of the program that is called `name`, once there is one.
    pub fn child_named(&mut self, name: &str) -> i32 {
        let parent = self.pid();
        self.wait_for(&format!("a process {name}"), || {
            processes().into_iter().find(|p| p.parent == parent && p.name == name).map(|p| p.pid)
        })
    }

    /// Waits until the trial that runs has more than `rows` rows in its first part; gives how many.
    pub fn wait_for_rows(&mut self, rows: u64) -> u64 {
        let pid = self.pid();
        self.wait_for("rows", || rows_so_far(pid).filter(|so_far| *so_far > rows))
    }

    /// Waits until `find` gives something, which must be before the program ends.
    pub fn wait_for<T>(&mut self, what: &str, mut find: impl FnMut() -> Option<T>) -> T {
        let begun = Instant::now();
        loop {
            if let Some(found) = find() {
                return found;
            }
            assert!(self.is_running(), "it ended before there was {what}\n{}", self.messages());
            assert!(begun.elapsed() < HANGS, "there is never {what}\n{}", self.messages());
            thread::sleep(Duration::from_millis(2));
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if !self.ended {
            self.signal(libc::SIGKILL);
            let _ = self.child.wait();
        }
    }
}

/// How many rows there are in the first part of the trial that `pid` follows: looked up in the memory of the trial.
pub fn rows_so_far(pid: i32) -> Option<u64> {
    let descriptors = fs::read_dir(format!("/proc/{pid}/fd")).ok()?.flatten();
    let arena = descriptors
        .map(|d| d.path())
        .find(|path| fs::read_link(path).is_ok_and(|to| to.to_string_lossy().contains("memfd:kizami-arena")))?;
    let file = File::options().read(true).write(true).open(arena).ok()?;
    // The description is written before anything that this test could see as an arena with rows.
    Arena::attach(file.into_raw_fd()).ok().filter(|arena| arena.parts() > 0).map(|arena| arena.progress(0).rows())
}

/// A process of this machine.
#[derive(Debug)]
pub struct Process {
    pub pid: i32,
    pub parent: i32,
    pub name: String,
}

/// Every process that is there, without those that only wait to be reaped.
pub fn processes() -> Vec<Process> {
    let pids = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = pids.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    let process = |pid: i32| {
        // pid (name) state parent …
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        let (before, after) = stat.rsplit_once(") ")?;
        let name = before.split_once('(')?.1.to_owned();
        let mut words = after.split(' ');
        let (state, parent) = (words.next()?, words.next()?.parse().ok()?);
        (state != "Z").then_some(Process { pid, parent, name })
    };
    pids.filter_map(process).collect()
}

/// The processes that a run leaves behind: those of the lab in whose environment the test's folder stands.
pub fn left_behind(lab: &Lab) -> Vec<Process> {
    let mark = lab.path().to_string_lossy().into_owned();
    let is_ours = |p: &Process| {
        let own = p.pid == std::process::id() as i32;
        let cwd = fs::read_link(format!("/proc/{}/cwd", p.pid)).unwrap_or_default();
        !own && cwd.to_string_lossy().starts_with(&mark)
    };
    processes().into_iter().filter(is_ours).collect()
}

/// Waits until no process of the test's runs is left; `limit` is generous.
pub fn assert_nothing_left_behind(lab: &Lab, limit: Duration) {
    let begun = Instant::now();
    loop {
        let left = left_behind(lab);
        if left.is_empty() {
            return;
        }
        assert!(begun.elapsed() < limit, "still there: {left:?}");
        thread::sleep(Duration::from_millis(10));
    }
}

/// Control groups of ours, anywhere in the hierarchies.
pub fn cgroups() -> Vec<PathBuf> {
    fn look(folder: &Path, depth: usize, found: &mut Vec<PathBuf>) {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        for entry in entries.filter(|e| e.file_type().is_ok_and(|t| t.is_dir())) {
            if entry.file_name().to_string_lossy().starts_with("kizami-") {
                found.push(entry.path());
            } else if depth > 0 {
                look(&entry.path(), depth - 1, found);
            }
        }
    }
    let mut found = Vec::new();
    look(Path::new("/sys/fs/cgroup"), 5, &mut found);
    found
}

/// Everything that a run in a container or a guest could leave on the machine: processes, mounts, network interfaces, control groups
/// and folders.
#[derive(Debug)]
pub struct Left(BTreeSet<String>);

impl Left {
    pub fn now() -> Self {
        let ours =
            ["kizami-probe", "bwrap", "runc", "dockerd", "containerd", "conmon", "qemu-system-x86", "qemu-system-aar"];
        let is_ours = |name: &String| ours.iter().any(|ours| name.starts_with(ours));
        let processes = processes().into_iter().filter(|p| is_ours(&p.name)).map(|p| format!("{} {}", p.name, p.pid));
        let mounts = fs::read_to_string("/proc/self/mountinfo").expect("the mounts");
        let points = mounts.lines().filter_map(|line| Some(format!("mount {}", line.split(' ').nth(4)?)));
        let names = |folder: &str| {
            let entries = fs::read_dir(folder).into_iter().flatten().flatten();
            entries.map(|entry| entry.path()).collect::<Vec<_>>()
        };
        let ours = |path: &PathBuf| !path.ends_with("changes.journal");
        let temporary = names(&std::env::temp_dir().to_string_lossy());
        let tries = temporary.into_iter().filter(|path| path.to_string_lossy().contains("kizami-try-"));
        let folders = names("/run/kizami").into_iter().chain(names("/var/lib/kizami")).filter(ours).chain(tries);
        let paths = names("/sys/class/net").into_iter().chain(cgroups()).chain(folders);
        Self(processes.chain(points).chain(paths.map(|path| path.display().to_string())).collect())
    }

    /// Waits until there is nothing that was not there then.
    pub fn again(&self) {
        let begun = Instant::now();
        loop {
            let left: Vec<_> = Self::now().0.difference(&self.0).cloned().collect();
            if left.is_empty() {
                return;
            }
            assert!(begun.elapsed() < Duration::from_secs(40), "left behind: {left:?}");
            thread::sleep(Duration::from_millis(50));
        }
    }
}

/// The series in `environment`, as a recording has them.
pub fn series_in<'r>(recording: &'r Value, environment: &str) -> Vec<&'r Value> {
    let series = recording["series"].as_array().expect("series");
    series.iter().filter(|s| s["environment"] == environment).collect()
}

/// The text of a recording, as JSON.
pub fn recorded(folder: &Path) -> Value {
    let text = fs::read_to_string(folder.join("recording.json")).expect("a recording");
    serde_json::from_str(&text).expect("JSON")
}

/// A path of ours as text.
pub fn text(path: &Path) -> &str {
    path.to_str().expect("a path of ours is text")
}

pub fn is_root() -> bool {
    // SAFETY: asks for a number.
    unsafe { libc::geteuid() == 0 }
}

/// Whether this test can only name itself as skipped, because the user is not root.
pub fn lacks_root(test: &str) -> bool {
    if !is_root() {
        skipped(&format!("kizami: {test}: it takes root"));
    }
    !is_root()
}

/// Names what could not be tested, for whoever runs the tests.
pub fn skipped(what: &str) {
    eprintln!("skipped: {what}");
    if let Some(list) = std::env::var_os("KIZAMI_SKIPPED") {
        let list = File::options().append(true).create(true).open(list);
        list.and_then(|mut f| writeln!(f, "{what}")).expect("the list of what was skipped");
    }
}

/// Every trial of what `show --json` told: series, rows and outcome.
pub fn trials(shown: &Value) -> Vec<(String, u64, Value)> {
    let series = shown["series"].as_array().expect("series");
    let of_series = |s: &Value| {
        let name = s["series"]["name"].as_str().expect("a name").to_owned();
        let trials = s["series"]["trials"].as_array().expect("trials").clone();
        trials.into_iter().map(move |t| (name.clone(), t["rows"].as_u64().expect("rows"), t["outcome"].clone()))
    };
    series.iter().flat_map(of_series).collect()
}

/// How a signal that ended the program would be told.
pub fn ended_by(ended: &Ended) -> Option<i32> {
    ended.status.signal()
}
