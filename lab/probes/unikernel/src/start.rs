//! How soon a unikernel is there, and what memory it takes: `boot` and `footprint`.

use alloc::string::String;
use core::time::Duration;

use plain::report;

use crate::console::Console;

/// How long it stays for the lab to look at it.
const STAYS: Duration = Duration::from_secs(1);

/// `began` is when the lab began to start it, and `first` when its `main` was entered, both in nanoseconds since 1970.
pub fn boot(began: u64, first: u64) -> Result<(), String> {
    let now = unikernel::now().as_nanos() as u64;
    // The wall clock may have been set back meanwhile.
    let [monitor, probe] = [first.saturating_sub(began), now.saturating_sub(first)];
    report::ready(&mut Console);
    // It has no firmware, no kernel and no first process of its own.
    let row = [monitor + probe, monitor, 0, 0, 0, probe];
    report::rows(&mut Console, 0, core::iter::once(&row[..]));
    report::done(&mut Console);
    Ok(())
}

pub fn footprint() -> Result<(), String> {
    let memory = unikernel::memory().ok_or("this program runs on an ordinary system")?;
    report::ready(&mut Console);
    report::fact(&mut Console, "memory_inside_bytes", memory.used);
    let until = unikernel::since_start() + STAYS;
    while unikernel::since_start() < until {}
    report::done(&mut Console);
    Ok(())
}
