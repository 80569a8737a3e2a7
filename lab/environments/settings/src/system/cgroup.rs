//! A control group with a memory limit, made for one trial. See the kernel's cgroup-v1/memory.rst and cgroup-v2.rst.
//!
//! In version 1 every group may have groups below it, so the new group is made below the lab's own. In version 2 only a
//! group without processes can hand a controller down, so the new group is made below the nearest ancestor that hands
//! the memory controller down.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use kizami_recording::folder::Effective;
use kizami_recording::quantity::Quantity;

use crate::root::{Root, words, write_existing};

/// Every group of ours is called so; nothing else is ever emptied or removed.
pub(crate) const PREFIX: &str = "kizami-";

/// A place for a group that limits memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Cgroup {
    pub(crate) folder: PathBuf,
    version: u8,
}

impl Cgroup {
    /// Where a group called `name` may be made; nothing is made yet.
    pub(crate) fn place(root: &Root, name: &str) -> Result<Self, String> {
        let group = Group::of(root, "self", "memory")?;
        if group.version == 1 {
            return Ok(Self { folder: group.folder.join(format!("{PREFIX}{name}")), version: 1 });
        }
        let hands_down = |folder: &&Path| {
            let handed = fs::read_to_string(folder.join("cgroup.subtree_control")).unwrap_or_default();
            handed.split_whitespace().any(|controller| controller == "memory")
        };
        let above = group.folder.ancestors().take_while(|f| f.starts_with(&group.top)).find(hands_down);
        let above = above.ok_or("no control group above this process hands memory down (cgroup.subtree_control)")?;
        Ok(Self { folder: above.join(format!("{PREFIX}{name}")), version: 2 })
    }

    /// Makes it, with a limit of `bytes` of memory and no swap beyond.
    pub(crate) fn make(&self, bytes: u64) -> Result<(), String> {
        let failed = |e: io::Error| format!("{}: making the control group {}", words(&e), self.folder.display());
        fs::create_dir(&self.folder).map_err(failed)?;
        let bytes = bytes.to_string();
        write_existing(&self.folder.join(self.limit_file()), &bytes).map_err(failed)?;
        // Kernels without accounting of swap lack these files.
        let (swap, value) =
            if self.version == 1 { ("memory.memsw.limit_in_bytes", bytes.as_str()) } else { ("memory.swap.max", "0") };
        match write_existing(&self.folder.join(swap), value) {
            Err(e) if e.kind() != io::ErrorKind::NotFound && e.kind() != io::ErrorKind::PermissionDenied => {
                Err(failed(e))
            }
            _ => Ok(()),
        }
    }

    fn limit_file(&self) -> &'static str {
        if self.version == 1 { "memory.limit_in_bytes" } else { "memory.max" }
    }

    /// What limit it has, compared with `bytes`.
    pub(crate) fn effective(&self, bytes: u64) -> Effective {
        let limit = fs::read_to_string(self.folder.join(self.limit_file()));
        let limit = limit.ok().and_then(|text| text.trim().parse().ok());
        Effective {
            value: limit.map_or_else(|| "unknown".to_owned(), |limit| Quantity::Size.write(limit)),
            as_requested: limit == Some(bytes),
            why: format!("control group {} (version {})", self.folder.display(), self.version),
        }
    }
}

/// Ends what is left in the group at `folder`, and removes it with the groups in it.
///
/// # Errors
/// A sentence, when the name is not one of ours or processes do not end.
pub fn remove(folder: &Path) -> Result<(), String> {
    let ours = folder.file_name().and_then(|n| n.to_str()).is_some_and(|n| n.starts_with(PREFIX));
    if !ours {
        return Err(format!("{} is not a control group of ours and is left alone", folder.display()));
    }
    remove_whole(folder).map_err(|e| format!("the control group {} cannot be removed: {}", folder.display(), words(&e)))
}

fn remove_whole(folder: &Path) -> io::Result<()> {
    const PATIENCE: Duration = Duration::from_secs(5);
    let begun = Instant::now();
    loop {
        match fs::remove_dir(folder) {
            Ok(()) => return Ok(()),
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(e) if begun.elapsed() > PATIENCE => return Err(e),
            Err(_) => {}
        }
        let inner = fs::read_dir(folder).into_iter().flatten().flatten();
        let inner = inner.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
        inner.map(|entry| entry.path()).try_for_each(|inner| remove_whole(&inner))?;
        kill_all(folder);
        thread::sleep(Duration::from_millis(5));
    }
}

