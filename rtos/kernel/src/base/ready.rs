//! Ready queues: the tasks that can run on a processor, and the one of them that should.
//!
//! There is one queue for each priority, a bit for each queue that is not empty, and the first task of the highest such
//! queue, which every service can read with one load. When no task can run, that is the idle task.
//!
//! Within some priorities tasks are in the order of their sub-priorities, if the kernel has any such priority. One that
//! has none has no code for it.

#[cfg(test)]
mod tests;

use crate::base::cell::{Cell, Held, Published};
use crate::base::ring::{Queued, Ring, bit};

/// How many priorities there are.
pub const PRIORITIES: usize = 16;

/// The bits of priorities, each from 1.
pub const fn sub_priorities(priorities: &[usize]) -> u32 {
    let (mut bits, mut at) = (0, 0);
    while at < priorities.len() {
        assert!(priorities[at] >= 1 && priorities[at] <= PRIORITIES, "a priority is from 1 to 16");
        bits |= bit(priorities[at] - 1);
        at += 1;
    }
    bits
}

/// The tasks that can run.
pub(crate) struct Ready<T: Queued> {
    top: Published<T>,
    /// See [`bit`].
    bits: Cell<u32>,
    queues: [Ring<T>; PRIORITIES],
    idle: Published<T>,
}

impl<T: Queued> Ready<T> {
    pub(crate) const fn new() -> Self {
        Ready {
            top: Published::new(),
            bits: Cell::new(0),
            queues: [const { Ring::new() }; PRIORITIES],
            idle: Published::new(),
        }
    }

    pub(crate) fn start(&self, idle: &'static T, held: Held<'_>) {
        self.idle.set(idle, held);
        self.top.set(idle, held);
    }

    /// The task that should run, of these.
    #[inline(always)]
    pub(crate) fn top(&self) -> &'static T {
        self.top.get()
    }

    #[inline(always)]
    fn queue(&self, task: &T) -> (usize, &Ring<T>) {
        let priority = usize::from(task.rank()) % PRIORITIES;
        (priority, &self.queues[priority])
    }

    /// Adds a task behind those of its priority. True if it should run now.
    #[inline(always)]
    pub(crate) fn insert(&self, task: &'static T, held: Held<'_>) -> bool {
        let (priority, queue) = self.queue(task);
        if T::is_by_sub_rank(priority) {
            let rank = task.sub_rank();
            return self.insert_by_sub_rank(task, held, |other| other.sub_rank() > rank);
        }
        queue.push(task, held);
        self.bits.set(self.bits.get(held) | bit(priority), held);
        let first = task.rank() < self.top().rank();
        if first {
            self.top.set(task, held);
        }
        first
    }

    /// Adds a task before those of its priority. True if it should run now.
    pub(crate) fn insert_front(&self, task: &'static T, held: Held<'_>) -> bool {
        let (priority, queue) = self.queue(task);
        if T::is_by_sub_rank(priority) {
            let rank = task.sub_rank();
            return self.insert_by_sub_rank(task, held, |other| other.sub_rank() >= rank);
        }
        queue.push_front(task, held);
        self.bits.set(self.bits.get(held) | bit(priority), held);
        let first = task.rank() <= self.top().rank();
        if first {
            self.top.set(task, held);
        }
        first
    }

    /// Adds a task before the first of its priority of which that is true. True if it should run now.
    #[inline(never)]
    fn insert_by_sub_rank(&self, task: &'static T, held: Held<'_>, is: impl Fn(&T) -> bool) -> bool {
        let (priority, queue) = self.queue(task);
        queue.insert_before_first(task, held, is);
        self.bits.set(self.bits.get(held) | bit(priority), held);
        self.find_top(held);
        core::ptr::eq(self.top(), task)
    }

    /// Takes a task out. True if it was the one that should run.
    #[inline(always)]
    pub(crate) fn remove(&self, task: &'static T, held: Held<'_>) -> bool {
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
        if before.rank() == priority {
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
    pub(crate) fn queue_of(&self, priority: usize) -> &Ring<T> {
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
    pub(crate) fn nth(&self, priority: u8, n: usize, held: Held<'_>) -> Option<&'static T> {
        self.queues[usize::from(priority) % PRIORITIES].iter(held).nth(n)
    }
}
