//! Which file system lies under a folder, as a process sees it: its `/proc/PID/mountinfo` (proc_pid_mountinfo(5)).

/// A file system, where it is mounted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mount<'a> {
    /// Which folder of the file system stands there: `/` for the whole.
    pub root: &'a str,
    pub point: &'a str,
    /// Its type, such as `ext4`.
    pub kind: &'a str,
    /// What it is on: a device, or a name of its own.
    pub source: &'a str,
}

/// The file system under `folder`, by the text of a table of mounts. Of two at one place, the later lies above the other.
pub fn under<'a>(table: &'a str, folder: &str) -> Option<Mount<'a>> {
    let holds = |mount: &Mount<'_>| {
        let rest = folder.strip_prefix(mount.point.trim_end_matches('/'));
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    table.lines().filter_map(mount).filter(holds).max_by_key(|mount| mount.point.len())
}

/// `36 35 98:0 /root /point options - type source options`
fn mount(line: &str) -> Option<Mount<'_>> {
    let (before, after) = line.split_once(" - ")?;
    let (mut before, mut after) = (before.split(' ').skip(3), after.split(' '));
    Some(Mount { root: before.next()?, point: before.next()?, kind: after.next()?, source: after.next()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "1 0 0:2 / / rw - rootfs rootfs rw\n\
                         20 1 0:5 / /dev rw - devtmpfs devtmpfs rw\n\
                         23 1 0:21 / /tmp rw - tmpfs tmpfs rw\n\
                         24 23 254:0 / /tmp rw,relatime shared:1 - ext4 /dev/vda rw\n\
                         25 1 254:1 /a /data rw - xfs /dev/vdb rw\n\
                         no table\n";

    #[test]
    fn the_innermost_and_uppermost_is_found() {
        let on = |folder| under(TABLE, folder).map(|mount| (mount.root, mount.kind, mount.source));
        assert_eq!(on("/tmp/scratch"), Some(("/", "ext4", "/dev/vda")));
        assert_eq!(on("/tmp"), Some(("/", "ext4", "/dev/vda")));
        assert_eq!(on("/tmpfiles"), Some(("/", "rootfs", "rootfs")), "another name that begins alike");
        assert_eq!(on("/data/x"), Some(("/a", "xfs", "/dev/vdb")));
        assert_eq!(under("", "/tmp"), None);
    }
}
