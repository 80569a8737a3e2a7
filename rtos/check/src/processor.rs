//! A processor: its mask, its interrupts, its timer, and the stack on which it is.

use rtos::port::Saved;

use crate::lock::Flag;

/// How many processors there are.
pub const PROCESSORS: usize = 2;

/// The mask of a processor that takes every interrupt.
pub(crate) const OPEN: u8 = 0;
/// The mask of a processor whose handler runs, or that holds interrupts back.
pub(crate) const BUSY: u8 = 1;
/// The mask of a processor that is locked.
pub(crate) const LOCKED: u8 = 2;

pub(crate) const TIMER: u8 = 1;
pub(crate) const MAILBOX: u8 = 2;

/// A processor.
pub(crate) struct Processor {
    pub(crate) mask: u8,
    /// How many handlers run on it, each interrupted by the next.
    pub(crate) depth: u32,
    /// The interrupts that have come.
    pub(crate) pending: u8,
    /// Those that are on their way.
    pub(crate) sent: u8,
    /// When its timer rings.
    pub(crate) alarm: Option<u32>,
    /// The thread whose turn it is.
    pub(crate) thread: usize,
    /// The stack on which it is, unless it has left that and is on the idle task's.
    pub(crate) stack: Option<*const Saved>,
    /// Whether it has a lock that processors share.
    pub(crate) shares_lock: bool,
    /// The lock that it did not get.
    pub(crate) wants: Option<*const Flag>,
}

impl Processor {
    pub(crate) const NEW: Self = Processor {
        mask: LOCKED,
        depth: 0,
        pending: 0,
        sent: 0,
        alarm: None,
        thread: usize::MAX,
        stack: None,
        shares_lock: false,
        wants: None,
    };
}
