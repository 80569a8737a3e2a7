//! The trait [`Storage`]: where the state of a kernel is.
//!
//! The `kernel!` macro makes a static for each processor, task and object, and a type that gives them. So they are at
//! addresses that the linker knows, and no table stands between a handle and its object.

use core::sync::atomic::AtomicBool;

use crate::base::cell::Held;
use crate::base::context::Placed;
use crate::base::heap;
use crate::base::model::{Initial, Model, Only};
use crate::base::port::{Lock, Port};
use crate::state::clock::Clock;
use crate::state::config::{Config, IfMulti};
use crate::state::processor::{Event, Processor};
use crate::state::queue::Queue;
use crate::state::tcb::Tcb;

/// A kernel as far as the services know it: its processors and its tasks.
///
/// # Safety
/// The functions give the same statics at every call, and nothing else uses these. Made by `kernel!`.
pub unsafe trait Storage: Config<Processor = Processor<Self>> {
    /// The processor of that number.
    ///
    /// # Safety
    /// The number is below [`Model::PROCESSORS`].
    unsafe fn processor(number: usize) -> &'static Processor<Self>;
    /// What belongs to no processor.
    fn common() -> &'static Common<Self>;
    /// Memory for the deadlines of a processor: its own and the shared ones.
    fn slots(number: usize) -> [&'static [Slot<Self>]; 2];
    /// The tasks, by their ITRON numbers less one.
    fn tasks() -> &'static [Numbered<Tcb<Self>>];
}

/// Memory for one deadline of a kernel.
pub type Slot<K> = heap::Slot<Event<K>>;

/// An object in the table of its kind: what the ITRON number stands for.
pub struct Numbered<T: 'static> {
    pub(crate) block: &'static T,
    pub(crate) domain: Placed,
}

impl<T> Numbered<T> {
    /// An entry of the table.
    pub const fn new(block: &'static T, domain: Placed) -> Self {
        Numbered { block, domain }
    }
}

/// What belongs to no processor.
pub struct Common<K: Config> {
    pub(crate) giant: IfMulti<K, Giant<K>>,
    pub(crate) clock: Clock<K::Port>,
    /// Whether the kernel has started and was not asked to end.
    pub(crate) running: AtomicBool,
}

/// The giant lock.
pub struct Giant<K: Config>(pub(crate) <K::Port as Port>::Giant);

impl<K: Config> Initial for Giant<K> {
    const INITIAL: Self = Giant(<K::Port as Port>::Giant::FREE);
}

impl<K: Config> Common<K> {
    /// As it is before the kernel starts.
    pub const NEW: Self = Common {
        giant: <IfMulti<K, Giant<K>> as Only<Giant<K>>>::INITIAL,
        clock: Clock::new(),
        running: AtomicBool::new(false),
    };
}

impl<K: Storage> Processor<K> {
    /// The processor of that number, below the number of processors.
    #[inline(always)]
    pub(crate) fn of(number: usize) -> &'static Self {
        debug_assert!(number < K::Model::PROCESSORS);
        // SAFETY: numbers come from the port, from loops over all processors, and from what was checked when it was given.
        unsafe { K::processor(number) }
    }

    /// Its number, from 0.
    pub(crate) fn number(&self) -> usize {
        (0..K::Model::PROCESSORS).find(|&number| core::ptr::eq(Processor::<K>::of(number), self)).unwrap_or(0)
    }

    /// As [`choose`](Self::choose), for who does not hold the giant lock. Before a task of the shared agenda runs the
    /// lock is taken once: what another processor has written, when it prepared or left that task, is seen from then
    /// on.
    #[inline(always)]
    pub(crate) fn choose_alone(&self) -> &'static Tcb<K> {
        if !K::Model::LOCKS {
            return self.choose();
        }
        let own = self.own.ready.top();
        match self.shared.get() {
            None => own,
            Some(shared) => {
                let shared = shared.ready.top();
                if !shared.precedes(own) {
                    own
                } else if core::ptr::eq(shared, self.running.get()) {
                    shared
                } else {
                    self.choose_shared()
                }
            }
        }
    }

    #[inline(never)]
    fn choose_shared(&self) -> &'static Tcb<K> {
        let Some(giant) = K::common().giant.get() else { return self.choose() };
        // Nobody who has it waits for this processor.
        while !giant.0.try_acquire() {
            K::Port::relax();
        }
        let next = self.choose();
        giant.0.release();
        next
    }
}

impl<K: Storage> Tcb<K> {
    /// The ITRON number of the task: from 1. None for an idle one.
    pub(crate) fn number(&self) -> Option<usize> {
        K::tasks().iter().position(|task| core::ptr::eq(task.block, self)).map(|index| index + 1)
    }
}

impl<K: Storage> Queue<Tcb<K>> {
    /// The ITRON number of the first task.
    pub(crate) fn first_number(&self, held: Held<'_>) -> Option<usize> {
        self.tasks.first(held).and_then(|task| task.number())
    }
}
