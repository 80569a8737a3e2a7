//! Locks between the processors: the hardware spin locks of the SIO block. Reading a spin lock takes it if the value
//! read is not zero; writing it gives it back. Source: RP2040 Datasheet, 2.3.1.3.

use core::cell::UnsafeCell;
use core::sync::atomic::{Ordering, compiler_fence};

use rtos::port::Lock;

const SPINLOCK: *mut u32 = 0xD000_0100 as *mut u32;
const GIANT: usize = 0;
const WORDS: usize = 1;
const TERMINAL: usize = 2;

#[inline(always)]
fn take(number: usize) -> bool {
    // SAFETY: a register of the SIO block, which takes the lock. This core does not reorder what it reads and writes.
    let taken = unsafe { SPINLOCK.add(number).read_volatile() } != 0;
    compiler_fence(Ordering::Acquire);
    taken
}

#[inline(always)]
fn give_back(number: usize) {
    compiler_fence(Ordering::Release);
    // SAFETY: the register of a lock that this processor has.
    unsafe { SPINLOCK.add(number).write_volatile(1) };
}

/// Does something with the terminal, alone. The processor must be locked, or a handler that prints waits for ever.
pub(crate) fn with_terminal(what: impl FnOnce()) {
    while !take(TERMINAL) {}
    what();
    give_back(TERMINAL);
}

/// The giant lock of the kernel: a hardware spin lock of its own.
pub struct Giant;

impl Lock for Giant {
    const FREE: Self = Giant;

    #[inline(always)]
    fn try_acquire(&self) -> bool {
        take(GIANT)
    }

    #[inline(always)]
    fn release(&self) {
        give_back(GIANT);
    }
}

/// A lock of the user: a word that is not zero while it is taken, which is looked at and changed under a hardware spin
/// lock.
pub struct Word(UnsafeCell<u32>);

// SAFETY: it is accessed only under the hardware spin lock, or by the processor that has taken it.
unsafe impl Sync for Word {}

impl Lock for Word {
    const FREE: Self = Word(UnsafeCell::new(0));

    fn try_acquire(&self) -> bool {
        if !take(WORDS) {
            return false;
        }
        // SAFETY: the hardware spin lock is this processor's.
        let free = unsafe {
            self.0.get().read_volatile() == 0 && {
                self.0.get().write_volatile(1);
                true
            }
        };
        give_back(WORDS);
        free
    }

    fn release(&self) {
        compiler_fence(Ordering::Release);
        // SAFETY: this processor has taken it, so that no other writes.
        unsafe { self.0.get().write_volatile(0) };
    }
}
