//! Memory that begins with a page.

use alloc::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use core::ops::{Deref, DerefMut};
use core::ptr::NonNull;

/// Bytes that begin with a page of memory: a device past the cache of its host takes them as they are, and copies others.
#[derive(Debug)]
pub struct PageAligned {
    start: NonNull<u8>,
    len: usize,
    layout: Layout,
}

// SAFETY: it owns its bytes, as a `Vec` does.
unsafe impl Send for PageAligned {}
// SAFETY: as above.
unsafe impl Sync for PageAligned {}

impl PageAligned {
    /// Zeros.
    ///
    /// # Panics
    /// If there cannot be so many.
    pub fn new(len: usize) -> Self {
        let layout = Layout::from_size_align(len.max(1), 4096).expect("there is not so much memory");
        // SAFETY: the layout is not of zero bytes.
        let start = NonNull::new(unsafe { alloc_zeroed(layout) }).unwrap_or_else(|| handle_alloc_error(layout));
        Self { start, len, layout }
    }
}

impl Drop for PageAligned {
    fn drop(&mut self) {
        // SAFETY: it was allocated so.
        unsafe { dealloc(self.start.as_ptr(), self.layout) }
    }
}

impl Deref for PageAligned {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: so many bytes are there, and were zeros at first.
        unsafe { core::slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }
}

impl DerefMut for PageAligned {
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above, and this is borrowed mutably.
        unsafe { core::slice::from_raw_parts_mut(self.start.as_ptr(), self.len) }
    }
}
