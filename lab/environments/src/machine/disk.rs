//! The disk of a virtual machine: a file of this machine, with a file system (ext4) that this machine makes on it.
//!
//! The file is made where the files of a trial lie, so that a workload on the host writes to the same file system. It loses its
//! name at once, and QEMU is given its descriptor: when the last process that has it is gone, however that ended, the file is.
//! It takes as much room as was written to it, so that the file system of this machine may fill while a guest runs. QEMU
//! tells the guest of that as an error of its disk, and the lab why it was.

use std::fs::{self, File};
use std::os::fd::{AsFd, BorrowedFd};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use kizami_recording::quantity::Quantity;
use kizami_settings::Settings;
use serde_json::Value;

use super::board::Board;
use super::monitor::Monitor;
use crate::environment::FILES_ON;
use crate::error::Error;
use crate::locate;

/// What QEMU calls the disk of a machine that has one.
pub(super) const NAME: &str = "files";
const CACHE: &str = "disk_cache";
const ENGINE: &str = "disk_engine";
const SIZE: &str = "disk_size";
/// The settings of a disk.
pub(super) const SETTINGS: [&str; 3] = [CACHE, ENGINE, SIZE];
const BYTES: u64 = 1 << 30;

/// Modes of QEMU's cache, with the flags that they are: whether the guest sees a cache that it has to flush, whether the page cache
/// of this machine is passed by, and whether flushes do nothing. See `-drive` in qemu(1).
const MODES: [(&str, [bool; 3]); 5] = [
    ("writeback", [true, false, false]),
    ("none", [true, true, false]),
    ("writethrough", [false, false, false]),
    ("directsync", [false, true, false]),
    ("unsafe", [true, false, true]),
];

/// See the module.
#[derive(Debug)]
pub(super) struct Disk {
    file: File,
    folder: PathBuf,
}

/// How a guest comes by its disk: the module for it, and the device.
#[derive(Debug, Clone, Copy)]
pub(super) struct Seen {
    pub module: &'static str,
    pub device: &'static str,
}

/// As a device of the machine.
pub(super) const VIRTIO: Seen = Seen { module: "virtio_blk", device: "/dev/vda" };
/// As one that the first domain of Xen hands on.
pub(super) const HANDED_ON: Seen = Seen { module: "xen-blkfront", device: "/dev/xvda" };

/// Whether a machine with these settings has one.
pub(super) fn wanted(asked: &Settings) -> bool {
    asked.get(FILES_ON) == Some("disk")
}

/// Whether the settings of where files lie are possible in a machine, and together.
pub(super) fn check(asked: &Settings) -> Result<(), (String, String)> {
    if let Some(place @ ("overlay" | "bind")) = asked.get(FILES_ON) {
        let why = format!("a virtual machine has no files on {place:?}: it has them on tmpfs or disk");
        return Err((FILES_ON.to_owned(), why));
    }
    let given = SETTINGS.iter().find(|name| asked.get(name).is_some());
    if let Some(name) = given.filter(|_| !wanted(asked)) {
        let why = format!("{name} is of a disk, and the machine has its files in memory: ask for files_on=disk as well");
        return Err(((*name).to_owned(), why));
    }
    let cache = asked.get(CACHE).unwrap_or(MODES[0].0);
    let past_the_page_cache = MODES.iter().any(|(mode, flags)| *mode == cache && flags[1]);
    match asked.get(ENGINE) {
        Some("native") if !past_the_page_cache => Err((
            ENGINE.to_owned(),
            format!(
                "disk_engine=native works past the page cache alone (O_DIRECT), and disk_cache={cache} is in it: ask for \
                 disk_cache=none or directsync as well, or for the engine threads or io_uring"
            ),
        )),
        _ => Ok(()),
    }
}

