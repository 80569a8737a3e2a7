//! Tasks: what the kernel keeps of each, how one is described, and the steps that services are made of.
//!
//! - [`manage`]: activation, priority, information
//! - [`sync`]: sleep, suspension, delay
//! - [`term`]: the end of a task
//! - [`refer`]: all that can be told of a task
//! - [`migrate`]: tasks that change their processor
//!
//! A task that is dormant is always ready to begin: its fields have their first values and its stack is prepared. That
//! work is done when it ends, so that its activation has only to put it in a queue.

pub mod manage;
pub mod migrate;
pub mod refer;
mod setup;
pub mod sync;
pub mod term;

use core::marker::PhantomData;
use core::sync::atomic::AtomicU8;

pub use setup::{Class, Stack, TaskSetup};

use crate::cell::{Cell, Held, Published, Rank};
use crate::context::{Domain, Placed};
use crate::data_queue::DataQueueBlock;
use crate::error::Error;
use crate::event_flag::{EventFlagBlock, Mode};
use crate::heap::Deadline;
use crate::kernel::{Kernel, Numbered};
use crate::memory_pool::MemoryPoolBlock;
use crate::message_buffer::MessageBufferBlock;
use crate::model::{Initial, Model, Presence};
use crate::mutex::MutexBlock;
use crate::overrun::Account;
use crate::port::{Port, Saved};
use crate::priority_data_queue::PriorityDataQueueBlock;
use crate::processor::Processor;
use crate::ring::Links;
use crate::semaphore::SemaphoreBlock;
use crate::service::Queue;

/// A task.
pub struct Task<K: Kernel, D> {
    pub(crate) tcb: &'static Tcb<K>,
    pub(crate) domain: D,
    kernel: PhantomData<K>,
}

impl<K: Kernel, D: Copy> Clone for Task<K, D> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<K: Kernel, D: Copy> Copy for Task<K, D> {}

impl<K: Kernel> Task<K, Placed> {
    /// The task of that ITRON number, from 1. E_ID if there is none.
    #[inline(always)]
    pub fn by_number(number: i32) -> Result<Self, Error> {
        let entry = K::tasks().get((number as usize).wrapping_sub(1)).ok_or(Error::ID)?;
        Ok(Task::of(entry.block, entry.domain))
    }

    /// The task that calls. E_ID in a handler.
    pub fn calling() -> Result<Self, Error> {
        if !K::Port::in_task() {
            return Err(Error::ID);
        }
        let tcb = crate::system::running::<K>();
        Ok(Task::of(tcb, Placed::place(tcb.class.pinned())))
    }
}

impl<K: Kernel, D: Domain> Task<K, D> {
    /// The handle of a task; `kernel!` makes it.
    pub const fn new(tcb: &'static Tcb<K>) -> Self {
        Task { tcb, domain: D::SELF, kernel: PhantomData }
    }

    pub(crate) fn of(tcb: &'static Tcb<K>, domain: D) -> Self {
        Task { tcb, domain, kernel: PhantomData }
    }

    /// Its entry in the table of tasks.
    pub const fn numbered(&self) -> Numbered<Tcb<K>> {
        Numbered::new(self.tcb, Placed::of::<D>())
    }

    /// Whether the two are the same task.
    pub fn is<E>(self, other: Task<K, E>) -> bool {
        core::ptr::eq(self.tcb, other.tcb)
    }
}

/// What a task does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(crate) enum State {
    Dormant,
    /// It can run, or does.
    Ready,
    Waiting,
    Suspended,
    WaitingSuspended,
}

