//! The description of a task, checked while the program is compiled.

use core::marker::PhantomData;

use crate::base::class::Class;
use crate::base::context::{Domain, InTask};
use crate::base::model::Presence;
use crate::base::port::Port;
use crate::base::ready::PRIORITIES;
use crate::base::stack::Stack;
use crate::objects::task::Task;
use crate::objects::task::terminate::exit;
use crate::state::storage::Storage;
use crate::state::tcb::{First, Tcb};

/// A description of a task, from which `kernel!` makes it.
pub struct TaskSetup<K: Storage, D> {
    entry: unsafe extern "C" fn(*mut ()),
    argument: *mut (),
    priority: u8,
    stack: usize,
    active: bool,
    queues: bool,
    restricted: bool,
    class: Class,
    of: PhantomData<(K, D)>,
}

impl<K: Storage, D: Domain> Task<K, D> {
    /// Describes a task that runs this function, which must not capture anything. When the function returns the task
    /// has ended.
    pub const fn create<F: Fn(InTask<D>) + Copy + 'static>(body: F) -> TaskSetup<K, D> {
        const { assert!(size_of::<F>() == 0, "the body of a task captures nothing") };
        let _ = body;
        TaskSetup::foreign(run::<K, D, F>, core::ptr::null_mut())
    }
}

/// Where a task begins that is written in Rust.
unsafe extern "C" fn run<K: Storage, D: Domain, F: Fn(InTask<D>) + Copy + 'static>(_: *mut ()) {
    // SAFETY: `create` was given a value of this type, which has no size and is `Copy`, so this is one as good.
    let body: F = unsafe { core::mem::zeroed() };
    // SAFETY: this is the code of a task of that domain.
    let context = unsafe { InTask::<D>::assume() };
    body(context);
    exit::<K, D>()
}

impl<K: Storage, D: Domain> TaskSetup<K, D> {
    /// Describes a task that begins with a C function, which ends it with ext_tsk.
    pub const fn foreign(entry: unsafe extern "C" fn(*mut ()), argument: *mut ()) -> Self {
        let class = Class::of::<K::Model, D>();
        let stack = K::Port::MINIMUM_STACK;
        TaskSetup {
            entry,
            argument,
            priority: 0,
            stack,
            active: false,
            queues: true,
            restricted: false,
            class,
            of: PhantomData,
        }
    }

    /// Its initial priority: from 1, the highest, to 16.
    pub const fn priority(mut self, priority: usize) -> Self {
        assert!(priority >= 1 && priority <= PRIORITIES, "a priority is from 1 to 16");
        self.priority = priority as u8 - 1;
        self
    }

    /// The size of its stack in bytes.
    pub const fn stack(mut self, bytes: usize) -> Self {
        assert!(bytes >= K::Port::MINIMUM_STACK, "the stack is smaller than what the port needs to save a task");
        self.stack = bytes.next_multiple_of(K::Port::STACK_ALIGNMENT);
        self
    }

    /// It is active when the kernel starts: TA_ACT.
    pub const fn active(mut self) -> Self {
        self.active = true;
        self
    }

    /// An activation while it is active is refused, not queued: TA_NOACTQUE.
    pub const fn no_queue(mut self) -> Self {
        self.queues = false;
        self
    }

    /// It never waits, nor is it suspended, and its priority does not change: TA_RSTR. The kernel is one that has such
    /// tasks: `Kernel<…, Restricted = With>`. Others do not look whether a task is restricted.
    pub const fn restricted(mut self) -> Self {
        assert!(K::Restricted::IS, "a kernel of restricted tasks is a Kernel<…, Restricted = With>");
        self.restricted = true;
        self
    }

    /// It begins on that processor, counted from 0.
    pub const fn on(mut self, processor: usize) -> Self {
        self.class = self.class.starting_on::<K::Model>(processor);
        self
    }

    /// It runs only on these processors, of which bit 0 is the first.
    pub const fn only_on(mut self, processors: u32) -> Self {
        self.class = self.class.only_on::<K::Model>(processors);
        self
    }

    /// How large its stack is.
    pub const fn stack_size(&self) -> usize {
        self.stack
    }

    /// The task itself, on that stack.
    pub const fn build<const BYTES: usize>(self, stack: &'static Stack<BYTES>) -> Tcb<K> {
        assert!(BYTES >= self.stack, "the stack is smaller than what was asked for");
        Tcb::new(
            First {
                entry: self.entry,
                argument: self.argument,
                priority: self.priority,
                active: self.active,
                queues: self.queues,
                restricted: self.restricted,
                class: self.class,
            },
            stack,
        )
    }
}