impl Disk {
    /// Makes the disk that `asked` speaks of in `folder`, with an empty file system.
    pub(super) fn make(asked: &Settings, folder: &Path) -> Result<Self, Error> {
        let path = folder.join(format!("disk-{}", std::process::id()));
        let failed = |doing: &str| Error::os(format!("{doing} {}, the disk of the virtual machine", path.display()));
        let file = File::options().read(true).write(true).create_new(true).open(&path).map_err(failed("make"))?;
        fs::remove_file(&path).map_err(failed("take its name from"))?;
        file.set_len(asked.number(SIZE, Quantity::Size).unwrap_or(BYTES)).map_err(failed("make room in"))?;
        let disk = Self { file, folder: folder.to_owned() };
        disk.format()?;
        Ok(disk)
    }

    fn format(&self) -> Result<(), Error> {
        let mut command = Command::new(locate::program("mke2fs", "e2fsprogs").map_err(Error::Unusable)?);
        // It is a file and no device (-F), and all of it is for the files of the work (-m).
        command.args(["-q", "-F", "-t", "ext4", "-m", "0", "/proc/self/fd/0"]).stdin(Stdio::from(self.copy()?));
        let output = command.output().map_err(Error::os("start mke2fs, which makes a file system"))?;
        if output.status.success() {
            return Ok(());
        }
        let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        let folder = self.folder.display();
        Err(Error::Unusable(format!(
            "mke2fs could not make a file system on the disk of the virtual machine, a file in {folder}: {said}"
        )))
    }

    fn copy(&self) -> Result<File, Error> {
        self.file.try_clone().map_err(Error::os("copy the descriptor of the disk"))
    }

    /// For the child, which has it as its descriptor `number`.
    pub(super) fn descriptor(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }

    /// Where its file was made: what QEMU says of errors is of the file system there.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }
}

/// The part of QEMU's command line for a disk of that `name`. The child has the file as its descriptor `number`, and opens it by that anew, with the flags
/// that the cache takes. An error goes to the guest: by itself QEMU would stop the machine where the disk of the host is full.
pub(super) fn arguments(asked: &Settings, number: usize, board: &Board, name: &str) -> [String; 4] {
    let cache = asked.get(CACHE).unwrap_or(MODES[0].0);
    let engine = asked.get(ENGINE).unwrap_or("threads");
    let drive = format!(
        "file=/proc/self/fd/{number},if=none,id={name},format=raw,cache={cache},aio={engine},werror=report,rerror=report"
    );
    ["-drive".into(), drive, "-device".into(), format!("{},drive={name}", board.disk)]
}

