//! How often the disk under a folder was told to write out its cache, as the kernel of this machine counts it: what a sync of a probe
//! comes to in the end, whatever is between.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The disk under a folder.
#[derive(Debug)]
pub(crate) struct Disk {
    /// Its folder in sysfs.
    folder: PathBuf,
}

impl Disk {
    /// `None` where no single disk is known, or it has no cache: then the kernel tells it nothing, and there is nothing to count.
    pub fn under(folder: &Path) -> Option<Self> {
        let device = fs::metadata(folder).ok()?.dev();
        let (major, minor) = (libc::major(device), libc::minor(device));
        Self::at(&fs::canonicalize(format!("/sys/dev/block/{major}:{minor}")).ok()?)
    }

    fn at(found: &Path) -> Option<Self> {
        // Flushes are counted of the whole disk.
        let folder = if found.join("partition").exists() { found.parent()? } else { found };
        let cache = fs::read_to_string(folder.join("queue/write_cache")).ok()?;
        (cache.trim() == "write back").then(|| Self { folder: folder.to_owned() })
    }

    /// How many there were since the machine was started.
    pub fn flushes(&self) -> Option<u64> {
        counted(&fs::read_to_string(self.folder.join("stat")).ok()?)
    }
}

/// The number of flushes in a `stat` file of the kernel (Documentation/block/stat.rst), which it has since Linux 5.5.
fn counted(stat: &str) -> Option<u64> {
    stat.split_whitespace().nth(15)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flushes_are_the_sixteenth_number() {
        let stat = " 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17\n";
        assert_eq!(counted(stat), Some(16));
        assert_eq!(counted("1 2 3 4 5 6 7 8 9 10 11\n"), None);
    }

    #[test]
    fn a_partition_is_counted_with_its_disk_and_one_without_a_cache_not_at_all() {
        let folder = std::env::temp_dir().join(format!("kizami-flushes-{}", std::process::id()));
        let disk = folder.join("sda");
        fs::create_dir_all(disk.join("queue")).unwrap();
        fs::create_dir_all(disk.join("sda1")).unwrap();
        fs::write(disk.join("sda1/partition"), "1\n").unwrap();
        fs::write(disk.join("stat"), "0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 7 0\n").unwrap();
        fs::write(disk.join("queue/write_cache"), "write back\n").unwrap();
        for at in [&disk, &disk.join("sda1")] {
            assert_eq!(Disk::at(at).unwrap().flushes(), Some(7));
        }
        fs::write(disk.join("queue/write_cache"), "write through\n").unwrap();
        assert!(Disk::at(&disk).is_none());
        fs::remove_dir_all(folder).unwrap();
    }
}
