//! Messages in a bounded memory, and the tasks that wait to put one there.
//!
//! Each message is its length, in four bytes, and its bytes, rounded up to four. It may be cut by the end of the memory
//! and go on at its beginning.

use crate::base::cell::{Cell, Held};
use crate::base::ring::Queued;
use crate::state::queue::Queue;

/// The messages of a message buffer.
pub struct Messages<T: Queued> {
    memory: *mut u8,
    pub(crate) size: usize,
    /// Where the oldest message begins.
    pub(crate) first: Cell<usize>,
    /// How many bytes are in use.
    pub(crate) used: Cell<usize>,
    pub(crate) count: Cell<usize>,
    /// The first waits because there is no room for its message; the others because they come after it.
    pub(crate) senders: Queue<T>,
}

// SAFETY: the memory is touched only under the lock.
unsafe impl<T: Queued> Sync for Messages<T> {}

/// What a message of that length takes in the buffer.
pub(crate) const fn room(length: usize) -> usize {
    4 + length.next_multiple_of(4)
}

impl<T: Queued> Messages<T> {
    /// No message in that memory, of that size in bytes.
    pub(crate) const fn new(memory: *mut u8, size: usize, senders: Queue<T>) -> Self {
        Messages { memory, size, first: Cell::new(0), used: Cell::new(0), count: Cell::new(0), senders }
    }

    /// The byte at that place.
    ///
    /// # Safety
    /// The place is below the size.
    pub(crate) unsafe fn byte(&self, place: usize) -> u8 {
        // SAFETY: as the caller says.
        unsafe { self.memory.add(place).read() }
    }

    /// Keeps a message. False if there is no room.
    pub(crate) fn push(&self, message: &[u8], held: Held<'_>) -> bool {
        let used = self.used.get(held);
        if room(message.len()) > self.size - used {
            return false;
        }
        let start = self.wrap(self.first.get(held) + used);
        let length = (message.len() as u32).to_ne_bytes();
        let body = self.wrap(start + 4);
        for (offset, &byte) in length.iter().enumerate() {
            // SAFETY: four bytes at a multiple of four are not cut by the end.
            unsafe { self.memory.add(start + offset).write(byte) };
        }
        let head = message.len().min(self.size - body);
        // SAFETY: there is room for both parts, and the message is not in the buffer.
        unsafe {
            core::ptr::copy_nonoverlapping(message.as_ptr(), self.memory.add(body), head);
            core::ptr::copy_nonoverlapping(message.as_ptr().add(head), self.memory, message.len() - head);
        }
        self.used.set(used + room(message.len()), held);
        self.count.set(self.count.get(held) + 1, held);
        true
    }

    /// Takes the oldest message. Gives its length.
    pub(crate) fn pop(&self, buffer: *mut u8, held: Held<'_>) -> Option<usize> {
        if self.count.get(held) == 0 {
            return None;
        }
        let start = self.first.get(held);
        let mut length = [0; 4];
        for (offset, byte) in length.iter_mut().enumerate() {
            // SAFETY: four bytes at a multiple of four are not cut by the end.
            *byte = unsafe { self.memory.add(start + offset).read() };
        }
        let length = u32::from_ne_bytes(length) as usize;
        let body = self.wrap(start + 4);
        let head = length.min(self.size - body);
        // SAFETY: the message lies there, and the caller has room for the longest.
        unsafe {
            core::ptr::copy_nonoverlapping(self.memory.add(body), buffer, head);
            core::ptr::copy_nonoverlapping(self.memory, buffer.add(head), length - head);
        }
        self.first.set(self.wrap(start + room(length)), held);
        self.used.set(self.used.get(held) - room(length), held);
        self.count.set(self.count.get(held) - 1, held);
        Some(length)
    }

    pub(crate) fn wrap(&self, place: usize) -> usize {
        if place >= self.size { place - self.size } else { place }
    }
}
