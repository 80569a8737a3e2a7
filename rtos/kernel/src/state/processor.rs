//! What the kernel knows of each processor.
//!
//! A processor has two agendas: tasks that can run, and deadlines. Its own is touched by nobody else, so locking the
//! processor is enough. The shared one is changed by every processor, under the giant lock. Built for one processor there
//! is only the first, and everything is in it.
//!
//! The task that should run is the higher of the two tops; at the same priority, that of the processor's own agenda.

use core::mem::MaybeUninit;
use core::sync::atomic::AtomicBool;

use crate::cell::{Cell, Held, Published};
use crate::heap::{Heap, Slot};
use crate::kernel::Kernel;
use crate::model::{Initial, Model, Only};
use crate::port::{Lock, Port};
use crate::ready::Ready;
use crate::spin_lock::SpinLockBlock;
use crate::task::{Stack, Tcb};

/// The tasks that can run on a processor, and the deadlines that it watches.
pub struct Agenda<K: Kernel> {
    pub(crate) ready: Ready<K>,
    pub(crate) heap: Heap<K>,
}

impl<K: Kernel> Initial for Agenda<K> {
    const INITIAL: Self = Agenda { ready: Ready::new(), heap: Heap::new() };
}

/// One processor.
pub struct Processor<K: Kernel> {
    /// The task that runs. Written by this processor only.
    pub(crate) running: Published<Tcb<K>>,
    pub(crate) own: Agenda<K>,
    pub(crate) shared: <K::Model as Model>::Only<Agenda<K>>,
    /// Whether the task that runs gives way to a higher one: neither dis_dsp nor chg_ipm says no.
    pub(crate) dispatching: Cell<bool>,
    /// Whether the task that runs has called dis_dsp.
    pub(crate) dispatch_disabled: Cell<bool>,
    /// What chg_ipm was last given by the task that runs.
    pub(crate) interrupt_mask: Cell<i32>,
    /// What was before the code that runs has locked the processor by a service, if it has.
    pub(crate) before: Cell<Option<<K::Port as Port>::Mask>>,
    /// The spin lock that it holds.
    pub(crate) spinning: Cell<Option<&'static SpinLockBlock<K>>>,
    /// When the timer is to ring, if at all.
    pub(crate) armed: Cell<Option<u32>>,
    /// Whether what runs before its first task has; and whether what runs at its end has.
    pub(crate) has_begun: AtomicBool,
    pub(crate) has_ended: AtomicBool,
    idle: Tcb<K>,
}

impl<K: Kernel> Processor<K> {
    /// Processors that have not started. The stacks are their idle tasks'.
    pub const fn all<const N: usize, const BYTES: usize>(stacks: &'static [Stack<BYTES>; N]) -> [Self; N] {
        let mut all = [const { MaybeUninit::<Self>::uninit() }; N];
        let mut number = 0;
        while number < N {
            all[number] = MaybeUninit::new(Self::new(Tcb::idle(&stacks[number])));
            number += 1;
        }
        // SAFETY: each of them was written, and is not used any more from there.
        unsafe { (&raw const all).cast::<[Self; N]>().read() }
    }

    const fn new(idle: Tcb<K>) -> Self {
        Processor {
            running: Published::new(),
            own: Agenda::INITIAL,
            shared: <<K::Model as Model>::Only<Agenda<K>> as Only<Agenda<K>>>::INITIAL,
            dispatching: Cell::new(true),
            dispatch_disabled: Cell::new(false),
            interrupt_mask: Cell::new(0),
            before: Cell::new(None),
            spinning: Cell::new(None),
            armed: Cell::new(None),
            has_begun: AtomicBool::new(false),
            has_ended: AtomicBool::new(false),
            idle,
        }
    }

    pub(crate) fn start(&'static self, own: &'static [Slot<K>], shared: &'static [Slot<K>], held: Held<'_>) {
        self.running.set(&self.idle, held);
        self.own.ready.start(&self.idle, held);
        self.own.heap.start(own, held);
        if let Some(agenda) = self.shared.get() {
            agenda.ready.start(&self.idle, held);
            agenda.heap.start(shared, held);
        }
    }

    /// The processor of that number, below the number of processors.
    #[inline(always)]
    pub(crate) fn of(number: usize) -> &'static Self {
        debug_assert!(number < K::Model::PROCESSORS);
        // SAFETY: numbers come from the port, from loops over all processors, and from what was checked when it was given.
        unsafe { K::processor(number) }
    }

    /// The agenda of objects that every processor uses: its own, if there is no other processor.
    #[inline(always)]
    pub(crate) fn shared(&self) -> &Agenda<K> {
        self.shared.get().unwrap_or(&self.own)
    }

    /// The task that this processor should run.
    #[inline(always)]
    pub(crate) fn choose(&self) -> &'static Tcb<K> {
        let own = self.own.ready.top();
        match self.shared.get() {
            None => own,
            Some(shared) => {
                let shared = shared.ready.top();
                if shared.priority.get() < own.priority.get() { shared } else { own }
            }
        }
    }

    /// As [`choose`](Self::choose), for who does not hold the giant lock. Before a task of the shared agenda runs the lock
    /// is taken once: what another processor has written, when it prepared or left that task, is seen from then on.
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
                if shared.priority.get() >= own.priority.get() {
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

    /// Unlocks it as it was before a service has locked it.
    ///
    /// # Safety
    /// This is the processor that the code runs on, locked, and nothing relies on that any more.
    pub(crate) unsafe fn unlock(&self) {
        // SAFETY: the processor is locked, and this is its own.
        let before = self.before.get(unsafe { Held::assume() });
        // SAFETY: as the caller says.
        unsafe { K::Port::unlock(before.unwrap_or_else(K::Port::unlocked)) };
    }

    #[inline(always)]
    pub(crate) fn idle(&'static self) -> &'static Tcb<K> {
        &self.idle
    }
}
