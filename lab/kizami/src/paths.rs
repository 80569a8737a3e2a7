//! Paths of recordings: the folder for a new one, and the one that a user names.

use std::path::{Path, PathBuf};

use kizami_recording::folder::RECORDING_FILE;
use kizami_recording::foreign::printable;

use crate::exit::Exit;

/// The folder, in the current one, that holds recordings.
const RECORDINGS: &str = "recordings";

/// A new folder for a recording of `what`.
pub fn new_recording(what: &[String]) -> PathBuf {
    let now = humantime::format_rfc3339_seconds(std::time::SystemTime::now()).to_string();
    let stem =
        |name: &String| Path::new(name).file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default();
    let names: Vec<String> = what.iter().map(stem).collect();
    let name = format!("{}-{}", now.trim_end_matches('Z').replace(':', "-"), names.join("+"));
    let first = Path::new(RECORDINGS).join(&name);
    // Two runs in one second get different names.
    let others = (2..).map(|n| Path::new(RECORDINGS).join(format!("{name}.{n}")));
    std::iter::once(first).chain(others).find(|path| !path.exists()).unwrap_or_default()
}

/// The recording that the user named, or the newest.
pub fn recording(named: Option<&Path>) -> Result<PathBuf, Exit> {
    match named {
        Some(path) => Ok(path.to_owned()),
        None => newest().ok_or_else(|| {
            Exit::usage(format!("there is no recording in ./{RECORDINGS}: name a folder, or make one with kizami run"))
        }),
    }
}

/// `path` as it is told to the user, in text and in JSON: what is no text in it is replaced, and nothing in it commands a
/// terminal.
pub fn shown(path: &Path) -> String {
    printable(&path.to_string_lossy()).into_owned()
}

/// The folder in a recording for the files of the trial that runs.
pub const SCRATCH: &str = "scratch";

/// Removes the files that a killed run's trial left. To be called by who holds the lock: no other run measures then.
pub fn remove_leftovers() {
    let entries = std::fs::read_dir(RECORDINGS).into_iter().flatten().flatten();
    for scratch in entries.map(|entry| entry.path().join(SCRATCH)).filter(|path| path.is_dir()) {
        // What cannot be removed is in nobody's way.
        let _ = std::fs::remove_dir_all(scratch);
    }
}

fn newest() -> Option<PathBuf> {
    let entries = std::fs::read_dir(RECORDINGS).ok()?;
    let recordings = entries.filter_map(|e| Some(e.ok()?.path())).filter(|path| path.join(RECORDING_FILE).is_file());
    // Names begin with the time.
    recordings.max()
}