fn kill_all(folder: &Path) {
    let processes = fs::read_to_string(folder.join("cgroup.procs")).unwrap_or_default();
    let own = std::process::id() as libc::pid_t;
    for pid in processes.lines().filter_map(|l| l.parse::<libc::pid_t>().ok()).filter(|pid| *pid > 1 && *pid != own) {
        // SAFETY: the call takes numbers. The kernel just listed the process as a member of our group.
        unsafe { libc::kill(pid, libc::SIGKILL) };
    }
}

/// The control group of a process.
pub(super) struct Group {
    pub folder: PathBuf,
    /// Where its hierarchy is mounted.
    pub top: PathBuf,
    /// 1 or 2.
    pub version: u8,
}

impl Group {
    /// The one of `process` (`self`, or a number) that has `controller`.
    pub(super) fn of(root: &Root, process: &str, controller: &str) -> Result<Self, String> {
        let mounts = root.get("proc/self/mountinfo").unwrap_or_default();
        let groups = root.read(&format!("proc/{process}/cgroup")).map_err(|e| words(&e))?;
        let mounts: Vec<_> = mounts.lines().filter_map(Mount::parse).collect();
        let has = |list: &str| list.split(',').any(|one| one == controller);
        let first = mounts.iter().find(|m| m.kind == "cgroup" && has(m.options));
        let mount = first.or_else(|| mounts.iter().find(|m| m.kind == "cgroup2"));
        let mount = mount.ok_or("no control groups are mounted here")?;
        let path = groups.lines().find_map(|line| {
            let (controllers, path) = line.split_once(':')?.1.split_once(':')?;
            (if first.is_some() { has(controllers) } else { controllers.is_empty() }).then_some(path)
        });
        let path = path.unwrap_or("/");
        let below = path.strip_prefix(mount.root.trim_end_matches('/')).unwrap_or(path);
        // A path that begins so lies outside of this container's view.
        let below = if below.starts_with("/..") { "" } else { below.trim_start_matches('/') };
        let top = root.path(mount.point);
        Ok(Self { folder: top.join(below), top, version: if first.is_some() { 1 } else { 2 } })
    }
}

/// One line of `/proc/self/mountinfo`, see proc(5).
struct Mount<'a> {
    root: &'a str,
    point: &'a str,
    kind: &'a str,
    options: &'a str,
}

impl<'a> Mount<'a> {
    fn parse(line: &'a str) -> Option<Self> {
        let (mount, kind) = line.split_once(" - ")?;
        let mut mount = mount.split(' ').skip(3);
        let (root, point) = (mount.next()?, mount.next()?);
        let mut kind = kind.split(' ');
        Some(Self { root, point, kind: kind.next()?, options: kind.nth(1)? })
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::tree;
    use super::*;

    #[test]
    fn a_group_of_version_1_goes_below_our_own() {
        let (root, folder) = tree(
            "cgroup-v1",
            &[
                (
                    "proc/self/mountinfo",
                    "30 20 0:26 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n\
                     31 20 0:27 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n",
                ),
                ("proc/self/cgroup", "4:memory:/work/a\n3:cpu:/\n0::/\n"),
            ],
        );
        let place = Cgroup::place(&root, "1").expect("a place");
        assert_eq!(place, Cgroup { folder: folder.join("sys/fs/cgroup/memory/work/a/kizami-1"), version: 1 });
        fs::remove_dir_all(folder).expect("our folder");
    }

    #[test]
    fn a_group_of_version_2_goes_below_the_nearest_that_hands_memory_down() {
        let (root, folder) = tree(
            "cgroup-v2",
            &[
                ("proc/self/mountinfo", "31 20 0:27 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"),
                ("proc/self/cgroup", "0::/user.slice/session.scope\n"),
                ("sys/fs/cgroup/cgroup.subtree_control", "cpu memory pids\n"),
                ("sys/fs/cgroup/user.slice/cgroup.subtree_control", "memory\n"),
                ("sys/fs/cgroup/user.slice/session.scope/cgroup.subtree_control", "\n"),
            ],
        );
        let place = Cgroup::place(&root, "1").expect("a place");
        assert_eq!(place, Cgroup { folder: folder.join("sys/fs/cgroup/user.slice/kizami-1"), version: 2 });
        fs::write(folder.join("sys/fs/cgroup/user.slice/cgroup.subtree_control"), "pids\n").expect("a file");
        let place = Cgroup::place(&root, "1").expect("a place");
        assert_eq!(place.folder, folder.join("sys/fs/cgroup/kizami-1"));
        fs::remove_dir_all(folder).expect("our folder");
    }

    #[test]
    fn a_group_that_is_not_ours_is_never_touched() {
        let (_, folder) = tree("cgroup-other", &[("important/cgroup.procs", "")]);
        assert!(remove(&folder.join("important")).is_err());
        assert!(folder.join("important").exists());
        fs::remove_dir_all(folder).expect("our folder");
    }
}
