//! The lock of a measurement: one at a time on a machine, because two would be each other's noise.
//!
//! The lock is the kernel's (flock), so it ends with the process that holds it, in whatever way that process ends. Who holds
//! it is asked of the kernel too: what a file says of its holder outlives it, and a user who may lock another user's file
//! may not write into it.

use std::fs::{File, OpenOptions, Permissions};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Held while measuring.
#[derive(Debug)]
pub struct Lock {
    file: File,
}

/// Why there is no lock.
#[derive(Debug)]
pub enum NoLock {
    /// Somebody measures: what the kernel tells about them.
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
        let file = open().map_err(impossible)?;
        loop {
            match file.try_lock() {
                Ok(()) => break,
                Err(std::fs::TryLockError::WouldBlock) if wait && go_on() => {
                    std::thread::sleep(Duration::from_millis(200))
                }
                Err(std::fs::TryLockError::WouldBlock) => return Err(NoLock::Busy(holder(&file))),
                Err(std::fs::TryLockError::Error(e)) => return Err(impossible(e)),
            }
        }
        Ok(Self { file })
    }
}

/// How often the kernel's list of locks is read for a holder who must be in it.
const LOOKS: usize = 10;

/// The process that holds the lock on `file`, in words.
fn holder(file: &File) -> String {
    let about = file.metadata();
    // The kernel hands its list out page by page. What others lock and unlock in between can push an entry over the
    // edge of a page, so one reading can lack a lock that is held.
    let look = || {
        let (locks, about) = (std::fs::read_to_string("/proc/locks").ok()?, about.as_ref().ok()?);
        locks.lines().find_map(|line| holder_in(line, about.dev(), about.ino()))
    };
    match (0..LOOKS).find_map(|_| look()) {
        Some(pid) => described(pid),
        None => "a process that cannot be seen from here, such as one of another container".to_owned(),
    }
}

/// The process that a line of `/proc/locks` names as the holder of a flock on that file; see proc(5). A line such as
/// `1: FLOCK  ADVISORY  WRITE 4711 00:1b:42 0 EOF`; one of a process that waits has `->` before its kind.
fn holder_in(line: &str, device: u64, inode: u64) -> Option<u32> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let ["FLOCK", _, _, pid, place, ..] = words.get(1..)? else { return None };
    let mut place = place.split(':');
    let (major, minor) = (u32::from_str_radix(place.next()?, 16).ok()?, u32::from_str_radix(place.next()?, 16).ok()?);
    let same = libc::makedev(major, minor) == device && place.next()?.parse() == Ok(inode);
    pid.parse().ok().filter(|_| same)
}

/// A process, since when it runs, and its command line.
fn described(pid: u32) -> String {
    let since =
        started(pid).map_or_else(String::new, |at| format!(", since {}", humantime::format_rfc3339_seconds(at)));
    let command = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let command = String::from_utf8_lossy(&command).trim_end_matches('\0').replace('\0', " ");
    let command = if command.is_empty() { String::new() } else { format!(": {command}") };
    format!("process {pid}{since}{command}")
}

/// When a process started: field 22 of its stat, in ticks since the machine did; see proc(5).
fn started(pid: u32) -> Option<SystemTime> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let ticks: u64 = stat.rsplit_once(')')?.1.split_whitespace().nth(19)?.parse().ok()?;
    let machine = std::fs::read_to_string("/proc/stat").ok()?;
    let boot: u64 = machine.lines().find_map(|line| line.strip_prefix("btime "))?.trim().parse().ok()?;
    // SAFETY: the call takes a number.
    let ticks_per_second = u64::try_from(unsafe { libc::sysconf(libc::_SC_CLK_TCK) }).ok().filter(|n| *n > 0)?;
    UNIX_EPOCH.checked_add(Duration::from_secs(boot.checked_add(ticks / ticks_per_second)?))
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
    fn a_run_that_has_ended_is_never_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        // What an earlier version left there, in a file that this user might not be able to write.
        let stale = "process 4194305, since 2026-01-02T03:04:05Z: kizami run of-yesterday\n";
        let _first = Lock::take_at(&path, false, &|| true).unwrap();
        std::fs::write(&path, stale).unwrap();
        match Lock::take_at(&path, false, &|| true) {
            Err(NoLock::Busy(holder)) => {
                assert!(holder.starts_with(&format!("process {}, since 2", std::process::id())), "{holder}");
                assert!(!holder.contains("of-yesterday"), "{holder}");
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_holder_is_the_one_of_this_file() {
        let device = libc::makedev(0, 0x1b);
        let holder = |line: &str| holder_in(line, device, 42);
        assert_eq!(holder("1: FLOCK  ADVISORY  WRITE 4711 00:1b:42 0 EOF"), Some(4711));
        assert_eq!(holder("1: FLOCK  ADVISORY  WRITE 4711 00:1b:43 0 EOF"), None);
        assert_eq!(holder("1: FLOCK  ADVISORY  WRITE 4711 00:1c:42 0 EOF"), None);
        assert_eq!(holder("1: POSIX  ADVISORY  WRITE 4711 00:1b:42 0 EOF"), None);
        assert_eq!(holder("1: -> FLOCK  ADVISORY  WRITE 4712 00:1b:42 0 EOF"), None, "it waits");
        assert_eq!(holder("1: FLOCK"), None);
        assert!(described(u32::MAX).ends_with(&u32::MAX.to_string()), "of one that is gone, its number is left");
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
