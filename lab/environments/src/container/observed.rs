//! What is in force for a container, read from this machine's view of the process in it.

use kizami_recording::folder::Effective;
use kizami_settings::{Root, Settings, field, mounts, system};

use super::engine::SCRATCH;
use super::veth;
use crate::link::NETWORK;
use crate::probe::compared;

/// The settings of a container that holds `process`, compared with those that were asked for.
pub(super) fn observed(process: u32, asked: &Settings) -> Vec<(String, Effective)> {
    let root = Root::machine();
    let read = |file: &str| root.read(&format!("proc/{process}/{file}")).map_err(|e| e.to_string());
    let mut found = vec![
        ("files_on", read("mountinfo").and_then(|table| files(&table))),
        ("seccomp", read("status").and_then(|status| seccomp(&status))),
        ("init", read("status").and_then(|status| init(&status))),
    ];
    found.push((NETWORK, read("net/dev").map(|table| (veth::observed(&table).to_owned(), String::new()))));
    let limits = system::limits_of(&root, process);
    found.push(("cgroup_depth", limits.depth.map(|depth| (depth, String::new()))));
    let limits = [("cpu_limit", limits.processors), ("cpuset", limits.cpuset), ("memory_limit", limits.memory)];
    let asked_for = limits.into_iter().filter(|(name, _)| asked.get(name).is_some());
    found.extend(asked_for.map(|(name, value)| (name, value.map(|value| (value, String::new())))));
    found.into_iter().map(|(name, read)| (name.to_owned(), compared(asked.get(name), read))).collect()
}

/// The file system under [`SCRATCH`]: one that is mounted there, or that of the root.
fn files(table: &str) -> Result<(String, String), String> {
    match mounts::under(table, SCRATCH).map(|mount| (mount.root, mount.point, mount.kind)) {
        // Of a file system of the host a folder is mounted, and of one of its own the whole.
        Some((root, SCRATCH, kind)) if root != "/" => Ok(("bind".into(), format!("a folder of the host on {kind}"))),
        // An engine that cannot have layers where it keeps its containers copies all of an image for each of them.
        Some((root, _, kind)) if root != "/" => {
            Ok(("bind".into(), format!("the root of the container is a folder of the host on {kind}, and no overlay above an image")))
        }
        Some((_, _, kind @ ("overlay" | "tmpfs"))) => Ok((kind.to_owned(), String::new())),
        Some((_, SCRATCH, kind)) => Ok(("bind".into(), format!("a file system of the host, {kind}"))),
        Some((_, _, kind)) => Ok((kind.to_owned(), "the root file system of the container".into())),
        None => Err("its mounts do not tell".into()),
    }
}

fn seccomp(status: &str) -> Result<(String, String), String> {
    match field(status, "Seccomp") {
        Some("0") => Ok(("off".into(), String::new())),
        Some("2") => {
            let filters = field(status, "Seccomp_filters").unwrap_or("some");
            Ok(("on".into(), format!("filters in force: {filters}")))
        }
        other => Err(format!("the kernel says Seccomp {}", other.unwrap_or("nothing"))),
    }
}

/// Whether another process is the first of its namespace, by the number that it has there.
fn init(status: &str) -> Result<(String, String), String> {
    let numbers = field(status, "NSpid").ok_or("the kernel does not say which number it has there (NSpid)")?;
    Ok((if numbers.split_whitespace().next_back() == Some("1") { "off" } else { "on" }.into(), String::new()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_where_the_innermost_mount_is() {
        let root = "1 0 0:40 / / rw - overlay overlay rw,lowerdir=/a\n";
        let on = |more: &str| files(&format!("{root}{more}")).map(|(value, _)| value);
        assert_eq!(on(""), Ok("overlay".into()));
        assert_eq!(on("2 1 254:0 /x /scratch rw - ext4 /dev/vda rw\n"), Ok("bind".into()));
        assert_eq!(on("2 1 0:39 /x /scratch rw - overlay overlay rw\n"), Ok("bind".into()));
        assert_eq!(on("2 1 0:42 / /scratch rw - overlay overlay rw\n"), Ok("overlay".into()));
        assert_eq!(on("2 1 0:41 / /scratch rw - tmpfs tmpfs rw\n"), Ok("tmpfs".into()));
        assert_eq!(on("2 1 0:41 / /dev rw - tmpfs tmpfs rw\n"), Ok("overlay".into()));
        assert!(files("").is_err());
        let copied = files("1 0 0:40 /lib/docker/vfs/dir/x / rw - overlay overlay rw\n").expect("a folder");
        assert!(copied.0 == "bind" && copied.1.contains("no overlay"), "{copied:?}");
    }

    #[test]
    fn what_did_not_take_effect_is_told() {
        let read = |value: &str| Ok((value.to_owned(), String::new()));
        let off = compared(Some("off"), read("on"));
        assert!(!off.as_requested && off.why.contains("did not take effect"), "{off:?}");
        assert!(compared(None, read("on")).as_requested);
        assert_eq!(seccomp("Seccomp:\t2\nSeccomp_filters:\t1\n"), Ok(("on".into(), "filters in force: 1".into())));
        assert!(seccomp("").is_err());
        assert_eq!(init("NSpid:\t4021\t1\n"), Ok(("off".into(), String::new())));
        assert_eq!(init("NSpid:\t4021\t12\n"), Ok(("on".into(), String::new())));
        assert!(init("Pid:\t1\n").is_err());
    }
}
