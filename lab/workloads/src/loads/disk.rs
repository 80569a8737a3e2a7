//! Writing to a file and forcing the data out, in a loop: work for the block layer, the device's interrupts and the
//! journal.

use std::fs::{self, File, OpenOptions};
use std::io::ErrorKind;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

use super::load::{Load, LoadBench};
use crate::bench::Failure;

pub(super) static LOAD: Load = Load {
    name: "disk",
    about: "Rewrites a file of 64 MiB from its beginning to its end, over and over, with an fsync after every 4 MiB. An \
            operation is one MiB written.",
    run,
};

const MIB: usize = 1 << 20;
const SIZE: u64 = 64 << 20;
/// Small enough that a slow disk still lets the load end soon after it is told to.
const SYNC_EVERY: u64 = 4 << 20;

fn run(bench: &LoadBench<'_>) -> Result<(), Failure> {
    let file = Scratch::create(bench)?;
    let block = vec![0x5A; MIB];
    loop {
        for at in (0..SIZE).step_by(MIB) {
            if bench.stopped() {
                return Ok(());
            }
            file.file.write_all_at(&block, at).map_err(|e| file.failure("write", e))?;
            if (at + MIB as u64).is_multiple_of(SYNC_EVERY) {
                file.file.sync_all().map_err(|e| file.failure("fsync", e))?;
            }
            bench.did(1);
        }
    }
}

/// The file, removed when dropped.
struct Scratch {
    path: PathBuf,
    file: File,
}

impl Scratch {
    fn create(bench: &LoadBench<'_>) -> Result<Self, Failure> {
        let path = bench.scratch.join(format!("load-disk-{}", std::process::id()));
        let file = OpenOptions::new().write(true).create_new(true).open(&path);
        let file = file.map_err(Failure::os(format!("create {} for the disk load", path.display())))?;
        Ok(Self { path, file })
    }

    fn failure(&self, doing: &str, source: std::io::Error) -> Failure {
        let path = self.path.display();
        if source.kind() == ErrorKind::StorageFull {
            return Failure::Impossible(format!(
                "the disk load needs {} MiB at {path}, and the file system is full: free some space, or choose another \
                 folder",
                SIZE >> 20
            ));
        }
        Failure::Os { doing: format!("{doing} {path} in the disk load"), source }
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}
