//! The heap of a program without a C library: small pieces from lists of free ones, large ones from the kernel.
//!
//! Pieces have the sizes 16, 32, … 1024 bytes. A list that is empty is filled from a page, which stays with the heap. Larger ones are whole
//! pages, and go back. Every thread may use it: a lock that is waited for by asking the kernel for another turn guards the lists.

use core::alloc::{GlobalAlloc, Layout};
use core::cell::UnsafeCell;
use core::ptr::{NonNull, null_mut};
use core::sync::atomic::{AtomicBool, Ordering};

use linux_raw_sys::general::__NR_sched_yield;

use crate::sys::call;
use crate::sys::memory::{self, PAGE};

const LEAST: usize = 16;
const SIZES: usize = 7;
const MOST: usize = LEAST << (SIZES - 1);

struct Heap {
    locked: AtomicBool,
    /// The first free piece of each size, which holds where the next is.
    free: UnsafeCell<[*mut u8; SIZES]>,
}

#[global_allocator]
static HEAP: Heap = Heap { locked: AtomicBool::new(false), free: UnsafeCell::new([null_mut(); SIZES]) };

// SAFETY: the lists are used under the lock alone.
unsafe impl Sync for Heap {}

impl Heap {
    fn locked<T>(&self, work: impl FnOnce(&mut [*mut u8; SIZES]) -> T) -> T {
        while self.locked.swap(true, Ordering::Acquire) {
            // SAFETY: no arguments.
            let _ = unsafe { call(__NR_sched_yield, [0; 6]) };
        }
        // SAFETY: whoever holds the lock is alone.
        let result = work(unsafe { &mut *self.free.get() });
        self.locked.store(false, Ordering::Release);
        result
    }
}

/// Which list, or how many bytes of whole pages.
fn class(layout: Layout) -> Result<usize, usize> {
    let bytes = layout.size().max(layout.align()).max(LEAST);
    if bytes <= MOST {
        Ok((bytes.next_power_of_two() / LEAST).trailing_zeros() as usize)
    } else {
        Err(bytes.next_multiple_of(PAGE))
    }
}

// SAFETY: pieces of a list are disjoint, aligned to their size, and as large as their class; pages are the kernel's.
unsafe impl GlobalAlloc for Heap {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let class = match class(layout) {
            Ok(class) => class,
            // No piece needs a larger alignment than a page has.
            Err(bytes) => return memory::map(bytes).map_or(null_mut(), NonNull::as_ptr),
        };
        self.locked(|free| {
            if free[class].is_null() {
                let Ok(page) = memory::map(PAGE) else { return null_mut() };
                let bytes = LEAST << class;
                for at in (0..PAGE).step_by(bytes).rev() {
                    // SAFETY: within the page, which is ours, and aligned for a pointer.
                    unsafe {
                        let piece = page.as_ptr().add(at);
                        piece.cast::<*mut u8>().write(free[class]);
                        free[class] = piece;
                    }
                }
            }
            let piece = free[class];
            // SAFETY: a free piece holds the next.
            free[class] = unsafe { piece.cast::<*mut u8>().read() };
            piece
        })
    }

    unsafe fn dealloc(&self, piece: *mut u8, layout: Layout) {
        match class(layout) {
            Ok(class) => self.locked(|free| {
                // SAFETY: a piece of that class, which nobody uses any more.
                unsafe { piece.cast::<*mut u8>().write(free[class]) };
                free[class] = piece;
            }),
            Err(bytes) => {
                if let Some(piece) = NonNull::new(piece) {
                    // SAFETY: whole pages of `alloc`, as many.
                    unsafe { memory::unmap(piece, bytes) };
                }
            }
        }
    }
}
