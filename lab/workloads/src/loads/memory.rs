//! Memory traffic: copies that do not fit into the caches, and pages that are taken from the kernel and given back.
//!
//! The copies evict a measurement's data from the shared cache and take memory bandwidth; the pages keep the kernel's
//! page allocator, zeroing and remote TLB invalidation busy.

use std::fs;

use super::load::{Load, LoadBench, allowed_cpus};
use crate::bench::Failure;

pub(super) static LOAD: Load = Load {
    name: "memory",
    about: "On every allowed processor, copies between two buffers that together are twice the last-level cache (at \
            most an eighth of the available memory), and after each copied MiB takes 1 MiB of fresh pages, touches them \
            and gives them back. An operation is one copied MiB with its fresh pages.",
    run,
};

const MIB: usize = 1 << 20;

fn run(bench: &LoadBench<'_>) -> Result<(), Failure> {
    let cpus = allowed_cpus()?.len();
    let all = (2 * last_level_cache()).min(available() / 8).max(4 * MIB);
    let half = (all / 2 / cpus).next_multiple_of(MIB);
    std::thread::scope(|scope| {
        let mut threads = Vec::new();
        for _ in 1..cpus {
            let thread = std::thread::Builder::new().name("load-memory".into());
            match thread.spawn_scoped(scope, move || turn(bench, half)) {
                Ok(thread) => threads.push(thread),
                Err(source) => {
                    return Err(Failure::Os { doing: "start a thread of the memory load".into(), source });
                }
            }
        }
        let own = turn(bench, half);
        let others =
            threads.into_iter().map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        others.fold(own, Result::and)
    })
}

fn turn(bench: &LoadBench<'_>, half: usize) -> Result<(), Failure> {
    let mut buffer = Pages::take(2 * half)?;
    let (from, to) = buffer.bytes().split_at_mut(half);
    loop {
        for at in (0..half).step_by(MIB) {
            if bench.stopped() {
                return Ok(());
            }
            to[at..at + MIB].copy_from_slice(&from[at..at + MIB]);
            let mut fresh = Pages::take(MIB)?;
            for byte in fresh.bytes().iter_mut().step_by(4096) {
                *byte = 1;
            }
            std::hint::black_box(fresh.bytes());
            bench.did(1);
        }
    }
}

/// Fresh anonymous pages, given back when dropped.
struct Pages {
    first: *mut u8,
    len: usize,
}

impl Pages {
    fn take(len: usize) -> Result<Self, Failure> {
        let (protection, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        // SAFETY: a new mapping, placed by the kernel, touches no memory that exists.
        let first = unsafe { libc::mmap(std::ptr::null_mut(), len, protection, flags, -1, 0) };
        if first == libc::MAP_FAILED {
            return Err(Failure::last_os(format!("take {} MiB of memory for the memory load", len / MIB)));
        }
        Ok(Self { first: first.cast(), len })
    }

    fn bytes(&mut self) -> &mut [u8] {
        // SAFETY: mapped for reading and writing until the drop, zeroed by the kernel, and ours alone.
        unsafe { std::slice::from_raw_parts_mut(self.first, self.len) }
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        // SAFETY: the mapping of `take`, to which no reference outlives self.
        unsafe { libc::munmap(self.first.cast(), self.len) };
    }
}

/// The size of the largest cache that processor 0 sees, or 32 MiB where the kernel does not say.
fn last_level_cache() -> usize {
    let caches = fs::read_dir("/sys/devices/system/cpu/cpu0/cache").into_iter().flatten().flatten();
    let sizes = caches.filter_map(|cache| fs::read_to_string(cache.path().join("size")).ok());
    sizes.filter_map(|size| cache_size(size.trim())).max().unwrap_or(32 * MIB)
}

/// `2048K` in bytes.
fn cache_size(text: &str) -> Option<usize> {
    let number_at = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(number_at);
    let factor = match unit {
        "K" => 1 << 10,
        "M" => 1 << 20,
        "" => 1,
        _ => return None,
    };
    number.parse::<usize>().ok()?.checked_mul(factor)
}

/// What the kernel thinks can still be taken, or 256 MiB where it does not say.
fn available() -> usize {
    let meminfo = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:"));
    let kib = line.and_then(|rest| rest.trim().trim_end_matches("kB").trim().parse::<usize>().ok());
    kib.map_or(256 * MIB, |kib| kib.saturating_mul(1024))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_of_caches_are_read_as_the_kernel_writes_them() {
        assert_eq!(cache_size("48K"), Some(48 << 10));
        assert_eq!(cache_size("32M"), Some(32 << 20));
        assert_eq!(cache_size("512"), Some(512));
        assert_eq!(cache_size("many"), None);
    }
}
