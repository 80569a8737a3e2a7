//! The build lock: an application is built once at a time, also when two builds are started beside each other.

use std::fs::{self, File, TryLockError};
use std::path::Path;

use anyhow::{Context, Result};

use crate::say;

/// Is held until it is dropped, or its process ends in whatever way.
#[derive(Debug)]
pub(crate) struct Lock(#[expect(dead_code, reason = "its end is what unlocks")] File);

impl Lock {
    /// Waits, and says so, while another has it.
    pub(crate) fn take(path: &Path) -> Result<Self> {
        let failed = || format!("cannot lock {}", path.display());
        fs::create_dir_all(path.parent().unwrap_or(Path::new("."))).with_context(failed)?;
        let file = File::create(path).with_context(failed)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                say::waits("Blocking", "waiting for file lock on build directory");
                file.lock().with_context(failed)?;
            }
            // Some file systems cannot lock; cargo builds there without, too.
            Err(TryLockError::Error(error)) if error.kind() == std::io::ErrorKind::Unsupported => {}
            Err(TryLockError::Error(error)) => return Err(error).with_context(failed),
        }
        Ok(Self(file))
    }
}
