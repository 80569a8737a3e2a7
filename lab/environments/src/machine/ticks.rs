//! How fast the counter of this machine's processor runs, by which an emulated one counts too.
//!
//! A kernel measures that when it comes up, against another clock of the machine. On an emulated machine reading a clock takes
//! so long, and so unevenly, that Linux gives up: where there is a good second clock it takes that (HPET), and where there
//! is none, as on a microvm, it has no clock at all and hangs in its first second. So the kernel is told.

use std::sync::OnceLock;
use std::time::Duration;

use kizami_workloads::clock_ns;

/// The time over which it is counted. A pair of readings is some tenths of a microsecond apart, or some microseconds where a
/// hypervisor answers for the counter: so the error is below one in ten thousand.
const OVER: Duration = Duration::from_millis(50);
/// Of so many readings the one is taken that took the least time.
const TRIES: usize = 32;

/// Thousands of ticks a second, counted once; none where the processor has another counter than the emulated one reads.
pub(super) fn khz() -> Option<u64> {
    static KHZ: OnceLock<Option<u64>> = OnceLock::new();
    *KHZ.get_or_init(|| {
        let (ticks, time) = reading()?;
        std::thread::sleep(OVER);
        let (later_ticks, later) = reading()?;
        Some(((later_ticks - ticks) as f64 * 1e6 / (later - time) as f64).round() as u64)
    })
}

/// The counter, and the time of this machine's clock at that moment.
fn reading() -> Option<(u64, u64)> {
    let one = || {
        let before = clock_ns();
        let ticks = counter()?;
        let took = clock_ns() - before;
        Some((took, ticks, before + took / 2))
    };
    let readings = (0..TRIES).map(|_| one()).collect::<Option<Vec<_>>>()?;
    readings.into_iter().min_by_key(|reading| reading.0).map(|(_, ticks, time)| (ticks, time))
}

#[cfg(target_arch = "x86_64")]
fn counter() -> Option<u64> {
    // SAFETY: every x86-64 processor has the instruction, and a program that may not use it is ended here and not in QEMU.
    Some(unsafe { core::arch::x86_64::_rdtsc() })
}

#[cfg(not(target_arch = "x86_64"))]
fn counter() -> Option<u64> {
    None
}
