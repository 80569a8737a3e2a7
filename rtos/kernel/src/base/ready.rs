//! The tasks that can run on a processor, and which of them should.
//!
//! One queue for each priority, a bit for each queue that is not empty, and the first task of the highest such queue,
//! which is kept so that every service can look at it with one load. When no task can run it is the idle task.

#[cfg(test)]
mod tests;

use crate::cell::{Cell, Held, Published};
use crate::kernel::Kernel;
use crate::ring::Ring;
use crate::task::Tcb;

/// How many priorities there are.
pub const PRIORITIES: usize = 16;

/// The tasks that can run.
pub(crate) struct Ready<K: Kernel> {
    top: Published<Tcb<K>>,
    /// The highest bit stands for priority 0, so that the number of leading zeros is the highest priority.
    bits: Cell<u32>,
    queues: [Ring<K>; PRIORITIES],
    idle: Published<Tcb<K>>,
}

const fn bit(priority: usize) -> u32 {
    (1 << 31) >> priority
}

impl<K: Kernel> Ready<K> {
    pub(crate) const fn new() -> Self {
        Ready {
            top: Published::new(),
            bits: Cell::new(0),
            queues: [const { Ring::new() }; PRIORITIES],
            idle: Published::new(),
        }
    }

    pub(crate) fn start(&self, idle: &'static Tcb<K>, held: Held<'_>) {
        self.idle.set(idle, held);
        self.top.set(idle, held);
    }

    /// The task that should run, of these.
    #[inline(always)]
    pub(crate) fn top(&self) -> &'static Tcb<K> {
        self.top.get()
    }

    #[inline(always)]
    fn queue(&self, task: &Tcb<K>) -> (usize, &Ring<K>) {
        let priority = usize::from(task.priority.get()) % PRIORITIES;
        (priority, &self.queues[priority])
    }

    /// Adds a task behind those of its priority. True if it should run now.
    #[inline(always)]
    pub(crate) fn insert(&self, task: &'static Tcb<K>, held: Held<'_>) -> bool {
        let (priority, queue) = self.queue(task);
        queue.push(task, held);
        self.bits.set(self.bits.get(held) | bit(priority), held);
        let first = task.priority.get() < self.top().priority.get();
        if first {
            self.top.set(task, held);
        }
        first
    }

    /// Adds a task before those of its priority. True if it should run now.
    pub(crate) fn insert_front(&self, task: &'static Tcb<K>, held: Held<'_>) -> bool {
        let (priority, queue) = self.queue(task);
        queue.push_front(task, held);
        self.bits.set(self.bits.get(held) | bit(priority), held);
        let first = task.priority.get() <= self.top().priority.get();
        if first {
            self.top.set(task, held);
        }
        first
    }

    /// Takes a task out. True if it was the one that should run.
    #[inline(always)]
    pub(crate) fn remove(&self, task: &'static Tcb<K>, held: Held<'_>) -> bool {
        let (priority, queue) = self.queue(task);
        queue.remove(task, held);
        if queue.first(held).is_none() {
            self.bits.set(self.bits.get(held) & !bit(priority), held);
        }
        let first = core::ptr::eq(self.top(), task);
        if first {
            self.find_top(held);
        }
        first
    }

    /// Gives the next task of that priority its turn. True if another task should run now.
    pub(crate) fn rotate(&self, priority: u8, held: Held<'_>) -> bool {
        self.queues[usize::from(priority) % PRIORITIES].rotate(held);
        let before = self.top();
        if before.priority.get() == priority {
            self.find_top(held);
        }
        !core::ptr::eq(before, self.top())
    }

    #[inline(always)]
    fn find_top(&self, held: Held<'_>) {
        let highest = self.bits.get(held).leading_zeros() as usize;
        let first = self.queues.get(highest).and_then(|queue| queue.first(held));
        self.top.set(first.unwrap_or_else(|| self.idle.get()), held);
    }

    /// The queue of a priority.
    pub(crate) fn queue_of(&self, priority: usize) -> &Ring<K> {
        &self.queues[priority % PRIORITIES]
    }

    /// Whether the bit of a priority is set.
    pub(crate) fn has(&self, priority: usize, held: Held<'_>) -> bool {
        self.bits.get(held) & bit(priority) != 0
    }

    /// How many tasks of that priority can run.
    pub(crate) fn count(&self, priority: u8, held: Held<'_>) -> usize {
        self.queues[usize::from(priority) % PRIORITIES].iter(held).count()
    }

    /// The task of that priority whose turn comes after `n` others.
    pub(crate) fn nth(&self, priority: u8, n: usize, held: Held<'_>) -> Option<&'static Tcb<K>> {
        self.queues[usize::from(priority) % PRIORITIES].iter(held).nth(n)
    }
}
