//! The journal: old values of settings, on disk before a setting is changed.
//!
//! The journal is one file, one JSON object a line: first a header with the machine's boot, then the old value of each
//! file before its first change, or a control group before it is made. A line without an end was cut off before its
//! change was made, so it is ignored.
//!
//! Locks (flock(2)) say which process may use the journal; process numbers do not, because they are used again. The lab
//! and its guard hold the lock shared as long as they live; recovery needs it exclusively, so recovery gets it only
//! when both have ended. At most one lab at a time has a journal: two labs that changed the same machine could not both
//! restore the values that they found.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::root::{Root, words, write_existing};
use crate::system;

/// A line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Entry {
    /// The machine was started with this id; values older than that are gone anyway.
    Boot { id: String, pid: u32 },
    /// `file` held `value`.
    Value { setting: String, file: PathBuf, value: String },
    /// A control group to be emptied and removed.
    Cgroup { folder: PathBuf },
}

/// A journal that the lab writes.
#[derive(Debug)]
pub struct Journal {
    file: Locked,
    path: PathBuf,
}

/// An open journal and its lock, which ends with it. Closing the file alone would not do: a process that another thread
/// just forked shares the open file, and with it the lock, until it executes its program.
#[derive(Debug)]
pub struct Locked(File);

impl Drop for Locked {
    fn drop(&mut self) {
        let _ = self.0.unlock();
    }
}

/// Why there is no journal to write.
#[derive(Debug)]
pub enum Unavailable {
    /// Another lab has it: its process number, where that can be read.
    Taken(Option<u32>),
    /// A sentence.
    Broken(String),
}

/// The folder of the journal; it need not be there.
fn state_folder(root: &Root) -> PathBuf {
    // SAFETY: the call takes nothing and cannot fail.
    let user = unsafe { libc::geteuid() };
    match std::env::var_os("XDG_RUNTIME_DIR").filter(|v| !v.is_empty()) {
        _ if user == 0 || !root.is_machine() => root.path("run/kizami"),
        Some(runtime) => PathBuf::from(runtime).join("kizami"),
        None => std::env::temp_dir().join(format!("kizami-{user}")),
    }
}

/// Refuses a folder in which somebody else could have put a journal: what that says would be written as this user.
fn check_folder(folder: &Path) -> io::Result<()> {
    // SAFETY: the call takes nothing and cannot fail.
    let user = unsafe { libc::geteuid() };
    let is = fs::symlink_metadata(folder)?;
    if is.is_dir() && is.uid() == user && is.mode() & 0o022 == 0 {
        return Ok(());
    }
    Err(io::Error::other("it is not a folder that belongs to this user alone; remove it and try again"))
}

fn make_folder(folder: &Path) -> io::Result<()> {
    match DirBuilder::new().mode(0o700).create(folder) {
        Err(e) if e.kind() != io::ErrorKind::AlreadyExists => Err(e),
        _ => check_folder(folder),
    }
}

const NAME: &str = "changes.journal";

fn boot_id(root: &Root) -> String {
    root.get("proc/sys/kernel/random/boot_id").unwrap_or_default()
}

/// Tries to take the lock; false when somebody else's stands in the way.
fn lock(file: &File, operation: i32) -> io::Result<bool> {
    // SAFETY: the descriptor is open as long as `file` is borrowed.
    if unsafe { libc::flock(file.as_raw_fd(), operation | libc::LOCK_NB) } == 0 {
        return Ok(true);
    }
    match io::Error::last_os_error() {
        e if e.kind() == io::ErrorKind::WouldBlock => Ok(false),
        e => Err(e),
    }
}

/// Opens the journal and locks it. The file may be removed by its last owner between the two, so that is looked at.
fn open_locked(path: &Path, create: bool, operation: i32) -> io::Result<Option<Locked>> {
    loop {
        let mut options = OpenOptions::new();
        options.read(true).append(true).create(create).mode(0o600).custom_flags(libc::O_NOFOLLOW);
        let file = options.open(path)?;
        if !lock(&file, operation)? {
            return Ok(None);
        }
        let locked = Locked(file);
        if locked.0.metadata()?.nlink() > 0 {
            return Ok(Some(locked));
        }
    }
}

impl Journal {
    /// Begins an empty one, after restoring what an earlier one still holds.
    pub fn begin(root: &Root) -> Result<Self, Unavailable> {
        let folder = state_folder(root);
        let path = folder.join(NAME);
        let failed = |e: io::Error| Unavailable::Broken(format!("{} cannot be used: {}", path.display(), words(&e)));
        make_folder(&folder).map_err(failed)?;
        let file = loop {
            let file = open_locked(&path, true, libc::LOCK_EX).map_err(failed)?;
            let file = file.ok_or_else(|| Unavailable::Taken(owner(&path)))?;
            if file.0.metadata().map_err(failed)?.len() == 0 {
                break file;
            }
            let left = restore_if_current(root, &path);
            if !left.problems.is_empty() {
                return Err(Unavailable::Broken(left.problems.join("; ")));
            }
        };
        let mut journal = Self { file, path };
        journal.append(&Entry::Boot { id: boot_id(root), pid: std::process::id() }).map_err(Unavailable::Broken)?;
        // Changing the lock is not atomic: another lab may get it between. It finds nothing to restore, removes the
        // file and begins its own.
        let ours = lock(&journal.file.0, libc::LOCK_SH).unwrap_or(false)
            && journal.file.0.metadata().is_ok_and(|is| is.nlink() > 0);
        if ours { Ok(journal) } else { Err(Unavailable::Taken(owner(&journal.path))) }
    }

