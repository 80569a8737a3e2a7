//! The limits that a process has by its control groups. See the kernel's cgroup-v1 folder and cgroup-v2.rst.

use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use kizami_recording::quantity::Quantity;

use super::cgroup::Group;
use crate::cpus;
use crate::root::{Root, words};

/// Each in its written form, or why it is not known. What is not limited is `none`.
#[derive(Debug)]
pub struct Limits {
    pub memory: Result<String, String>,
    /// How many processors' worth of time.
    pub processors: Result<String, String>,
    pub cpuset: Result<String, String>,
    /// How many control groups deep it lies, below the one that all processes are in at first.
    pub depth: Result<String, String>,
}

const NONE: &str = "none";

/// What limits `process`.
pub fn limits_of(root: &Root, process: u32) -> Limits {
    let read = |controller: &str, first: &[&str], second: &[&str]| -> Result<Vec<String>, String> {
        let group = Group::of(root, &process.to_string(), controller)?;
        let files = if group.version == 1 { first } else { second };
        let text = |file: &&str| {
            let path = group.folder.join(file);
            let text = fs::read_to_string(&path).map_err(|e| format!("{}: {}", path.display(), words(&e)));
            text.map(|text| text.trim().to_owned())
        };
        files.iter().map(text).collect()
    };
    let memory = read("memory", &["memory.limit_in_bytes"], &["memory.max"]).and_then(|said| memory(&said.concat()));
    let quota = read("cpu", &["cpu.cfs_quota_us", "cpu.cfs_period_us"], &["cpu.max"]);
    let set = read("cpuset", &["cpuset.effective_cpus"], &["cpuset.cpus.effective"]);
    let cpuset = set.and_then(|said| cpus::parse(&said.concat())).map(|list| cpus::write(&list));
    let group = Group::of(root, &process.to_string(), "cpu");
    let depth =
        group.map(|group| group.folder.strip_prefix(&group.top).map_or(0, |below| below.iter().count()).to_string());
    Limits { memory, processors: quota.and_then(|said| processors(&said.join(" "))), cpuset, depth }
}

/// Microseconds of each second that real-time threads of the whole machine may have, where each control group has a share of that of
/// its own, and none unless it is given one: there a group refuses such a policy. See the kernel's sched-rt-group.rst.
pub fn real_time_of_groups(root: &Root) -> Option<u64> {
    let group = Group::of(root, "self", "cpu").ok().filter(|group| group.version == 1)?;
    fs::read_to_string(group.top.join("cpu.rt_runtime_us")).ok()?.trim().parse().ok()
}

/// Waits until a new group could have that share of real time. The share of a group that was removed counts until the kernel has
/// forgotten the group, which takes some 10 to 100 ms.
pub fn await_real_time(root: &Root, microseconds: u64) {
    const LIMIT: Duration = Duration::from_secs(5);
    const LOOK: Duration = Duration::from_millis(5);
    let Some(group) = Group::of(root, "self", "cpu").ok().filter(|group| group.version == 1) else { return };
    // One name for all, so that what a killed lab has left is used and removed by the next.
    let tried = group.top.join("kizami-real-time");
    let share = tried.join("cpu.rt_runtime_us");
    let begun = Instant::now();
    let _ = fs::create_dir(&tried);
    let is_taken =
        || fs::write(&share, microseconds.to_string()).is_err_and(|e| e.raw_os_error() == Some(libc::EINVAL));
    while is_taken() && begun.elapsed() < LIMIT {
        thread::sleep(LOOK);
    }
    // Given back, it counts no more, whenever the kernel forgets this group.
    let _ = fs::write(&share, "0");
    let _ = fs::remove_dir(&tried);
}

/// Version 1 says a number of pages near the end of all numbers where there is no limit.
fn memory(said: &str) -> Result<String, String> {
    match said.parse::<u64>() {
        Ok(bytes) if bytes < 1 << 60 => Ok(Quantity::Size.write(bytes)),
        Ok(_) => Ok(NONE.into()),
        Err(_) if said == "max" => Ok(NONE.into()),
        Err(_) => Err(format!("the limit of its memory is {said:?}")),
    }
}

/// A quota and its period, both in microseconds.
fn processors(said: &str) -> Result<String, String> {
    match said.split_once(' ') {
        Some(("max" | "-1", _)) => Ok(NONE.into()),
        Some((quota, period)) => match (quota.parse::<f64>(), period.parse::<f64>()) {
            (Ok(quota), Ok(period)) if period > 0.0 => Ok(((quota / period * 100.0).round() / 100.0).to_string()),
            _ => Err(format!("its quota is {said:?}")),
        },
        None => Err(format!("its quota is {said:?}")),
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::tree;
    use super::*;

    #[test]
    fn groups_have_a_share_of_real_time_in_version_1_alone() {
        let found = |mounts: &str, said: Option<&str>| {
            let mut files = vec![("proc/self/mountinfo", mounts), ("proc/self/cgroup", "3:cpu:/a\n0::/\n")];
            files.extend(said.map(|said| ("sys/fs/cgroup/cpu/cpu.rt_runtime_us", said)));
            let (root, folder) = tree("real-time", &files);
            let found = real_time_of_groups(&root);
            fs::remove_dir_all(folder).expect("it is there");
            found
        };
        let first = "30 20 0:26 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n";
        assert_eq!(found(first, Some("950000\n")), Some(950_000));
        assert_eq!(found(first, None), None);
        assert_eq!(found("31 20 0:27 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n", None), None);
        // Without an end it is no number of microseconds.
        assert_eq!(found(first, Some("-1\n")), None);
    }

    #[test]
    fn limits_are_read_in_both_versions() {
        assert_eq!(memory("67108864"), Ok("64MiB".into()));
        assert_eq!(memory("9223372036854771712"), Ok("none".into()));
        assert_eq!(memory("max"), Ok("none".into()));
        assert_eq!(processors("50000 100000"), Ok("0.5".into()));
        assert_eq!(processors("150000 100000"), Ok("1.5".into()));
        assert_eq!(processors("-1 100000"), Ok("none".into()));
        assert_eq!(processors("max 100000"), Ok("none".into()));
        assert!(memory("").is_err() && processors("").is_err() && processors("1 0").is_err());
    }

    #[test]
    fn the_limits_of_a_process_are_those_of_its_own_groups() {
        let files = [
            ("proc/self/mountinfo", "31 20 0:27 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"),
            ("proc/7/cgroup", "0::/box\n"),
            ("sys/fs/cgroup/box/memory.max", "1048576\n"),
            ("sys/fs/cgroup/box/cpu.max", "25000 100000\n"),
            ("sys/fs/cgroup/box/cpuset.cpus.effective", "1\n"),
        ];
        let (root, folder) = tree("limits", &files);
        let limits = limits_of(&root, 7);
        assert_eq!(limits.memory, Ok("1MiB".into()));
        assert_eq!(limits.processors, Ok("0.25".into()));
        assert_eq!(limits.cpuset, Ok("1".into()));
        assert_eq!(limits.depth, Ok("1".into()));
        assert!(limits_of(&root, 8).memory.is_err(), "there is no such process");
        fs::remove_dir_all(folder).expect("our folder");
    }
}
