//! Cells, which only the holder of a lock can open.
//!
//! All that the kernel changes is in a [`Cell`]. Reading or writing a cell takes a [`Held`], a token of no size. A
//! service gets the token when it has locked the processor and, for objects that processors share, taken the giant
//! lock. So code that forgot a lock does not compile, and the token costs nothing.
//!
//! Three things are read by processors that do not hold the lock: the task that a processor runs, the task that it
//! should run, and a task's priority. They are [`Published`]: single words, loaded and stored whole. A reader may see
//! an old value; a processor that stores a new value that matters interrupts the reader's processor afterwards.

use core::cell::UnsafeCell;
use core::marker::PhantomData;
use core::sync::atomic::{AtomicPtr, AtomicU8, Ordering::Relaxed};

/// The proof that the lock which guards a cell is held. It borrows from the service that holds it and ends with it.
#[derive(Clone, Copy)]
pub struct Held<'a>(PhantomData<(&'a (), *mut ())>);

impl Held<'_> {
    /// # Safety
    /// For as long as the token lives, the processor must be locked and, where the cells that it opens belong to
    /// objects that several processors use, the giant lock must be taken by it.
    #[inline(always)]
    pub(crate) unsafe fn assume() -> Self {
        Held(PhantomData)
    }
}

/// A value that is read and written, as a whole, under the lock.
pub(crate) struct Cell<T>(UnsafeCell<T>);

// SAFETY: every access takes a `Held`, and only one processor at a time, in one context, can have one for this cell.
unsafe impl<T: Send> Sync for Cell<T> {}

impl<T: Copy> Cell<T> {
    pub(crate) const fn new(value: T) -> Self {
        Cell(UnsafeCell::new(value))
    }

    #[inline(always)]
    pub(crate) fn get(&self, _: Held<'_>) -> T {
        // SAFETY: the token says that nobody writes it now, and no reference into the cell is ever given out.
        unsafe { *self.0.get() }
    }

    #[inline(always)]
    pub(crate) fn set(&self, value: T, _: Held<'_>) {
        // SAFETY: the token says that nobody reads or writes it now, and no reference into the cell is ever given out.
        unsafe { *self.0.get() = value }
    }
}

/// A reference that other processors may read at any time. It is set when the kernel starts, before anything reads it.
pub(crate) struct Published<T: 'static>(AtomicPtr<T>);

impl<T> Published<T> {
    pub(crate) const fn new() -> Self {
        Published(AtomicPtr::new(core::ptr::null_mut()))
    }

    #[inline(always)]
    pub(crate) fn get(&self) -> &'static T {
        // SAFETY: `start` sets every one of them before the first service can be called, and only `set` stores to it.
        unsafe { &*self.0.load(Relaxed) }
    }

    #[inline(always)]
    pub(crate) fn set(&self, value: &'static T, _: Held<'_>) {
        self.0.store(core::ptr::from_ref(value).cast_mut(), Relaxed);
    }
}

/// A task's priority, from 0, the highest; [`Rank::IDLE`] is below all of them.
pub(crate) struct Rank(AtomicU8);

impl Rank {
    /// What a processor does when no task is ready.
    pub(crate) const IDLE: u8 = 16;

    pub(crate) const fn new(value: u8) -> Self {
        Rank(AtomicU8::new(value))
    }

    #[inline(always)]
    pub(crate) fn get(&self) -> u8 {
        self.0.load(Relaxed)
    }

    #[inline(always)]
    pub(crate) fn set(&self, value: u8, _: Held<'_>) {
        self.0.store(value, Relaxed);
    }
}
