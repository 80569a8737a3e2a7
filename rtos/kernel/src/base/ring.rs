//! Rings: queues of tasks, linked through the tasks.
//!
//! A task is in at most one queue: the ready queue of its priority, or the wait queue of an object. So the two links
//! are fields of the task, and a queue is a reference to its first task. The last task of a queue links to the first.

use crate::base::cell::{Cell, Held};

/// The bit of a priority, of which the highest stands for priority 0, so that the number of leading zeros is the highest
/// priority.
#[inline(always)]
pub(crate) const fn bit(priority: usize) -> u32 {
    (1 << 31) >> priority
}

/// What can be in a queue: a task, of which a queue knows no more than this.
pub trait Queued: Sized + 'static {
    fn links(&self) -> &Links<Self>;
    /// Its priority now, from 0, the highest.
    fn rank(&self) -> u8;
    /// Its sub-priority now, from 0, the highest.
    fn sub_rank(&self) -> u32;
    /// The priorities within which ready tasks are in the order of their sub-priorities: bits as [`bit`] makes them.
    const BY_SUB_RANK: u32;
    /// Whether this priority is one of them.
    #[inline(always)]
    fn is_by_sub_rank(priority: usize) -> bool {
        Self::BY_SUB_RANK != 0 && Self::BY_SUB_RANK & bit(priority) != 0
    }
}

/// The links in the task. They mean something only while the task is in a queue.
pub struct Links<T: 'static> {
    next: Cell<Option<&'static T>>,
    previous: Cell<Option<&'static T>>,
}

impl<T> Links<T> {
    pub(crate) const fn new() -> Self {
        Links { next: Cell::new(None), previous: Cell::new(None) }
    }
}

/// The task after this one, which is in a queue.
#[inline(always)]
fn next<T: Queued>(task: &'static T, held: Held<'_>) -> &'static T {
    task.links().next.get(held).unwrap_or(task)
}

#[inline(always)]
fn previous<T: Queued>(task: &'static T, held: Held<'_>) -> &'static T {
    task.links().previous.get(held).unwrap_or(task)
}

/// A queue of tasks.
pub(crate) struct Ring<T: Queued> {
    first: Cell<Option<&'static T>>,
}

impl<T: Queued> Ring<T> {
    pub(crate) const fn new() -> Self {
        Ring { first: Cell::new(None) }
    }

    #[inline(always)]
    pub(crate) fn first(&self, held: Held<'_>) -> Option<&'static T> {
        self.first.get(held)
    }

    /// Puts the task at the end.
    #[inline(always)]
    pub(crate) fn push(&self, task: &'static T, held: Held<'_>) {
        match self.first.get(held) {
            None => {
                task.links().next.set(Some(task), held);
                task.links().previous.set(Some(task), held);
                self.first.set(Some(task), held);
            }
            Some(first) => insert_before(first, task, held),
        }
    }

    /// Puts the task at the front.
    #[inline(always)]
    pub(crate) fn push_front(&self, task: &'static T, held: Held<'_>) {
        self.push(task, held);
        self.first.set(Some(task), held);
    }

    /// Puts the task behind those of its priority and above, where the tasks are in the order of their priorities.
    pub(crate) fn insert_by_priority(&self, task: &'static T, held: Held<'_>) {
        let rank = task.rank();
        self.insert_before_first(task, held, |other| other.rank() > rank);
    }

    /// Puts the task before the first of which that is true, or at the end.
    #[inline(always)]
    pub(crate) fn insert_before_first(&self, task: &'static T, held: Held<'_>, is: impl Fn(&T) -> bool) {
        let Some(first) = self.first.get(held) else { return self.push(task, held) };
        if is(first) {
            return self.push_front(task, held);
        }
        let mut other = next(first, held);
        while !core::ptr::eq(other, first) && !is(other) {
            other = next(other, held);
        }
        insert_before(other, task, held);
    }

    /// Takes the task, which is in this queue, out of it.
    #[inline(always)]
    pub(crate) fn remove(&self, task: &'static T, held: Held<'_>) {
        let (before, after) = (previous(task, held), next(task, held));
        if core::ptr::eq(after, task) {
            self.first.set(None, held);
            return;
        }
        before.links().next.set(Some(after), held);
        after.links().previous.set(Some(before), held);
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

    /// Looks at each task that is in the queue now, from the first on, until `visit` says that it is enough. `visit`
    /// may take the task that it looks at out of the queue.
    pub(crate) fn visit(&self, held: Held<'_>, mut visit: impl FnMut(&'static T) -> bool) {
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
    pub(crate) fn iter<'a>(&self, held: Held<'a>) -> Tasks<'a, T> {
        let first = self.first.get(held);
        Tasks { first, current: first, held }
    }
}

/// The tasks of a queue.
pub(crate) struct Tasks<'a, T: Queued> {
    first: Option<&'static T>,
    current: Option<&'static T>,
    held: Held<'a>,
}

impl<T: Queued> Iterator for Tasks<'_, T> {
    type Item = &'static T;

    fn next(&mut self) -> Option<Self::Item> {
        let task = self.current?;
        let after = next(task, self.held);
        self.current = if self.first.is_some_and(|first| core::ptr::eq(first, after)) { None } else { Some(after) };
        Some(task)
    }
}

#[inline(always)]
fn insert_before<T: Queued>(other: &'static T, task: &'static T, held: Held<'_>) {
    let before = previous(other, held);
    task.links().next.set(Some(other), held);
    task.links().previous.set(Some(before), held);
    before.links().next.set(Some(task), held);
    other.links().previous.set(Some(task), held);
}
