//! Waits: what a task waits for, and what it has brought with it.
//!
//! A wait names the queue that the task is in, so that it can be taken out whatever the object is. Only of what the
//! priority or the end of a waiting task changes more is named: a mutex, whose owner inherits, and messages, which the
//! next sender may have room for.

use crate::base::ring::Queued;
use crate::state::messages::Messages;
use crate::state::ownership::Ownership;
use crate::state::queue::Queue;

/// Which bits a task waits for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mode {
    /// All of them: TWF_ANDW.
    All,
    /// At least one: TWF_ORW.
    Any,
}

/// What a task waits for, and all that whoever ends the wait has to know.
pub(crate) enum Waiting<T: Queued> {
    Nothing,
    Sleep,
    Delay,
    /// For something that whoever wakes it hands over: a resource, a word, a block of memory.
    Object(&'static Queue<T>),
    Flags(&'static Queue<T>, u32, Mode),
    Send(&'static Queue<T>, usize),
    SendByPriority(&'static Queue<T>, usize, u8),
    Mutex(&'static Ownership<T>),
    SendMessage(&'static Messages<T>, *const u8, usize),
    ReceiveMessage(&'static Queue<T>, *mut u8),
}

impl<T: Queued> Clone for Waiting<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: Queued> Copy for Waiting<T> {}

// SAFETY: the pointers are to buffers that the waiting task lends until it is woken.
unsafe impl<T: Queued> Send for Waiting<T> {}

impl<T: Queued> Waiting<T> {
    /// The queue that the task is in.
    #[inline(always)]
    pub(crate) fn queue(self) -> Option<&'static Queue<T>> {
        Some(match self {
            Waiting::Nothing | Waiting::Sleep | Waiting::Delay => return None,
            Waiting::Object(queue)
            | Waiting::Flags(queue, ..)
            | Waiting::Send(queue, _)
            | Waiting::SendByPriority(queue, ..)
            | Waiting::ReceiveMessage(queue, _) => queue,
            Waiting::Mutex(mutex) => &mutex.waiting,
            Waiting::SendMessage(messages, ..) => &messages.senders,
        })
    }
}
