//! Wait queues: the tasks that wait for an object.

use crate::base::cell::Held;
use crate::base::ring::{Queued, Ring};

/// The queue of an object: in the order in which tasks came, or in that of their priorities.
pub struct Queue<T: Queued> {
    pub(crate) tasks: Ring<T>,
    pub(crate) by_priority: bool,
}

impl<T: Queued> Queue<T> {
    pub(crate) const fn new() -> Self {
        Queue { tasks: Ring::new(), by_priority: false }
    }

    #[inline(always)]
    pub(crate) fn add(&self, task: &'static T, held: Held<'_>) {
        if self.by_priority { self.tasks.insert_by_priority(task, held) } else { self.tasks.push(task, held) }
    }

    /// Puts a task whose priority has changed where it belongs now.
    pub(crate) fn reorder(&self, task: &'static T, held: Held<'_>) {
        if self.by_priority {
            self.tasks.remove(task, held);
            self.tasks.insert_by_priority(task, held);
        }
    }
}
