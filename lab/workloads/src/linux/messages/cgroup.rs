//! A control group with a memory limit, made for one trial.
//!
//! Both versions of the memory controller are supported. The group is named for the process that made it, and removed
//! when its value is dropped. An empty group whose process no longer exists, left by a run that was killed, is removed
//! by the next run. The processes in the group are the caller's, who must end them before the drop.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::fd::{AsRawFd, RawFd};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::bench::Failure;

const PREFIX: &str = "kizami-";

/// What a version calls its files.
#[derive(Debug)]
struct Names {
    limit: &'static str,
    swap: &'static str,
    swap_value: fn(u64) -> u64,
    usage: &'static str,
    events: &'static str,
}

/// Swap counts on top of memory in version 2, and together with it in version 1.
const V1: Names = Names {
    limit: "memory.limit_in_bytes",
    swap: "memory.memsw.limit_in_bytes",
    swap_value: |limit| limit,
    usage: "memory.usage_in_bytes",
    events: "memory.oom_control",
};
const V2: Names = Names {
    limit: "memory.max",
    swap: "memory.swap.max",
    swap_value: |_| 0,
    usage: "memory.current",
    events: "memory.events",
};

#[derive(Debug)]
pub(super) struct Cgroup {
    folder: PathBuf,
    names: &'static Names,
    /// A process joins by writing `0` here.
    procs: File,
    usage: File,
}

impl Cgroup {
    /// A new group that may use `limit` bytes and no swap.
    ///
    /// # Errors
    /// What is missing, and what would allow it.
    pub(super) fn create(limit: u64) -> Result<Self, Failure> {
        let (parents, names) = parents()?;
        let mut refused = Vec::new();
        for parent in parents {
            remove_leftovers(&parent);
            match Self::create_in(&parent, names, limit) {
                Ok(group) => return Ok(group),
                Err(why) => refused.push(format!("{}: {why}", parent.display())),
            }
        }
        Err(Failure::Impossible(format!(
            "growing until memory runs out needs a control group with limited memory, and none could be made ({}): run as \
             root, or under a service manager that delegates the memory controller (systemd-run --user --scope -p \
             Delegate=yes)",
            refused.join("; ")
        )))
    }

