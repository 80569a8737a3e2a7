//! The heap: all of the memory that is not the program or the stack.

use talc::locking::AssumeUnlockable;
use talc::{ErrOnOom, Span, Talc, Talck};
use unikernel_abi::boot::Range;

// Locks that are none: there is one thread, and nothing interrupts it.
#[global_allocator]
static HEAP: Talck<AssumeUnlockable, ErrOnOom> = Talc::new(ErrOnOom).lock();

/// Bytes that are in use.
pub fn used() -> u64 {
    HEAP.lock().get_counters().allocated_bytes as u64
}

/// Gives the heap its memory.
pub fn give(memory: Range) {
    let span = Span::new(memory.start as *mut u8, (memory.start + memory.len) as *mut u8);
    // SAFETY: the monitor says that nothing else lies there. Without memory every allocation fails, which is told then.
    let _ = unsafe { HEAP.lock().claim(span) };
}
