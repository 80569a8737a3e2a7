//! Processors: the task that each runs, its agendas, and what its current task has locked.
//!
//! A processor has two agendas of ready tasks and deadlines. Its own agenda is used by this processor only, under its
//! lock. Every processor changes the shared agenda, under the giant lock. A kernel for one processor has only the
//! first, with everything in it.
//!
//! The task that should run is the higher of the two tops; at the same priority, that of the processor's own agenda.

use core::mem::MaybeUninit;
use core::sync::atomic::AtomicBool;

use crate::base::cell::{Cell, Held, Published};
use crate::base::heap::{Deadline, Heap, Slot, Timed, after, is_due};
use crate::base::model::{Initial, Only};
use crate::base::port::Port;
use crate::base::ready::Ready;
use crate::base::stack::Stack;
use crate::state::clock::LOOK;
use crate::state::config::{Config, IfMulti};
use crate::state::spin::SpinLockBlock;
use crate::state::tcb::Tcb;
use crate::state::timer::Timer;

/// Whose deadline it is.
pub enum Event<K: Config> {
    /// A task waits no longer.
    Task(&'static Tcb<K>),
    /// A notification is due.
    Timer(&'static Timer<K>),
}

impl<K: Config> Clone for Event<K> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<K: Config> Copy for Event<K> {}

impl<K: Config> Timed for Event<K> {
    #[inline(always)]
    fn deadline(self) -> &'static Deadline {
        match self {
            Event::Task(task) => &task.deadline,
            Event::Timer(timer) => &timer.deadline,
        }
    }
}

/// The tasks that can run on a processor, and the deadlines that it watches.
pub struct Agenda<K: Config> {
    pub(crate) ready: Ready<Tcb<K>>,
    pub(crate) heap: Heap<Event<K>>,
}

impl<K: Config> Initial for Agenda<K> {
    const INITIAL: Self = Agenda { ready: Ready::new(), heap: Heap::new() };
}

/// One processor.
pub struct Processor<K: Config> {
    /// The task that runs. Written by this processor only.
    pub(crate) running: Published<Tcb<K>>,
    pub(crate) own: Agenda<K>,
    pub(crate) shared: IfMulti<K, Agenda<K>>,
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

impl<K: Config> Processor<K> {
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
            shared: <IfMulti<K, Agenda<K>> as Only<Agenda<K>>>::INITIAL,
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

    pub(crate) fn start(
        &'static self,
        own: &'static [Slot<Event<K>>],
        shared: &'static [Slot<Event<K>>],
        held: Held<'_>,
    ) {
        self.running.set(&self.idle, held);
        self.own.ready.start(&self.idle, held);
        self.own.heap.start(own, held);
        if let Some(agenda) = self.shared.get() {
            agenda.ready.start(&self.idle, held);
            agenda.heap.start(shared, held);
        }
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
                if shared.precedes(own) { shared } else { own }
            }
        }
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

    /// Gives back the spin lock that it holds, if it holds one. The processor is locked, and is that which the code
    /// runs on.
    pub(crate) fn let_go(&self) {
        // SAFETY: the processor is locked, and this is its own.
        let held = unsafe { Held::assume() };
        if let Some(spinning) = self.spinning.get(held) {
            self.spinning.set(None, held);
            spinning.give_back();
        }
    }

    /// Sets the timer of this processor, if the deadline comes before what it is set to.
    #[inline(always)]
    pub(crate) fn arm(&self, at: u32, now: u32, held: Held<'_>) {
        let sooner = match self.armed.get(held) {
            None => true,
            Some(armed) => after(at, now) < after(armed, now),
        };
        if sooner {
            self.armed.set(Some(at), held);
            K::Port::alarm(if is_due(at, now) { 0 } else { at.wrapping_sub(now).min(LOOK) });
        }
    }
}
