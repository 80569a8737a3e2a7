//! The file workload: every operation and state of the cache, and a full disk.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64};

use kizami_workloads::linux::first_write;
use kizami_workloads::loads::{self, LoadBench};

use super::harness::{Folder, is_root, skipped, trial, trial_in};

pub fn files_are_written_and_read_in_every_way_and_hold_what_was_written() {
    for op in ["write", "write-fsync", "read"] {
        for cache in ["hot", "cold"] {
            for place in ["in-place", "sequential"] {
                for (size, block) in [("4KiB", "0"), ("100001B", "4KiB")] {
                    let given = [
                        ("op", op),
                        ("cache", cache),
                        ("place", place),
                        ("size", size),
                        ("block", block),
                        ("samples", "7"),
                    ];
                    let trial = trial("file", &given).went_well();
                    assert_eq!(trial.part("").len(), 7, "{given:?}");
                    assert_eq!(trial.parts[0].cold_rows, u64::from(cache != "cold"), "{given:?}");
                    assert!(trial.column("", "time").iter().all(|t| *t > 0));
                }
            }
        }
    }
}

pub fn the_state_of_the_cache_is_the_one_that_was_found() {
    let hot = trial("file", &[("op", "read"), ("cache", "hot"), ("size", "64KiB"), ("samples", "3")]).went_well();
    assert_eq!((hot.effective["cache"].clone(), hot.fact("resident_percent")), (("hot".into(), true), 100.0));
    let Some(memory) = folder_in_memory() else {
        return skipped("file: there is no /dev/shm in memory, so a file that cannot be cold is not tested");
    };
    let never = AtomicBool::new(false);
    let given = [("op", "read"), ("cache", "cold"), ("size", "64KiB"), ("samples", "3")];
    let cold = trial_in(&memory.0, &never, "file", &given).went_well();
    assert_eq!(cold.effective["cache"], ("100.00 % of the pages in the cache".into(), false));
    let direct = trial_in(&memory.0, &never, "file", &[("cache", "direct"), ("samples", "3")]);
    let why = direct.failure.expect("no direct I/O in memory");
    assert!(why.contains("direct I/O") && why.contains("cold"), "{why}");
    assert_eq!(memory.files(), 0);
}

/// A folder on a tmpfs.
fn folder_in_memory() -> Option<Folder> {
    let mounts = fs::read_to_string("/proc/self/mounts").ok()?;
    mounts.lines().find(|line| line.split(' ').nth(1) == Some("/dev/shm") && line.contains(" tmpfs "))?;
    let path = PathBuf::from(format!("/dev/shm/kizami-traffic-{}", std::process::id()));
    fs::create_dir(&path).ok()?;
    Some(Folder(path))
}

pub fn direct_files_are_written_and_read_where_the_file_system_can() {
    for op in ["write", "write-fsync", "read"] {
        for place in ["in-place", "sequential"] {
            let given = [
                ("op", op),
                ("cache", "direct"),
                ("place", place),
                ("size", "64KiB"),
                ("block", "16KiB"),
                ("samples", "4"),
            ];
            let trial = trial("file", &given);
            if let Some(why) = trial.failure.as_ref().filter(|why| why.contains("cannot do direct I/O")) {
                return skipped(&format!("file cache=direct: {why}"));
            }
            let trial = trial.went_well();
            assert_eq!(trial.part("").len(), 4);
            assert_eq!(trial.effective["cache"], ("direct".into(), true));
        }
    }
    let odd = trial("file", &[("cache", "direct"), ("size", "1000B")]).failure.expect("no direct I/O of odd sizes");
    assert!(odd.contains("multiples of 512") || odd.contains("cannot do direct I/O"), "{odd}");
}

pub fn a_full_disk_is_said_and_the_file_is_gone() {
    if !is_root() {
        return skipped("file on a full disk: mounting a small file system needs root");
    }
    let folder = Folder::new();
    let Some(small) = Mounted::tmpfs(&folder.0, c"size=1m") else {
        return skipped("file on a full disk: a small file system could not be mounted");
    };
    for op in ["write", "read"] {
        let trial =
            trial_in(&folder.0, &AtomicBool::new(false), "file", &[("op", op), ("size", "8MiB"), ("samples", "1")]);
        let why = trial.failure.expect("8 MiB do not fit into 1 MiB");
        assert!(why.contains("not enough room") && why.contains("free some"), "{why}");
        assert_eq!(folder.files(), 0);
    }
    let (stop, work) = (AtomicBool::new(false), AtomicU64::new(0));
    let load = loads::find("disk").expect("the load");
    let full = (load.run)(&LoadBench { stop: &stop, work: &work, scratch: &folder.0 }).expect_err("64 MiB do not fit");
    assert!(full.to_string().contains("full"), "{full}");
    assert_eq!(folder.files(), 0);
    drop(small);
}

/// A small file system, unmounted when dropped.
struct Mounted(std::ffi::CString);

impl Mounted {
    fn tmpfs(at: &Path, options: &std::ffi::CStr) -> Option<Self> {
        let at = std::ffi::CString::new(at.to_str()?).ok()?;
        // SAFETY: all of them are C strings.
        let result =
            unsafe { libc::mount(c"tmpfs".as_ptr(), at.as_ptr(), c"tmpfs".as_ptr(), 0, options.as_ptr().cast()) };
        (result == 0).then_some(Self(at))
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        // SAFETY: a C string.
        unsafe { libc::umount2(self.0.as_ptr(), libc::MNT_DETACH) };
    }
}

pub fn a_first_write_has_a_file_of_its_own_that_was_there() {
    let given = [("size", "10000B"), ("chunk", "100B"), ("samples", "20")];
    let trial = trial("first-write", &given);
    assert_eq!((trial.failure.as_deref(), trial.part("").len()), (None, 20));
    assert_eq!(trial.effective["files"].0, "made before");

    // Files that an environment has put there are taken, and kept.
    let folder = Folder::new();
    let below = folder.0.join(first_write::FOLDER);
    fs::create_dir(&below).expect("a folder");
    for index in 0..20 {
        fs::write(below.join(first_write::name(index)), [first_write::BYTE; 10_000]).expect("a file");
    }
    let found = trial_in(&folder.0, &AtomicBool::new(false), "first-write", &given);
    assert_eq!((found.failure, found.effective["files"].0.as_str()), (None, "of the image"));
    let written = fs::read(below.join("19")).expect("the file");
    assert_eq!((&written[..2], written[100], written.len()), (&[0xa5, 0xa5][..], first_write::BYTE, 10_000));

    fs::write(below.join("7"), "short").expect("a file");
    let short = trial_in(&folder.0, &AtomicBool::new(false), "first-write", &given);
    assert!(short.failure.is_some_and(|why| why.contains("was to have 10000 bytes, and has 5")));
}