/// What a task waits for, and all that whoever ends the wait has to know.
pub(crate) enum Waiting<K: Kernel> {
    Nothing,
    Sleep,
    Delay,
    Semaphore(&'static SemaphoreBlock<K>),
    Flags(&'static EventFlagBlock<K>, u32, Mode),
    Send(&'static DataQueueBlock<K>, usize),
    Receive(&'static DataQueueBlock<K>),
    SendByPriority(&'static PriorityDataQueueBlock<K>, usize, u8),
    ReceiveByPriority(&'static PriorityDataQueueBlock<K>),
    Mutex(&'static MutexBlock<K>),
    Memory(&'static MemoryPoolBlock<K>),
    SendMessage(&'static MessageBufferBlock<K>, *const u8, usize),
    ReceiveMessage(&'static MessageBufferBlock<K>, *mut u8),
}

impl<K: Kernel> Clone for Waiting<K> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<K: Kernel> Copy for Waiting<K> {}

// SAFETY: the pointers are to buffers that the waiting task lends until it is woken.
unsafe impl<K: Kernel> Send for Waiting<K> {}

impl<K: Kernel> Waiting<K> {
    /// The queue that the task is in.
    pub(crate) fn queue(self) -> Option<&'static Queue<K>> {
        Some(match self {
            Waiting::Nothing | Waiting::Sleep | Waiting::Delay => return None,
            Waiting::Semaphore(semaphore) => &semaphore.waiting,
            Waiting::Flags(flags, ..) => &flags.waiting,
            Waiting::Send(queue, _) => &queue.senders,
            Waiting::Receive(queue) => &queue.receivers,
            Waiting::SendByPriority(queue, ..) => &queue.senders,
            Waiting::ReceiveByPriority(queue) => &queue.receivers,
            Waiting::Mutex(mutex) => &mutex.waiting,
            Waiting::Memory(pool) => &pool.waiting,
            Waiting::SendMessage(buffer, ..) => &buffer.senders,
            Waiting::ReceiveMessage(buffer, _) => &buffer.receivers,
        })
    }
}

/// Where a task runs, if there is a choice.
pub struct Home<K: Kernel> {
    pub(crate) processor: Published<Processor<K>>,
    /// Where the activation that is queued wants it to run.
    pub(crate) next: Cell<Option<u8>>,
}

impl<K: Kernel> Initial for Home<K> {
    const INITIAL: Self = Home { processor: Published::new(), next: Cell::new(None) };
}

/// The task control block: all that the kernel keeps of a task.
#[repr(C)]
pub struct Tcb<K: Kernel> {
    pub(crate) saved: Saved,
    pub(crate) priority: Rank,
    pub(crate) state: Cell<State>,
    /// Whether it begins anew when it ends.
    pub(crate) queued: Cell<bool>,
    /// Its priority without what mutexes add.
    pub(crate) base: Rank,
    /// Whether it was woken while it did not sleep.
    pub(crate) woken: Cell<bool>,
    /// Whether it was asked to end. This and the next are changed on the task's processor only.
    pub(crate) asked_to_end: Cell<bool>,
    /// Whether it does not let itself be ended now.
    pub(crate) unending: Cell<bool>,
    pub(crate) links: Links<K>,
    pub(crate) home: <K::Model as Model>::Only<Home<K>>,
    pub(crate) deadline: Deadline,
    /// What processor time is left to it, if the kernel has an overrun handler.
    pub(crate) account: <K::Overrun as Presence>::Only<Account>,
    /// Not `Nothing` only while it waits.
    pub(crate) waiting: Cell<Waiting<K>>,
    /// With what its last wait ended.
    pub(crate) wake: Cell<Result<usize, Error>>,
    /// The priority of the word that it has received from a priority data queue.
    pub(crate) received: AtomicU8,
    /// The mutex that it locked last, and still holds.
    pub(crate) mutexes: Cell<Option<&'static MutexBlock<K>>>,
    /// Its first priority.
    initial: u8,
    pub(crate) active: bool,
    pub(crate) queues: bool,
    pub(crate) class: Class,
}

impl<K: Kernel> Tcb<K> {
    /// Gives a dormant task what a task has that begins.
    pub(crate) fn reset(&self, held: Held<'_>) {
        crate::overrun::end(self);
        self.state.set(State::Dormant, held);
        self.priority.set(self.initial, held);
        self.base.set(self.initial, held);
        self.woken.set(false, held);
        self.asked_to_end.set(false, held);
        self.unending.set(false, held);
        self.waiting.set(Waiting::Nothing, held);
    }

    pub(crate) fn initial_priority(&self) -> u8 {
        self.initial
    }

    pub(crate) fn is_waiting(&self, held: Held<'_>) -> bool {
        matches!(self.state.get(held), State::Waiting | State::WaitingSuspended)
    }

    pub(crate) fn is_delayed(&self, held: Held<'_>) -> bool {
        matches!(self.waiting.get(held), Waiting::Delay)
    }

    /// Takes it out of the queue of what it waits for.
    pub(crate) fn stop_waiting(&'static self, held: Held<'_>) {
        if let Some(queue) = self.waiting.get(held).queue() {
            queue.tasks.remove(self, held);
        }
    }
}
