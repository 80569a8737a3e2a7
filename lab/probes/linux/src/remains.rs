//! What is left of a daemon that ended: processes that it started, mounts, folders and control groups.

use std::collections::BTreeSet;
use std::ffi::CString;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use kizami_settings::system;

const CGROUPS: &str = "/sys/fs/cgroup";

/// Kills every process in whose command line `folders` are named, with all that it started: what serves a container outlives a
/// daemon that was killed, and was told where that daemon's files are.
pub fn kill_what_names(folders: &[PathBuf]) {
    let names = |line: &[u8]| {
        let name = |folder: &PathBuf| {
            let folder = [folder.as_os_str().as_bytes(), b"/"].concat();
            line.windows(folder.len()).any(|words| words == folder)
        };
        folders.iter().any(name)
    };
    let processes = processes();
    let own = std::process::id();
    let mut doomed: BTreeSet<u32> = processes
        .iter()
        .map(|process| process.0)
        .filter(|&pid| pid != own && fs::read(format!("/proc/{pid}/cmdline")).is_ok_and(|line| names(&line)))
        .collect();
    let mut grown = true;
    while grown {
        let children = processes.iter().filter(|(_, parent)| doomed.contains(parent)).map(|process| process.0);
        let more: Vec<u32> = children.filter(|pid| !doomed.contains(pid)).collect();
        grown = !more.is_empty();
        doomed.extend(more);
    }
    doomed.into_iter().for_each(kill);
}

fn kill(pid: u32) {
    // SAFETY: the call takes numbers. One that has ended by itself is no failure.
    unsafe { libc::kill(pid as libc::pid_t, libc::SIGKILL) };
}

/// The processes of this machine, each with its parent.
fn processes() -> Vec<(u32, u32)> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let with_parent = |pid: u32| {
        // pid (name) state parent …
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        Some((pid, stat.rsplit_once(") ")?.1.split(' ').nth(1)?.parse().ok()?))
    };
    pids.filter_map(with_parent).collect()
}

/// Removes the control group `name` at the root of every hierarchy, with those in it, after their processes were killed.
pub fn remove_cgroup(name: &str) -> Result<(), String> {
    let hierarchies = fs::read_dir(CGROUPS).into_iter().flatten().flatten().map(|entry| entry.path());
    let groups = hierarchies.chain([CGROUPS.into()]).map(|hierarchy| hierarchy.join(name));
    groups.filter(|group| group.is_dir()).try_for_each(|group| system::remove_cgroup(&group))
}

/// Removes a folder, after what is mounted in it was taken away.
pub fn remove_folder(folder: &Path) -> io::Result<()> {
    for point in mounts_in(folder, &fs::read_to_string("/proc/self/mountinfo").unwrap_or_default()) {
        if let Ok(point) = CString::new(point.as_os_str().as_bytes()) {
            // SAFETY: a path that ends in NUL. What cannot be taken away keeps the folder, and that is told.
            unsafe { libc::umount2(point.as_ptr(), libc::MNT_DETACH) };
        }
    }
    match fs::remove_dir_all(folder) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(e),
        _ => Ok(()),
    }
}

/// Where something is mounted in `folder`, the innermost first, by a table as in proc(5).
fn mounts_in(folder: &Path, table: &str) -> Vec<PathBuf> {
    let point = |line: &str| line.split(' ').nth(4).map(|point| PathBuf::from(unescaped(point)));
    let mut points: Vec<PathBuf> = table.lines().filter_map(point).filter(|p| p.starts_with(folder)).collect();
    points.reverse();
    points
}

/// The kernel writes a blank in a path as `\040`.
fn unescaped(path: &str) -> String {
    path.replace("\\040", " ").replace("\\011", "\t").replace("\\012", "\n").replace("\\134", "\\")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_mounted_in_a_folder_is_found_the_innermost_first() {
        let table = "22 1 0:20 / / rw - ext4 /dev/a rw\n\
                     30 22 0:31 / /tmp/a\\040b rw - tmpfs none rw\n\
                     31 30 0:32 / /tmp/a\\040b/c rw - overlay none rw\n\
                     32 22 0:33 / /tmp/abc rw - tmpfs none rw\n";
        let found = mounts_in(Path::new("/tmp/a b"), table);
        assert_eq!(found, [PathBuf::from("/tmp/a b/c"), PathBuf::from("/tmp/a b")]);
    }
}
