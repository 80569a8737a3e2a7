//! On which processors the two sides of a ring run, where both look before they sleep.
//!
//! A side that looks has work to do all the time. Where both are on one processor the one stands still until the kernel gives it to the other, and where its
//! disk interrupts the guest it does not look just when the answer is about to come (in a virtual machine an interrupt of the host is an exit). So the guest
//! keeps off the processors that its disks interrupt, and the thread that asks the disks keeps to these, where it is woken without a detour.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::mem::size_of;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::Path;

use crate::disk::Disk;
use crate::guest::Rings;

/// Where the two sides of a ring run.
#[derive(Clone, Copy)]
pub(crate) struct Places {
    guest: Processors,
    server: Processors,
}

impl Places {
    /// For the disks of a guest; `None` if they interrupt all processors that this thread has or none, or the kernel does not say: then that is left
    /// to the kernel, as it is where nobody looks.
    pub fn of(disks: &[Disk], rings: Rings) -> Option<Self> {
        if rings.poll.is_zero() {
            return None;
        }
        let interrupted: BTreeSet<usize> =
            disks.iter().flat_map(|disk| interrupted_by(disk.file()).unwrap_or_default()).collect();
        let allowed = Processors::allowed().ok()?.list();
        let (server, guest): (Vec<_>, Vec<_>) = allowed.into_iter().partition(|one| interrupted.contains(one));
        let of = Processors::of;
        (!server.is_empty() && !guest.is_empty()).then(|| Self { guest: of(&guest), server: of(&server) })
    }

    /// This thread is the guest's.
    pub fn keep_guest(&self) {
        self.guest.keep_to();
    }

    /// This thread does what the guest asks.
    pub fn keep_server(&self) {
        self.server.keep_to();
    }
}

/// Processors of the host.
#[derive(Clone, Copy)]
struct Processors(libc::cpu_set_t);

impl Processors {
    /// Those on which this thread may run.
    fn allowed() -> io::Result<Self> {
        let mut set = Self::of(&[]);
        // SAFETY: the set is there, and as long as is said.
        match unsafe { libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), &raw mut set.0) } {
            0 => Ok(set),
            _ => Err(io::Error::last_os_error()),
        }
    }

    fn of(list: &[usize]) -> Self {
        // SAFETY: a set is bits, all of which may be 0.
        let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
        for processor in list.iter().filter(|processor| **processor < libc::CPU_SETSIZE as usize) {
            // SAFETY: the number is one that a set has.
            unsafe { libc::CPU_SET(*processor, &mut set) };
        }
        Self(set)
    }

    fn list(&self) -> Vec<usize> {
        // SAFETY: the numbers are those that a set has.
        (0..libc::CPU_SETSIZE as usize).filter(|processor| unsafe { libc::CPU_ISSET(*processor, &self.0) }).collect()
    }

    /// Lets this thread run on them alone. Where that is refused it runs where it did: it is slower there, and no less right.
    fn keep_to(&self) {
        // SAFETY: the set is there, and as long as is said.
        unsafe { libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &raw const self.0) };
    }
}

/// The processors that the device interrupts on which a file lies. None where the kernel does not say it: file systems of several devices, and
/// devices of software.
fn interrupted_by(file: &File) -> io::Result<BTreeSet<usize>> {
    let of = file.metadata()?;
    let device = if of.file_type().is_block_device() { of.rdev() } else { of.dev() };
    let device = format!("/sys/dev/block/{}:{}", libc::major(device), libc::minor(device));
    let device = fs::canonicalize(device)?;
    let Some(interrupts) = device.ancestors().map(|folder| folder.join("msi_irqs")).find(|folder| folder.is_dir())
    else {
        return Ok(BTreeSet::new());
    };
    // A device has interrupts that hardly ever come: of its configuration, and of queues that nobody uses.
    let came = interrupts_of(&interrupts)?;
    let most = came.iter().map(|(count, _)| *count).max().unwrap_or(0);
    Ok(came.into_iter().filter(|(count, _)| *count > most / 100).flat_map(|(_, processors)| processors).collect())
}

/// How often each came, and where it comes now.
fn interrupts_of(folder: &Path) -> io::Result<Vec<(u64, Vec<usize>)>> {
    let told = fs::read_dir(folder)?.map(|interrupt| {
        let name = interrupt?.file_name();
        let counts = fs::read_to_string(Path::new("/sys/kernel/irq").join(&name).join("per_cpu_count"))?;
        let list = fs::read_to_string(Path::new("/proc/irq").join(&name).join("effective_affinity_list"))?;
        Ok((counts.trim().split(',').filter_map(|count| count.parse::<u64>().ok()).sum(), numbers(&list)))
    });
    told.collect()
}

/// The numbers of a list like `0-3,8`, as the kernel writes it.
fn numbers(list: &str) -> Vec<usize> {
    let ranges = list.trim().split(',').filter_map(|range| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        Some(first.parse::<usize>().ok()?..=last.parse::<usize>().ok()?.min(libc::CPU_SETSIZE as usize))
    });
    ranges.flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_the_kernel_are_read() {
        assert_eq!(numbers("1\n"), [1]);
        assert_eq!(numbers("0-2,5\n"), [0, 1, 2, 5]);
        assert_eq!(numbers("\n"), [0usize; 0]);
        assert_eq!(numbers("x-3,4"), [4]);
    }

    #[test]
    fn a_thread_keeps_to_its_processors() {
        let all = Processors::allowed().unwrap();
        let one = Processors::of(&all.list()[..1]);
        std::thread::spawn(move || {
            one.keep_to();
            assert_eq!(Processors::allowed().unwrap().list(), one.list());
        })
        .join()
        .unwrap();
        assert_eq!(Processors::allowed().unwrap().list(), all.list());
    }

    /// What the kernel says of a file here is read, or it says nothing.
    #[test]
    fn a_disk_interrupts_processors_that_there_are() {
        let file = tempfile().unwrap();
        let there = fs::read_to_string("/sys/devices/system/cpu/possible").map(|list| numbers(&list)).unwrap();
        assert!(interrupted_by(&file).unwrap_or_default().iter().all(|processor| there.contains(processor)));
    }

    fn tempfile() -> io::Result<File> {
        File::open(std::env::current_exe()?)
    }
}
