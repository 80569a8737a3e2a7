//! The data of a processor: the state of its thread, and the functions of the kernel that runs.
//!
//! A thread finds its data where its `gs` register points, in one of the statics here.

use core::arch::asm;
use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicI32, AtomicU8, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::mem::offset_of;
use std::sync::OnceLock;
use std::time::Instant;

use rtos::{Interrupt, Raised};

/// How many processors there can be.
pub(crate) const MOST: usize = 8;

/// The mask of a processor that is locked: no interrupt has this level or a higher one.
pub(crate) const LOCKED: u8 = u8::MAX;

/// The data of a processor, at the address in its thread's `gs`.
#[repr(C)]
pub(crate) struct Machine {
    /// Its own address.
    pub(crate) myself: AtomicUsize,
    /// Interrupts of this level and below wait.
    pub(crate) mask: AtomicU8,
    /// How many handlers run, each interrupted by the next.
    depth: AtomicU32,
    /// The lines that have been raised, are let through, and have not been served.
    pub(crate) pending: AtomicU64,
    /// Those that have been raised and are not let through.
    pub(crate) held_back: AtomicU64,
    pub(crate) number: AtomicU32,
    /// The CPU exception that is to be handled, a signal's number, or 0.
    raised: AtomicI32,
    /// The thread, when it runs.
    pub(crate) thread: AtomicI32,
    pub(crate) timer: UnsafeCell<libc::timer_t>,
}

// SAFETY: `timer` is used by its own thread only; all else is atomic.
unsafe impl Sync for Machine {}

static MACHINES: [Machine; MOST] = [const {
    Machine {
        myself: AtomicUsize::new(0),
        mask: AtomicU8::new(LOCKED),
        depth: AtomicU32::new(0),
        pending: AtomicU64::new(0),
        held_back: AtomicU64::new(0),
        number: AtomicU32::new(0),
        raised: AtomicI32::new(0),
        thread: AtomicI32::new(0),
        timer: UnsafeCell::new(std::ptr::null_mut()),
    }
}; MOST];

/// The functions of the kernel that runs, which interrupts and other threads call.
pub(crate) struct Program {
    pub(crate) begin: unsafe fn() -> !,
    pub(crate) preempt: fn(),
    pub(crate) serve: fn(u32),
    pub(crate) exception: fn(Raised),
    pub(crate) handles: fn(u32) -> bool,
    pub(crate) owner_of: fn(usize) -> Option<rtos::entry::Owner>,
    pub(crate) interrupts: &'static [Interrupt],
    pub(crate) start: Instant,
    pub(crate) cpus: Vec<usize>,
}

pub(crate) static PROGRAM: OnceLock<Program> = OnceLock::new();

pub(crate) fn program() -> &'static Program {
    PROGRAM.get().expect("`run` sets it before anything else")
}

/// The signal that tells a thread that something is pending. The system does not queue it: several are one, and
/// none is refused because too many wait.
pub(crate) fn signal() -> i32 {
    libc::SIGURG
}

/// The processor of that number.
pub(crate) fn machine(number: usize) -> &'static Machine {
    &MACHINES[number % MOST]
}

/// The processor that this code runs on. Only to be kept while it cannot be preempted.
#[inline(always)]
pub(crate) fn this() -> &'static Machine {
    let address: *const Machine;
    // SAFETY: reads what `gs` points to. Not `pure`: it changes when the task moves to another thread.
    unsafe { asm!("mov {}, gs:[0]", out(reg) address, options(nostack, preserves_flags)) };
    // SAFETY: `enter` made `gs` point to one of the statics.
    unsafe { &*address }
}

#[inline(always)]
pub(crate) fn lock() -> u8 {
    let before: u8;
    // SAFETY: changes the mask only. Should the task move between the two, both masks are zero.
    unsafe {
        asm!(
            "mov {before}, gs:[{mask}]",
            "mov byte ptr gs:[{mask}], {locked}",
            before = out(reg_byte) before,
            mask = const offset_of!(Machine, mask),
            locked = const LOCKED,
            options(nostack, preserves_flags),
        );
    }
    before
}

#[inline(always)]
pub(crate) fn depth() -> u32 {
    let depth: u32;
    // SAFETY: reads a number.
    unsafe {
        asm!(
            "mov {:e}, gs:[{offset}]",
            out(reg) depth,
            offset = const offset_of!(Machine, depth),
            options(nostack, preserves_flags, readonly),
        );
    }
    depth
}

#[inline(always)]
pub(crate) fn number() -> usize {
    let number: u32;
    // SAFETY: reads a number.
    unsafe {
        asm!(
            "mov {:e}, gs:[{offset}]",
            out(reg) number,
            offset = const offset_of!(Machine, number),
            options(nostack, preserves_flags),
        );
    }
    number as usize
}

impl Machine {
    pub(crate) fn mask(&self) -> u8 {
        self.mask.load(Ordering::Relaxed)
    }

    pub(crate) fn set_mask(&self, mask: u8) {
        self.mask.store(mask, Ordering::Relaxed);
    }

    pub(crate) fn enter_handler(&self) {
        self.depth.store(self.depth.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
    }

    pub(crate) fn leave_handler(&self) {
        self.depth.store(self.depth.load(Ordering::Relaxed) - 1, Ordering::Relaxed);
    }

    pub(crate) fn is_in_handler(&self) -> bool {
        self.depth.load(Ordering::Relaxed) != 0
    }

    /// Notes a CPU exception of this thread, and lets it look.
    pub(crate) fn raise(&self, number: i32) {
        self.raised.store(number, Ordering::Relaxed);
        self.signal();
    }

    /// The CPU exception that was noted.
    pub(crate) fn raised(&self) -> Option<u32> {
        match self.raised.swap(0, Ordering::Relaxed) {
            0 => None,
            number => Some(number as u32),
        }
    }

    /// Lets the thread look what is pending.
    pub(crate) fn signal(&self) {
        let thread = self.thread.load(Ordering::Acquire);
        if thread != 0 {
            // SAFETY: sends a signal to a thread of this process.
            unsafe { libc::syscall(libc::SYS_tgkill, libc::getpid(), thread, signal()) };
        }
    }
}
