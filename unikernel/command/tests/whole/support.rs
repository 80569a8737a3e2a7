//! What the tests share: built guests, disks, runs.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

/// What runs guests on this machine.
pub fn monitors() -> &'static [&'static str] {
    static FOUND: OnceLock<bool> = OnceLock::new();
    let has_kvm = FOUND.get_or_init(|| {
        let opened = File::options().read(true).write(true).open("/dev/kvm");
        if let Err(why) = &opened {
            skipped(&format!("kizami-unikernel-command: guests under hvt: /dev/kvm cannot be opened ({why})"));
        }
        opened.is_ok()
    });
    if *has_kvm { &["spt", "hvt"] } else { &["spt"] }
}

/// Whether disks can be served by io_uring here, past the page cache.
fn has_uring() -> bool {
    static FOUND: OnceLock<bool> = OnceLock::new();
    *FOUND.get_or_init(|| {
        let disk = Disk::new(4096);
        let (name, path) = ("data".to_owned(), disk.path().to_owned());
        let durability = unikernel_monitor::Durability::Writeback;
        let (read_only, direct, timed) = (false, true, false);
        let options =
            unikernel_monitor::DiskOptions { name, path, read_only, durability, direct, log: None, timed, trace: None };
        let found = unikernel_monitor::io_uring_works() && unikernel_monitor::Disk::open(options).is_ok();
        if !found {
            skipped("kizami-unikernel-command: rings by io_uring: this system has turned it off, or has no file past the page cache");
        }
        found
    })
}

/// A line for whoever runs the tests, of what was not run.
pub fn skipped(what: &str) {
    println!("skipped: {what}");
    if let Some(list) = std::env::var_os("KIZAMI_SKIPPED") {
        let file = File::options().append(true).create(true).open(list);
        let _ = file.and_then(|mut file| writeln!(file, "{what}"));
    }
}

/// How a guest is run: by which monitor, and how it asks its devices.
pub type Way = (&'static str, &'static str);

/// All of them. `uring` is rings that the monitor serves by io_uring, past the page cache.
pub fn ways() -> impl Iterator<Item = Way> {
    let interfaces: &[_] =
        if has_uring() { &["blocks", "calls", "rings", "uring"] } else { &["blocks", "calls", "rings"] };
    monitors().iter().flat_map(move |monitor| interfaces.iter().map(|interface| (*monitor, *interface)))
}

/// Those with rings.
pub fn with_rings() -> impl Iterator<Item = Way> {
    ways().filter(|(_, interface)| ["rings", "uring"].contains(interface))
}

pub fn unikernel() -> Command {
    Command::new(env!("CARGO_BIN_EXE_unikernel"))
}

/// The file of a guest, built once.
pub fn guest(name: &'static str) -> PathBuf {
    static BUILT: Mutex<BTreeMap<&str, PathBuf>> = Mutex::new(BTreeMap::new());
    let mut built = BUILT.lock().unwrap_or_else(PoisonError::into_inner);
    let build = || {
        let (folder, bin) = match name {
            "sensor-log" | "key-value" => (format!("../../examples/{name}"), name.to_owned()),
            _ => ("../guests".to_owned(), format!("guest-{name}")),
        };
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
        let output = unikernel().args(["build", "--bin", &bin, "--path"]).arg(folder).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        PathBuf::from(String::from_utf8(output.stdout).unwrap().trim())
    };
    built.entry(name).or_insert_with(build).clone()
}

/// What a run said and how it ended.
#[derive(Debug)]
pub struct Ran {
    pub code: Option<i32>,
    pub out: String,
    pub error: String,
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Self { code: output.status.code(), out: text(&output.stdout), error: text(&output.stderr) }
    }
}

pub fn run_plain(monitor: &str, arguments: &[&str]) -> Ran {
    let mut command = unikernel();
    command.arg("run").arg(guest("plain")).args(["--monitor", monitor, "--"]).args(arguments);
    command.output().unwrap().into()
}

pub fn run_disk(way: Way, block: &str, arguments: &[&str]) -> Ran {
    run_with("disk", way, block, arguments)
}

/// A guest with the device `data`.
pub fn run_with(name: &'static str, way: Way, block: &str, arguments: &[&str]) -> Ran {
    command(name, way, block).arg("--json").arg("--").args(arguments).output().unwrap().into()
}

/// The same, to be started; its arguments are to follow.
pub fn command(name: &'static str, (monitor, interface): Way, block: &str) -> Command {
    let mut command = unikernel();
    command.arg("run").arg(guest(name)).args(["--monitor", monitor]);
    match interface {
        "uring" => {
            command.args(["--interface", "rings", "--engine", "io_uring", "--block", &format!("{block},direct")])
        }
        _ => command.args(["--interface", interface, "--block", block]),
    };
    command
}

/// A file of its own, which is removed with it.
pub struct Disk(PathBuf);

impl Disk {
    /// Of so many bytes of zeros.
    pub fn new(bytes: u64) -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("disk-{}-{number}.img", std::process::id()));
        let file = File::create(&path).unwrap();
        file.set_len(bytes).unwrap();
        Self(path)
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    /// As `--block` takes it.
    pub fn block(&self, more: &str) -> String {
        format!("data={}{more}", self.0.display())
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}