    fn create_in(parent: &Path, names: &'static Names, limit: u64) -> io::Result<Self> {
        let folder = parent.join(format!("{PREFIX}{}", std::process::id()));
        if !parent.join(names.limit).exists() {
            // In version 2 the parent hands the controller down only when it is told to.
            let _ = fs::write(parent.join("cgroup.subtree_control"), "+memory");
        }
        fs::create_dir(&folder)?;
        let open = || {
            fs::write(folder.join(names.limit), limit.to_string())?;
            // Without swap accounting the file is not there, and without swap it is not needed.
            let _ = fs::write(folder.join(names.swap), (names.swap_value)(limit).to_string());
            let procs = OpenOptions::new().write(true).open(folder.join("cgroup.procs"))?;
            Ok((procs, File::open(folder.join(names.usage))?))
        };
        match open() {
            Ok((procs, usage)) => Ok(Self { folder, names, procs, usage }),
            Err(e) => {
                let _ = fs::remove_dir(&folder);
                Err(e)
            }
        }
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// For [`join`].
    pub(super) fn door(&self) -> RawFd {
        self.procs.as_raw_fd()
    }

    /// The file that holds what the group uses, in bytes.
    pub(super) fn usage(&self) -> &File {
        &self.usage
    }

    /// The limit that is in force.
    pub(super) fn limit(&self) -> io::Result<u64> {
        let text = fs::read_to_string(self.folder.join(self.names.limit))?;
        text.trim().parse().map_err(io::Error::other)
    }

    /// How many processes of the group the kernel killed for want of memory.
    pub(super) fn oom_kills(&self) -> io::Result<u64> {
        let events = fs::read_to_string(self.folder.join(self.names.events))?;
        let count = events.lines().find_map(|line| line.strip_prefix("oom_kill "));
        count
            .and_then(|count| count.trim().parse().ok())
            .ok_or_else(|| io::Error::other("there is no count of oom_kill"))
    }
}

impl Drop for Cgroup {
    fn drop(&mut self) {
        // The kernel lets go of processes a moment after they were reaped.
        for _ in 0..200 {
            match fs::remove_dir(&self.folder) {
                Err(e) if e.raw_os_error() == Some(libc::EBUSY) => std::thread::sleep(Duration::from_millis(5)),
                _ => return,
            }
        }
    }
}

/// Moves the calling process into the group behind `door`. Only a system call: for use after a fork.
pub(super) fn join(door: RawFd) -> io::Result<()> {
    // SAFETY: one byte of a constant.
    match unsafe { libc::write(door, c"0".as_ptr().cast(), 1) } {
        1 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Where a group may be made, best first, and how its version names things.
fn parents() -> Result<(Vec<PathBuf>, &'static Names), Failure> {
    let read = |path: &str| fs::read_to_string(path).map_err(Failure::os(format!("read {path}")));
    let (mounts, own) = (read("/proc/self/mounts")?, read("/proc/self/cgroup")?);
    let none = || {
        Failure::Impossible(
            "growing until memory runs out needs a control group with limited memory, and no memory controller is \
             mounted here: mount cgroup2 on /sys/fs/cgroup, or run outside of this container"
                .into(),
        )
    };
    find_parents(&mounts, &own).ok_or_else(none)
}

/// From the text of /proc/self/mounts and /proc/self/cgroup.
fn find_parents(mounts: &str, own: &str) -> Option<(Vec<PathBuf>, &'static Names)> {
    let mount = |kind: &str, option: &str| {
        mounts.lines().find_map(|line| {
            let mut words = line.split(' ').skip(1);
            let (at, is, options) = (words.next()?, words.next()?, words.next()?);
            (is == kind && (option.is_empty() || options.split(',').any(|o| o == option))).then(|| PathBuf::from(at))
        })
    };
    // Lines are `number:controllers:/path`; version 2 has number 0 and no controllers.
    let path = |controller: &str| {
        own.lines().find_map(|line| {
            let mut words = line.splitn(3, ':').skip(1);
            let (controllers, path) = (words.next()?, words.next()?);
            controllers.split(',').any(|c| c == controller).then(|| path.trim_start_matches('/').to_owned())
        })
    };
    if let Some(root) = mount("cgroup", "memory") {
        let own = path("memory").map(|own| root.join(own));
        return Some((without_repeats([Some(root), own]), &V1));
    }
    let root = mount("cgroup2", "")?;
    let own = path("").map(|own| root.join(own));
    // A group that has processes cannot hand controllers down, so the one above is the better place.
    let above = own.as_deref().and_then(Path::parent).filter(|above| above.starts_with(&root)).map(Path::to_owned);
    Some((without_repeats([above, own, Some(root)]), &V2))
}

fn without_repeats<const N: usize>(paths: [Option<PathBuf>; N]) -> Vec<PathBuf> {
    let mut all: Vec<PathBuf> = Vec::new();
    for path in paths.into_iter().flatten() {
        // The root joined with nothing ends in a slash; as components they are the same.
        if !all.contains(&path) {
            all.push(path);
        }
    }
    all
}

/// Removes the groups of earlier runs whose process is gone. Only empty ones can be, so nothing of anybody is lost.
fn remove_leftovers(parent: &Path) {
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let pid = name.to_str().and_then(|name| name.strip_prefix(PREFIX)).and_then(|pid| pid.parse::<u32>().ok());
        if pid.is_some_and(|pid| !Path::new(&format!("/proc/{pid}")).exists()) {
            let _ = fs::remove_dir(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_version_is_used_where_it_has_the_memory_controller() {
        let mounts = "tmpfs /sys/fs/cgroup tmpfs rw 0 0\n\
                      cgroup /sys/fs/cgroup/cpu cgroup rw,cpu 0 0\n\
                      cgroup /sys/fs/cgroup/memory cgroup rw,relatime,memory 0 0\n\
                      cgroup2 /sys/fs/cgroup/unified cgroup2 rw 0 0\n";
        let (parents, names) = find_parents(mounts, "4:memory:/jobs/7\n1:cpu:/\n0::/\n").expect("a place");
        let paths = ["/sys/fs/cgroup/memory", "/sys/fs/cgroup/memory/jobs/7"].map(PathBuf::from);
        assert_eq!(parents, paths);
        assert_eq!(names.limit, V1.limit);
    }

    #[test]
    fn the_second_version_is_used_beside_the_own_group_first() {
        let mounts = "cgroup2 /sys/fs/cgroup cgroup2 rw,nsdelegate 0 0\n";
        let (parents, names) = find_parents(mounts, "0::/user.slice/a.scope\n").expect("a place");
        let paths =
            ["/sys/fs/cgroup/user.slice", "/sys/fs/cgroup/user.slice/a.scope", "/sys/fs/cgroup"].map(PathBuf::from);
        assert_eq!(parents, paths);
        assert_eq!(names.limit, V2.limit);
        let (parents, _) = find_parents(mounts, "0::/\n").expect("a place");
        assert_eq!(parents, [PathBuf::from("/sys/fs/cgroup")]);
    }

    #[test]
    fn no_controller_is_no_place() {
        assert!(find_parents("proc /proc proc rw 0 0\n", "0::/\n").is_none());
        assert!(find_parents("", "").is_none());
    }
}
