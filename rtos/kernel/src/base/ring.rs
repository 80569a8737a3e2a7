//! Queues of tasks.
//!
//! A task is in at most one: the queue of its priority while it can run, or that of the object it waits for. So the two
//! links lie in the task, and a queue is a reference to its first task. The tasks form a ring, in which the last is the
//! one before the first.

use crate::cell::{Cell, Held};
use crate::kernel::Kernel;
use crate::task::Tcb;

/// The links in the task. They mean something only while the task is in a queue.
pub(crate) struct Links<K: Kernel> {
    next: Cell<Option<&'static Tcb<K>>>,
    previous: Cell<Option<&'static Tcb<K>>>,
}

impl<K: Kernel> Links<K> {
    pub(crate) const fn new() -> Self {
        Links { next: Cell::new(None), previous: Cell::new(None) }
    }
}

/// The task after this one, which is in a queue.
#[inline(always)]
fn next<K: Kernel>(task: &'static Tcb<K>, held: Held<'_>) -> &'static Tcb<K> {
    task.links.next.get(held).unwrap_or(task)
}

#[inline(always)]
fn previous<K: Kernel>(task: &'static Tcb<K>, held: Held<'_>) -> &'static Tcb<K> {
    task.links.previous.get(held).unwrap_or(task)
}

/// A queue of tasks.
pub(crate) struct Ring<K: Kernel> {
    first: Cell<Option<&'static Tcb<K>>>,
}

impl<K: Kernel> Ring<K> {
    pub(crate) const fn new() -> Self {
        Ring { first: Cell::new(None) }
    }

    #[inline(always)]
    pub(crate) fn first(&self, held: Held<'_>) -> Option<&'static Tcb<K>> {
        self.first.get(held)
    }

    /// Puts the task at the end.
    #[inline(always)]
    pub(crate) fn push(&self, task: &'static Tcb<K>, held: Held<'_>) {
        match self.first.get(held) {
            None => {
                task.links.next.set(Some(task), held);
                task.links.previous.set(Some(task), held);
                self.first.set(Some(task), held);
            }
            Some(first) => insert_before(first, task, held),
        }
    }

    /// Puts the task at the front.
    #[inline(always)]
    pub(crate) fn push_front(&self, task: &'static Tcb<K>, held: Held<'_>) {
        self.push(task, held);
        self.first.set(Some(task), held);
    }

    /// Puts the task behind those of its priority and above, where the tasks are in the order of their priorities.
    pub(crate) fn insert_by_priority(&self, task: &'static Tcb<K>, held: Held<'_>) {
        let rank = task.priority.get();
        let Some(first) = self.first.get(held) else { return self.push(task, held) };
        if rank < first.priority.get() {
            return self.push_front(task, held);
        }
        let mut other = next(first, held);
        while !core::ptr::eq(other, first) && other.priority.get() <= rank {
            other = next(other, held);
        }
        insert_before(other, task, held);
    }

    /// Takes the task, which is in this queue, out of it.
    #[inline(always)]
    pub(crate) fn remove(&self, task: &'static Tcb<K>, held: Held<'_>) {
        let (before, after) = (previous(task, held), next(task, held));
        if core::ptr::eq(after, task) {
            self.first.set(None, held);
            return;
        }
        before.links.next.set(Some(after), held);
        after.links.previous.set(Some(before), held);
        if self.first.get(held).is_some_and(|first| core::ptr::eq(first, task)) {
            self.first.set(Some(after), held);
        }
    }

    /// Makes the second task the first, and the first the last.
    pub(crate) fn rotate(&self, held: Held<'_>) {
        if let Some(first) = self.first.get(held) {
            self.first.set(Some(next(first, held)), held);
        }
    }

    /// Looks at each task that is in the queue now, from the first on, until `visit` says that it is enough. `visit` may
    /// take the task that it looks at out of the queue.
    pub(crate) fn visit(&self, held: Held<'_>, mut visit: impl FnMut(&'static Tcb<K>) -> bool) {
        let Some(mut task) = self.first.get(held) else { return };
        for _ in 0..self.iter(held).count() {
            let after = next(task, held);
            if visit(task) {
                return;
            }
            task = after;
        }
    }

    /// Whether the links go round, in both directions, within so many tasks.
    pub(crate) fn is_sound(&self, most: usize, held: Held<'_>) -> bool {
        let Some(first) = self.first.get(held) else { return true };
        let mut task = first;
        for _ in 0..=most {
            let after = next(task, held);
            if !core::ptr::eq(previous(after, held), task) {
                return false;
            }
            task = after;
            if core::ptr::eq(task, first) {
                return true;
            }
        }
        false
    }

    /// The tasks, from the first on. The queue must not be changed meanwhile.
    pub(crate) fn iter<'a>(&self, held: Held<'a>) -> Tasks<'a, K> {
        let first = self.first.get(held);
        Tasks { first, current: first, held }
    }
}

/// The tasks of a queue.
pub(crate) struct Tasks<'a, K: Kernel> {
    first: Option<&'static Tcb<K>>,
    current: Option<&'static Tcb<K>>,
    held: Held<'a>,
}

impl<K: Kernel> Iterator for Tasks<'_, K> {
    type Item = &'static Tcb<K>;

    fn next(&mut self) -> Option<Self::Item> {
        let task = self.current?;
        let after = next(task, self.held);
        self.current = if self.first.is_some_and(|first| core::ptr::eq(first, after)) { None } else { Some(after) };
        Some(task)
    }
}

#[inline(always)]
fn insert_before<K: Kernel>(other: &'static Tcb<K>, task: &'static Tcb<K>, held: Held<'_>) {
    let before = previous(other, held);
    task.links.next.set(Some(other), held);
    task.links.previous.set(Some(before), held);
    before.links.next.set(Some(task), held);
    other.links.previous.set(Some(task), held);
}