    /// Keeps what `file` holds, before its first change.
    pub fn value(&mut self, setting: &str, file: &Path, value: &str) -> Result<(), String> {
        self.append(&Entry::Value { setting: setting.to_owned(), file: file.to_owned(), value: value.to_owned() })
    }

    /// Keeps that the control group at `folder` is about to be made.
    pub fn cgroup(&mut self, folder: &Path) -> Result<(), String> {
        self.append(&Entry::Cgroup { folder: folder.to_owned() })
    }

    fn append(&mut self, entry: &Entry) -> Result<(), String> {
        let written = serde_json::to_string(entry).map_err(io::Error::other).and_then(|line| {
            self.file.0.write_all(format!("{line}\n").as_bytes())?;
            self.file.0.sync_data()
        });
        written.map_err(|e| format!("{} cannot be written, so nothing is changed: {}", self.path.display(), words(&e)))
    }

    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// Holds the journal at `path` as the lab that wrote it does.
pub fn hold(path: &Path) -> io::Result<Locked> {
    open_locked(path, false, libc::LOCK_SH)?.ok_or_else(|| io::Error::other("the journal is being restored"))
}

/// What restoring came to, in sentences.
#[derive(Debug, Default)]
pub struct Restored {
    pub done: Vec<String>,
    pub problems: Vec<String>,
}

/// Restores everything that the journal at `path` holds, latest first, and removes it unless something remains to be
/// done. The caller holds it.
pub fn restore(path: &Path) -> Restored {
    let mut restored = Restored::default();
    for entry in entries(path).into_iter().rev() {
        let result = match &entry {
            Entry::Boot { .. } => continue,
            Entry::Value { setting, file, value } => restore_value(setting, file, value),
            Entry::Cgroup { folder } => system::remove_cgroup(folder).map(|()| None),
        };
        match result {
            Ok(done) => restored.done.extend(done),
            Err(problem) => restored.problems.push(problem),
        }
    }
    if restored.problems.is_empty()
        && let Err(e) = fs::remove_file(path)
        && e.kind() != io::ErrorKind::NotFound
    {
        restored.problems.push(format!("{} cannot be removed: {}", path.display(), words(&e)));
    }
    restored
}

fn restore_value(setting: &str, file: &Path, value: &str) -> Result<Option<String>, String> {
    let same = |text: &str| {
        let text = text.trim();
        text == value || system::chosen(text) == Some(value)
    };
    match fs::read_to_string(file) {
        Ok(text) if same(&text) => return Ok(None),
        // A processor that was taken out takes its files along, and brings them back with values of its own.
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
        _ => {}
    }
    match write_existing(file, value) {
        Ok(()) => Ok(Some(format!("{setting} is {value} again ({})", file.display()))),
        Err(e) => Err(format!(
            "{setting} could not be restored: {}; do it with: echo {value} | sudo tee {}",
            words(&e),
            file.display()
        )),
    }
}

fn entries(path: &Path) -> Vec<Entry> {
    let mut text = String::new();
    // Without a journal there is nothing to restore.
    let _ = File::open(path).and_then(|mut f| f.read_to_string(&mut text));
    let whole = text.split_inclusive('\n').filter(|line| line.ends_with('\n'));
    whole.filter_map(|line| serde_json::from_str(line).ok()).collect()
}

/// Restores, or only removes the journal when the machine was started anew since. The caller holds it exclusively.
fn restore_if_current(root: &Root, path: &Path) -> Restored {
    let now = boot_id(root);
    let older = |entry: &Entry| matches!(entry, Entry::Boot { id, .. } if *id != now);
    let mut restored = Restored::default();
    if !entries(path).iter().any(older) {
        restored = restore(path);
    } else if let Err(e) = fs::remove_file(path) {
        restored.problems.push(format!("{} cannot be removed: {}", path.display(), words(&e)));
    }
    restored
}

/// Restores what a lab and its guard left behind when both were killed. Sentences for the user: what is restored, or
/// what could not be and how to do it. None, when there was nothing to do or another lab is at work.
pub fn recover(root: &Root) -> Vec<String> {
    let folder = state_folder(root);
    let path = folder.join(NAME);
    let _lock = match check_folder(&folder).and_then(|()| open_locked(&path, false, libc::LOCK_EX)) {
        Ok(Some(file)) => file,
        Ok(None) => return Vec::new(),
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Vec::new(),
        Err(e) => return vec![format!("{} cannot be used: {}", path.display(), words(&e))],
    };
    let Restored { done, problems } = restore_if_current(root, &path);
    let done = done.into_iter().map(|what| format!("an earlier run was killed before it could restore this: {what}"));
    done.chain(problems).collect()
}

/// The process number in the journal at `path`, for messages.
fn owner(path: &Path) -> Option<u32> {
    entries(path).iter().find_map(|entry| match entry {
        Entry::Boot { pid, .. } => Some(*pid),
        _ => None,
    })
}
