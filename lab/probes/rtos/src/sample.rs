//! Samples from tasks and handlers of the kernel, taken one at a time.

use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

use kizami_protocol::Report;
use kizami_recording::Recorder;

use crate::clock;

struct Place(UnsafeCell<Option<(Recorder<'static>, &'static AtomicBool)>>);

// SAFETY: set before the kernel starts; after that only `end` writes, which one task at a time calls, as the work is made.
unsafe impl Sync for Place {}

static PLACE: Place = Place(UnsafeCell::new(None));
static BEGUN: AtomicU64 = AtomicU64::new(0);

/// Where samples go from now on, and what says that no more are wanted.
pub fn set_up(recorder: Recorder<'static>, stop: &'static AtomicBool) {
    // SAFETY: the kernel has not started.
    unsafe { *PLACE.0.get() = Some((recorder, stop)) };
}

/// A sample begins.
#[inline(always)]
pub fn begin() {
    BEGUN.store(clock::before(), Relaxed);
}

/// It ends, perhaps in another task, perhaps on another processor.
#[inline(always)]
pub fn end() {
    let now = clock::after();
    // SAFETY: see `Place`.
    if let Some((recorder, _)) = unsafe { &mut *PLACE.0.get() } {
        recorder.push(clock::nanoseconds(now.saturating_sub(BEGUN.load(Relaxed))));
    }
}

/// Whether no more samples are wanted.
pub fn stopped() -> bool {
    // SAFETY: reads what was set before the kernel started.
    unsafe { &*PLACE.0.get() }.as_ref().is_none_or(|(_, stop)| stop.load(Relaxed))
}

/// Tells the lab something, from a task.
pub fn say(report: &Report) {
    rtos_host::print(format_args!("{}\n", report.line()));
}

/// A service gave what it should not have: the measurement is worth nothing.
#[cold]
pub fn failed(what: &str, gave: impl std::fmt::Debug) -> ! {
    say(&Report::Failed { why: format!("{what} gave {gave:?}") });
    std::process::exit(1)
}
