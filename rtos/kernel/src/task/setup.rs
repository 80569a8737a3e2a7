//! The description of a task, checked while the program is compiled.

use core::cell::UnsafeCell;
use core::marker::PhantomData;

use super::{State, Task, Tcb, Waiting};
use crate::cell::{Cell, Rank};
use crate::context::{Domain, InTask, Known};
use crate::heap::Deadline;
use crate::kernel::Kernel;
use crate::model::{Model, Only, Presence};
use crate::overrun::Account;
use crate::port::{Port, Saved};
use crate::ready::PRIORITIES;
use crate::ring::Links;

/// On which processors a task may run.
#[derive(Clone, Copy)]
pub struct Class {
    initial: u8,
    affinity: u32,
    pinned: bool,
}

impl Class {
    /// The class of an object that lives where the domain says.
    pub(crate) const fn of<M: Model, D: Domain>() -> Class {
        match D::KNOWN {
            Known::Pinned(place) => {
                assert!(place < M::PROCESSORS, "the class names a processor that this kernel does not have");
                Class { initial: place as u8, affinity: 1 << place, pinned: true }
            }
            _ => Class { initial: 0, affinity: ((1u64 << M::PROCESSORS) - 1) as u32, pinned: false },
        }
    }

    /// The processor that it is pinned to.
    #[inline(always)]
    pub(crate) const fn pinned(self) -> Option<usize> {
        if self.pinned { Some(self.initial as usize) } else { None }
    }

    pub(crate) const fn initial(self) -> usize {
        self.initial as usize
    }

    pub(crate) const fn allows(self, processor: usize) -> bool {
        processor < 32 && self.affinity & (1 << processor) != 0
    }

    /// Begins on that processor.
    pub(crate) const fn starting_on<M: Model>(self, processor: usize) -> Class {
        assert!(processor < M::PROCESSORS, "the class names a processor that this kernel does not have");
        assert!(self.allows(processor), "the initial processor is not one that the class allows");
        Class { initial: processor as u8, affinity: self.affinity, pinned: self.pinned }
    }

    pub(crate) const fn only_on<M: Model>(self, processors: u32) -> Class {
        assert!(processors != 0, "the class allows no processor");
        assert!(
            (processors as u64) < 1u64 << M::PROCESSORS,
            "the class allows a processor that this kernel does not have"
        );
        Class { initial: processors.trailing_zeros() as u8, affinity: processors, pinned: self.pinned }
    }
}

/// A description of a task, from which `kernel!` makes it.
pub struct TaskSetup<K: Kernel, D> {
    entry: unsafe extern "C" fn(*mut ()),
    argument: *mut (),
    priority: u8,
    stack: usize,
    active: bool,
    queues: bool,
    class: Class,
    of: PhantomData<(K, D)>,
}

impl<K: Kernel, D: Domain> Task<K, D> {
    /// Describes a task that runs this function, which must not capture anything. When the function returns the task
    /// has ended.
    pub const fn create<F: Fn(InTask<D>) + Copy + 'static>(body: F) -> TaskSetup<K, D> {
        const { assert!(size_of::<F>() == 0, "the body of a task captures nothing") };
        let _ = body;
        TaskSetup::foreign(run::<K, D, F>, core::ptr::null_mut())
    }
}

/// Where a task begins that is written in Rust.
unsafe extern "C" fn run<K: Kernel, D: Domain, F: Fn(InTask<D>) + Copy + 'static>(_: *mut ()) {
    // SAFETY: `create` was given a value of this type, which has no size and is `Copy`, so this is one as good.
    let body: F = unsafe { core::mem::zeroed() };
    // SAFETY: this is the code of a task of that domain.
    let context = unsafe { InTask::<D>::assume() };
    body(context);
    super::term::exit::<K, D>()
}

impl<K: Kernel, D: Domain> TaskSetup<K, D> {
    /// Describes a task that begins with a C function, which ends it with ext_tsk.
    pub const fn foreign(entry: unsafe extern "C" fn(*mut ()), argument: *mut ()) -> Self {
        let class = Class::of::<K::Model, D>();
        let stack = K::Port::MINIMUM_STACK;
        TaskSetup { entry, argument, priority: 0, stack, active: false, queues: true, class, of: PhantomData }
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
        let limit = stack.0.get().cast::<u8>();
        // SAFETY: one past the end of the stack.
        let top = unsafe { limit.add(BYTES) };
        Tcb {
            saved: Saved { sp: UnsafeCell::new(top), limit, top, entry: self.entry, argument: self.argument },
            priority: Rank::new(self.priority),
            state: Cell::new(State::Dormant),
            queued: Cell::new(false),
            base: Rank::new(self.priority),
            woken: Cell::new(false),
            asked_to_end: Cell::new(false),
            unending: Cell::new(false),
            links: Links::new(),
            home: <<K::Model as Model>::Only<super::Home<K>> as Only<super::Home<K>>>::INITIAL,
            deadline: Deadline::new(),
            account: <<K::Overrun as Presence>::Only<Account> as Only<Account>>::INITIAL,
            waiting: Cell::new(Waiting::Nothing),
            wake: Cell::new(Ok(0)),
            received: core::sync::atomic::AtomicU8::new(0),
            mutexes: Cell::new(None),
            initial: self.priority,
            active: self.active,
            queues: self.queues,
            class: self.class,
        }
    }
}

impl<K: Kernel> Tcb<K> {
    /// The idle task of a processor, which is below every priority.
    pub const fn idle<const BYTES: usize>(stack: &'static Stack<BYTES>) -> Tcb<K> {
        let mut setup = TaskSetup::<K, crate::context::Shared>::foreign(idle::<K>, core::ptr::null_mut());
        setup.priority = Rank::IDLE;
        setup.build(stack)
    }
}

/// What a processor does when no task can run.
unsafe extern "C" fn idle<K: Kernel>(_: *mut ()) {
    loop {
        K::Port::idle();
    }
}

/// Memory for the stack of a task.
#[repr(C, align(16))]
pub struct Stack<const BYTES: usize>(UnsafeCell<[u8; BYTES]>);

// SAFETY: only the task whose stack it is uses it.
unsafe impl<const BYTES: usize> Sync for Stack<BYTES> {}

impl<const BYTES: usize> Stack<BYTES> {
    /// Memory for a stack.
    pub const NEW: Self = Stack(UnsafeCell::new([0; BYTES]));
}
