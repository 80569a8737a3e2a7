//! The clock: the processor's time-stamp counter, scaled to nanoseconds.
//!
//! The clock of the system may count in tens of nanoseconds, as that of a virtual machine does, and a measured service
//! takes thirty. So the time-stamp counter is read, which runs at one rate on every CPU. It is compared with the
//! system's clock once, before the measurement.

use core::arch::x86_64::{__rdtscp, _mm_lfence, _rdtsc};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use kizami_workloads::clock_ns;

/// Nanoseconds of one tick, times 2³².
static SCALE: AtomicU64 = AtomicU64::new(0);

/// The ticks before what follows; nothing of it begins earlier.
#[inline(always)]
pub fn before() -> u64 {
    // SAFETY: every x86-64 has these instructions.
    unsafe {
        _mm_lfence();
        let ticks = _rdtsc();
        _mm_lfence();
        ticks
    }
}

/// The ticks after what came before; nothing of it ends later.
#[inline(always)]
pub fn after() -> u64 {
    let mut cpu = 0;
    // SAFETY: `calibrate` has seen that the processor has the instruction.
    unsafe {
        let ticks = __rdtscp(&mut cpu);
        _mm_lfence();
        ticks
    }
}

/// Ticks as nanoseconds.
#[inline(always)]
pub fn nanoseconds(ticks: u64) -> u64 {
    let scaled = u128::from(ticks) * u128::from(SCALE.load(Relaxed));
    ((scaled + (1 << 31)) >> 32) as u64
}

/// Sets the counter beside the system's clock. Gives nanoseconds for a tick.
///
/// # Errors
/// A sentence, when the processor has no such counter.
pub fn calibrate() -> Result<f64, String> {
    let about = std::fs::read_to_string("/proc/cpuinfo").map_err(|e| format!("cannot read /proc/cpuinfo: {e}"))?;
    let flags = about.lines().find(|line| line.starts_with("flags")).unwrap_or_default();
    for flag in ["constant_tsc", "nonstop_tsc", "rdtscp"] {
        if !flags.split_whitespace().any(|word| word == flag) {
            return Err(format!("this processor does not say {flag}: its counter tells no time"));
        }
    }
    let pair = || (clock_ns(), after());
    let (begun, ticks) = pair();
    std::thread::sleep(Duration::from_millis(100));
    let (ended, more) = pair();
    let of_one = (ended - begun) as f64 / (more - ticks) as f64;
    SCALE.store((of_one * 2f64.powi(32)) as u64, Relaxed);
    Ok(of_one)
}

/// The median of many pairs, in nanoseconds: what taking the time costs, here and now.
pub fn pair(of_one: f64) -> f64 {
    let mut pairs = [0u64; 10_001];
    for pair in &mut pairs {
        let begun = before();
        *pair = after() - begun;
    }
    pairs.sort_unstable();
    pairs[pairs.len() / 2] as f64 * of_one
}
