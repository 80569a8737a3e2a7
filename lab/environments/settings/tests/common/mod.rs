//! Helpers of the whole-program tests: recorded trees to change, and the example `hold` as a stand-in for the lab.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// A folder of our own that is removed at the end.
pub struct Folder(pub PathBuf);

impl Folder {
    pub fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("kizami-settings-{}-{count}", std::process::id()));
        fs::create_dir(&folder).expect("a folder of our own");
        Self(folder)
    }

    /// A copy of the recorded tree `name` that may be changed.
    #[allow(dead_code, reason = "each test program uses a part of this file")]
    pub fn of_tree(name: &str) -> Self {
        let folder = Self::new();
        copy(&recorded(name), &folder.0);
        fs::create_dir(folder.0.join("run")).expect("a folder for state");
        folder
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

pub fn recorded(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/trees").join(name)
}

fn copy(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).expect("a recorded tree").map(|e| e.expect("an entry")) {
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            fs::create_dir(&target).expect("a folder");
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).expect("a copy");
        }
    }
}

/// The example `hold`, which `cargo test` builds beside the tests.
#[allow(dead_code, reason = "each test program uses a part of this file")]
pub fn hold() -> PathBuf {
    let own = std::env::current_exe().expect("our own path");
    let hold = own.parent().and_then(Path::parent).expect("deps lies in the target folder").join("examples/hold");
    assert!(hold.exists(), "{} is missing: cargo build --example hold", hold.display());
    hold
}

/// Says that something could not be tested here.
#[allow(dead_code, reason = "each test program uses a part of this file")]
pub fn skipped(what: &str) {
    use std::io::Write;
    eprintln!("skipped: {what}");
    if let Some(list) = std::env::var_os("KIZAMI_SKIPPED") {
        let list = fs::OpenOptions::new().append(true).create(true).open(list);
        list.and_then(|mut f| writeln!(f, "{what}")).expect("the list of what was skipped");
    }
}
