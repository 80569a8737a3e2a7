//! The window of a measurement: from its first clock reading to its last.
//!
//! Inside the window nothing may allocate and no page may fault for the first time. Both rules are measured and not
//! assumed: a program that installs [`CountingAllocator`] counts its allocations, and
//! [`Bench::window`](crate::Bench::window) counts faults and context switches. The count of allocations costs a relaxed
//! load outside the window, and nothing in a program that does not allocate.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

static OPEN: AtomicBool = AtomicBool::new(false);
static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

pub(crate) fn open() {
    OPEN.store(true, Ordering::SeqCst);
}

pub(crate) fn close() {
    OPEN.store(false, Ordering::SeqCst);
}

/// How many times this process allocated inside windows. Zero also when no [`CountingAllocator`] is installed.
pub fn allocations() -> u64 {
    ALLOCATIONS.load(Ordering::SeqCst)
}

/// The system's allocator, which counts what happens inside a window.
#[derive(Debug, Default)]
pub struct CountingAllocator;

fn count() {
    if OPEN.load(Ordering::Relaxed) {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
    }
}

// SAFETY: every call is handed to the system's allocator unchanged; counting touches only atomics.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the caller keeps GlobalAlloc's contract, which is the system allocator's.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: as above.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, ptr: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        // SAFETY: as above.
        unsafe { System.realloc(ptr, layout, size) }
    }

    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        count();
        // SAFETY: as above.
        unsafe { System.dealloc(ptr, layout) }
    }
}
