//! Memory of workloads: buffers that begin at a page, mappings that forked processes share, and stacks touched again after a
//! fork, so that they do not fault.

use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;

use crate::bench::Failure;

/// Bytes of which the first is the first of a page: how fast the kernel copies depends on where a buffer begins, and a page is
/// enough for direct I/O on every device that is known.
#[derive(Debug)]
pub(crate) struct PageAligned {
    memory: Vec<u8>,
    from: usize,
    len: usize,
}

impl PageAligned {
    pub(crate) const SIZE: usize = 4096;

    /// `len` bytes of that value, each of them written.
    ///
    /// # Errors
    /// When there is no memory.
    pub(crate) fn new(len: usize, value: u8) -> Result<Self, Failure> {
        let mut memory = Vec::new();
        let reserved = memory.try_reserve_exact(len.saturating_add(Self::SIZE));
        reserved.map_err(|_| Failure::Impossible(format!("there is no memory for a buffer of {len} bytes")))?;
        memory.resize(len + Self::SIZE, value);
        let from = memory.as_ptr().align_offset(Self::SIZE);
        Ok(Self { memory, from, len })
    }
}

impl Deref for PageAligned {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.memory[self.from..][..self.len]
    }
}

impl DerefMut for PageAligned {
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.memory[self.from..][..self.len]
    }
}

/// Values in memory that forked processes share: made of atomics, because several processes write them.
#[derive(Debug)]
pub(crate) struct SharedSlice<T> {
    first: NonNull<T>,
    len: usize,
}

// SAFETY: a SharedSlice gives out references only, and T may be shared between threads.
unsafe impl<T: Sync> Send for SharedSlice<T> {}
// SAFETY: as above.
unsafe impl<T: Sync> Sync for SharedSlice<T> {}

impl<T: Default + Sync> SharedSlice<T> {
    /// `len` default values in new memory, which every process that is forked from now on has in common with this one.
    ///
    /// # Errors
    /// When there is no memory.
    pub(crate) fn new(len: usize) -> Result<Self, Failure> {
        const { assert!(!std::mem::needs_drop::<T>(), "the values are unmapped, not dropped") };
        const { assert!(align_of::<T>() <= 4096, "a mapping is aligned to a page") };
        let bytes = len.checked_mul(size_of::<T>()).map(|bytes| bytes.max(1));
        let bytes = bytes.ok_or_else(|| Failure::Impossible("more memory than can be addressed".into()))?;
        let (protection, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED | libc::MAP_ANONYMOUS);
        // SAFETY: a new mapping, placed by the kernel, touches no memory that exists.
        let memory = unsafe { libc::mmap(std::ptr::null_mut(), bytes, protection, flags, -1, 0) };
        if memory == libc::MAP_FAILED {
            return Err(Failure::last_os("map memory to share with a partner process"));
        }
        let Some(first) = NonNull::new(memory.cast::<T>()) else {
            return Err(Failure::Impossible("the kernel mapped memory at address zero".into()));
        };
        for i in 0..len {
            // SAFETY: within the mapping, which has room for `len` values, is aligned to a page and nobody else's yet.
            unsafe { first.add(i).write(T::default()) };
        }
        Ok(Self { first, len })
    }
}

impl<T> Deref for SharedSlice<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        // SAFETY: all values were initialised in `new`, and are mapped until the drop.
        unsafe { std::slice::from_raw_parts(self.first.as_ptr(), self.len) }
    }
}

impl<T> Drop for SharedSlice<T> {
    fn drop(&mut self) {
        // SAFETY: the mapping of `new`, to which no reference outlives self.
        unsafe { libc::munmap(self.first.as_ptr().cast(), (self.len * size_of::<T>()).max(1)) };
    }
}

/// One such value.
#[derive(Debug)]
pub(crate) struct Shared<T>(SharedSlice<T>);

impl<T: Default + Sync> Shared<T> {
    /// See [`SharedSlice::new`].
    ///
    /// # Errors
    /// When there is no memory.
    pub(crate) fn new() -> Result<Self, Failure> {
        SharedSlice::new(1).map(Self)
    }
}

impl<T> Deref for Shared<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0[0]
    }
}

/// Writes to the stack that a measurement is about to use: after a fork each of its pages faults once more when it is
/// written, and that should not happen in the middle of the measurement.
#[inline(never)]
pub(crate) fn touch_stack() {
    let mut pages = [0u8; 64 << 10];
    for byte in pages.iter_mut().step_by(4096) {
        // SAFETY: a byte of ours; volatile, so that the write is really done.
        unsafe { std::ptr::from_mut(byte).write_volatile(1) };
    }
    std::hint::black_box(&pages);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_begins_at_a_page_however_long_it_is() {
        for len in [1, 100, 4096, 128 << 10, (1 << 20) + 3] {
            let buffer = PageAligned::new(len, 7).expect("memory");
            assert_eq!((buffer.as_ptr() as usize % 4096, buffer.len()), (0, len));
            assert!(buffer.iter().all(|byte| *byte == 7));
        }
        assert!(PageAligned::new(usize::MAX, 0).is_err());
    }
    use crate::os::child::Child;
    use std::sync::atomic::{AtomicU64, Ordering};

    #[test]
    fn what_a_partner_writes_its_parent_reads() {
        let shared = Shared::<AtomicU64>::new().expect("memory");
        // SAFETY: the child only stores to memory that exists.
        let child = unsafe {
            Child::fork(&[], || {
                shared.store(42, Ordering::Relaxed);
                Ok(())
            })
        };
        let child = child.expect("a process");
        while child.ended().is_none() {}
        assert_eq!(shared.load(Ordering::Relaxed), 42);
    }
}
