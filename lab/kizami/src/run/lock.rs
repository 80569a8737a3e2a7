//! One measurement at a time on a machine: two would be each other's noise.
//!
//! The lock is the kernel's (flock), so it ends with its holder, however that ends. The file says who holds it.

use std::fs::{File, OpenOptions, Permissions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Held while measuring.
#[derive(Debug)]
pub struct Lock {
    file: File,
}

/// Why there is no lock.
#[derive(Debug)]
pub enum NoLock {
    /// Somebody measures: what the file says about them.
    Busy(String),
    /// The file cannot be had.
    Impossible(String),
}

/// The machine's lock file.
fn path() -> PathBuf {
    // One in which every user may make it, or they would not all look at the same: /run/lock is root's on some systems.
    let for_all = |folder: &&Path| folder.metadata().is_ok_and(|is| is.is_dir() && is.mode() & 0o002 != 0);
    let folder = ["/run/lock", "/tmp"].map(Path::new).into_iter().find(for_all);
    folder.map_or_else(std::env::temp_dir, Path::to_owned).join("kizami.lock")
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Closing the file alone would not do: a process that another thread just forked shares the lock until it
        // executes its program.
        let _ = self.file.unlock();
    }
}

impl Lock {
    /// Takes the lock; with `wait`, waits for it as long as `go_on` says so.
    ///
    /// # Errors
    /// When somebody else has it, or it cannot be had at all.
    pub fn take(wait: bool, go_on: &dyn Fn() -> bool) -> Result<Self, NoLock> {
        Self::take_at(&path(), wait, go_on)
    }

    fn take_at(path: &Path, wait: bool, go_on: &dyn Fn() -> bool) -> Result<Self, NoLock> {
        let impossible = |e: std::io::Error| {
            NoLock::Impossible(format!("could not open {}, which keeps two runs apart: {e}", path.display()))
        };
        // Another user's file can be locked when it can be read. It is never what somebody's link leads to.
        let open = || {
            let mut options = OpenOptions::new();
            options.read(true).custom_flags(libc::O_NOFOLLOW);
            let ours = options.clone().write(true).create(true).truncate(false).open(path);
            // Whatever this user's mask says.
            let readable = |file: &File| file.set_permissions(Permissions::from_mode(0o644));
            ours.inspect(|file| drop(readable(file))).or_else(|_| options.open(path))
        };
        let mut file = open().map_err(impossible)?;
        loop {
            match file.try_lock() {
                Ok(()) => break,
                Err(std::fs::TryLockError::WouldBlock) if wait && go_on() => {
                    std::thread::sleep(Duration::from_millis(200))
                }
                Err(std::fs::TryLockError::WouldBlock) => {
                    let mut holder = String::new();
                    let _ = file.seek(SeekFrom::Start(0)).and_then(|_| file.read_to_string(&mut holder));
                    return Err(NoLock::Busy(holder.trim().to_owned()));
                }
                Err(std::fs::TryLockError::Error(e)) => return Err(impossible(e)),
            }
        }
        let started = humantime::format_rfc3339_seconds(std::time::SystemTime::now());
        let holder = format!("process {}, since {started}: {}\n", std::process::id(), super::command_line().join(" "));
        // Only a courtesy to whoever is refused: a file of another user stays as it is.
        let _ = file.set_len(0).and_then(|()| file.write_all(holder.as_bytes()));
        Ok(Self { file })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_run_is_refused_and_told_who_measures() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        let first = Lock::take_at(&path, false, &|| true).unwrap();
        match Lock::take_at(&path, false, &|| true) {
            Err(NoLock::Busy(holder)) => assert!(holder.contains(&std::process::id().to_string()), "{holder}"),
            other => panic!("{other:?}"),
        }
        drop(first);
        Lock::take_at(&path, false, &|| true).unwrap();
    }

    #[test]
    fn a_link_in_its_place_is_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let (path, precious) = (folder.path().join("lock"), folder.path().join("precious"));
        std::fs::write(&precious, "precious").unwrap();
        std::os::unix::fs::symlink(&precious, &path).unwrap();
        assert!(matches!(Lock::take_at(&path, false, &|| true), Err(NoLock::Impossible(_))));
        assert_eq!(std::fs::read_to_string(precious).unwrap(), "precious");
    }

    #[test]
    fn every_user_can_take_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        std::fs::write(&path, "").unwrap();
        std::fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
        let _held = Lock::take_at(&path, false, &|| true).unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().mode() & 0o777, 0o644);
    }

    #[test]
    fn waiting_ends_when_the_user_gives_up() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        let _first = Lock::take_at(&path, false, &|| true).unwrap();
        assert!(matches!(Lock::take_at(&path, true, &|| false), Err(NoLock::Busy(_))));
    }
}
