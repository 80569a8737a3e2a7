//! Numbers of orders, timers, monitors and tasks. The answer to an order bears its number.

use std::sync::atomic::{AtomicU64, Ordering};

static NEXT: AtomicU64 = AtomicU64::new(1);

/// A number that no other order of this library bears.
pub(crate) fn number() -> u64 {
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// Numbers of this build are far from those of others: a process that has gone over to another build still has timers and
/// monitors from before. They stay small enough to be small integers of the VM.
pub(crate) fn number_from(build: &str) {
    let hash = build.bytes().fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    NEXT.fetch_max((u64::from(hash) >> 5 << 32) + 1, Ordering::Relaxed);
}