/// What is in force of the disk `name`, by what QEMU says and what its process has opened: cache, engine and size.
pub(super) fn observed(monitor: &mut Monitor, name: &str) -> [(&'static str, Option<String>); 3] {
    let engine = engine(monitor.process());
    let said = monitor.answer("query-block");
    let disk = said.as_ref().and_then(Value::as_array).and_then(|all| all.iter().find(|one| one["device"] == name));
    let size = disk.and_then(|disk| disk["inserted"]["image"]["virtual-size"].as_u64());
    [(CACHE, disk.and_then(cache)), (ENGINE, engine), (SIZE, size.map(|bytes| Quantity::Size.write(bytes)))]
}

/// The mode that the flags of a disk are.
fn cache(disk: &Value) -> Option<String> {
    let flag = |name: &str| disk["inserted"]["cache"][name].as_bool();
    let flags = [flag("writeback")?, flag("direct")?, flag("no-flush")?];
    MODES.iter().find(|(_, mode)| *mode == flags).map(|(name, _)| (*name).to_owned())
}

/// By what the process of a monitor has. The ring of io_submit is mapped, and that of io_uring a descriptor. From 10.2 on the main
/// loop of QEMU has one of those for itself, and its threads have names: those that do what the disk is asked for are workers. They
/// end 10 s after their last request, and a guest that has just come up has mounted its disk.
fn engine(process: u32) -> Option<String> {
    let maps = fs::read_to_string(format!("/proc/{process}/maps")).ok()?;
    let in_folder = |name: &str| fs::read_dir(format!("/proc/{process}/{name}")).ok().map(Iterator::flatten);
    let opened = in_folder("fd")?.filter_map(|one| fs::read_link(one.path()).ok());
    let opened: Vec<String> = opened.map(|path| path.to_string_lossy().into_owned()).collect();
    let named = in_folder("task")?.filter_map(|one| fs::read_to_string(one.path().join("comm")).ok());
    let threads: Vec<String> = named.map(|name| name.trim().to_owned()).collect();
    Some(engine_of(&maps, &threads, &opened).to_owned())
}

fn engine_of(maps: &str, threads: &[String], opened: &[String]) -> &'static str {
    match () {
        () if maps.contains("/[aio]") => "native",
        () if threads.iter().any(|name| name == "worker") => "threads",
        () if opened.iter().any(|name| name == "anon_inode:[io_uring]") => "io_uring",
        () => "threads",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn asked(settings: &[(&str, &str)]) -> Settings {
        let settings = settings.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        Settings::new(&settings).expect("settings")
    }

    #[test]
    fn what_cannot_be_together_is_refused_with_what_can() {
        let refused = |settings: &[(&str, &str)]| check(&asked(settings)).expect_err("it cannot be");
        let (name, why) = refused(&[("disk_cache", "none")]);
        assert!(name == "disk_cache" && why.contains("files_on=disk"), "{why}");
        for cache in ["writeback", "writethrough", "unsafe"] {
            let (name, why) = refused(&[("files_on", "disk"), ("disk_engine", "native"), ("disk_cache", cache)]);
            assert!(name == "disk_engine" && why.contains(cache) && why.contains("directsync"), "{why}");
        }
        for settings in [
            &[("files_on", "tmpfs")][..],
            &[("files_on", "disk")],
            &[("files_on", "disk"), ("disk_engine", "native"), ("disk_cache", "none")],
            &[("files_on", "disk"), ("disk_engine", "io_uring"), ("disk_cache", "writethrough")],
        ] {
            assert_eq!(check(&asked(settings)), Ok(()));
        }
    }

    #[test]
    fn what_is_in_force_is_told_by_flags_mappings_and_descriptors() {
        let disk = |writeback, direct, no_flush| {
            cache(&json!({"inserted": {"cache": {"writeback": writeback, "direct": direct, "no-flush": no_flush}}}))
        };
        assert_eq!(disk(false, true, false).as_deref(), Some("directsync"));
        assert_eq!(disk(true, false, true).as_deref(), Some("unsafe"));
        assert_eq!(disk(false, false, true), None, "no mode of that name");
        assert_eq!(cache(&json!({"device": NAME})), None);

        let maps = "7f00-7f01 r-xp 00000000 fe:00 1 /usr/lib/libaio.so.1\n";
        let [ring, event] = ["io_uring", "eventfd"].map(|name| format!("anon_inode:[{name}]"));
        let [nameless, main, worker] = ["qemu-system-x86", "main", "worker"].map(str::to_owned);
        assert_eq!(engine_of(maps, std::slice::from_ref(&nameless), std::slice::from_ref(&event)), "threads");
        let opened = [event, ring];
        assert_eq!(engine_of(maps, &[nameless], &opened), "io_uring");
        // QEMU 10.2, whose main loop has a ring.
        assert_eq!(engine_of(maps, std::slice::from_ref(&main), &opened), "io_uring");
        assert_eq!(engine_of(maps, &[main, worker], &opened), "threads");
        let with_ring = format!("{maps}7f02-7f03 rw-s 00000000 00:0e 2 /[aio] (deleted)\n");
        assert_eq!(engine_of(&with_ring, &[], &opened), "native");
    }

    #[test]
    fn a_disk_has_a_file_system_and_no_name() {
        let folder = std::env::temp_dir().join(format!("kizami-disk-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("a folder");
        let made = Disk::make(&asked(&[("files_on", "disk"), ("disk_size", "16MiB")]), &folder);
        let left = fs::read_dir(&folder).expect("the folder").count();
        fs::remove_dir_all(&folder).expect("it is empty");
        let disk = made.expect("mke2fs is on every Debian");
        assert_eq!((left, disk.file.metadata().expect("a file").len()), (0, 16 << 20));
        // The mark of an ext4 file system, in its superblock.
        let mut mark = [0; 2];
        std::os::unix::fs::FileExt::read_exact_at(&disk.file, &mut mark, 1024 + 56).expect("a superblock");
        assert_eq!(u16::from_le_bytes(mark), 0xef53);
    }
}
