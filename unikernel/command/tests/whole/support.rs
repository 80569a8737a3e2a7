//! What the tests share: built guests, disks, runs.

use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

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

/// A line for whoever runs the tests, of what was not run.
fn skipped(what: &str) {
    println!("skipped: {what}");
    if let Some(list) = std::env::var_os("KIZAMI_SKIPPED") {
        let file = File::options().append(true).create(true).open(list);
        let _ = file.and_then(|mut file| writeln!(file, "{what}"));
    }
}

/// How guests are run: monitor and interface.
pub fn ways() -> impl Iterator<Item = (&'static str, &'static str)> {
    monitors().iter().flat_map(|monitor| ["blocks", "calls", "rings"].map(|interface| (*monitor, interface)))
}

pub fn unikernel() -> Command {
    Command::new(env!("CARGO_BIN_EXE_unikernel"))
}

/// The file of a guest, built once.
pub fn guest(name: &str) -> PathBuf {
    static BUILT: OnceLock<[PathBuf; 4]> = OnceLock::new();
    let build = |(folder, bin): (&str, &str)| {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
        let output = unikernel().args(["build", "--bin", bin, "--path"]).arg(folder).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        PathBuf::from(String::from_utf8(output.stdout).unwrap().trim())
    };
    let guests = "../guests";
    let all = [
        (guests, "guest-plain"),
        (guests, "guest-disk"),
        (guests, "guest-hostile"),
        ("../../examples/sensor-log", "sensor-log"),
    ];
    let [plain, disk, hostile, log] = BUILT.get_or_init(|| all.map(build));
    match name {
        "plain" => plain.clone(),
        "disk" => disk.clone(),
        "hostile" => hostile.clone(),
        _ => log.clone(),
    }
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

pub fn run_disk(way: (&str, &str), block: &str, arguments: &[&str]) -> Ran {
    run_with("disk", way, block, arguments)
}

/// A guest with the device `data`.
pub fn run_with(name: &str, (monitor, interface): (&str, &str), block: &str, arguments: &[&str]) -> Ran {
    let mut command = unikernel();
    command.arg("run").arg(guest(name)).args([
        "--monitor",
        monitor,
        "--interface",
        interface,
        "--block",
        block,
        "--json",
        "--",
    ]);
    command.args(arguments).output().unwrap().into()
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
