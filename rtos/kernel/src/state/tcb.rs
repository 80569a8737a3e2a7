//! The task control block: all that the kernel keeps of a task.

use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicU8, AtomicU32, Ordering::Relaxed};

use crate::base::cell::{Cell, Held, Published, Rank};
use crate::base::class::Class;
use crate::base::context::Shared;
use crate::base::error::Error;
use crate::base::heap::Deadline;
use crate::base::model::{Initial, Only, Presence};
use crate::base::port::{Port, Saved};
use crate::base::ring::{Links, Queued};
use crate::base::stack::Stack;
use crate::state::account::{Account, STOPPED};
use crate::state::config::{Config, IfMulti};
use crate::state::ownership::{Ownership, Protocol};
use crate::state::waiting::Waiting;

/// What a task does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(crate) enum State {
    Dormant,
    /// It can run, or does.
    Ready,
    Waiting,
    Suspended,
    WaitingSuspended,
}

/// Where a task runs, if there is a choice.
pub struct Home<K: Config> {
    pub(crate) processor: Published<K::Processor>,
    /// Where the activation that is queued wants it to run.
    pub(crate) next: Cell<Option<u8>>,
}

impl<K: Config> Initial for Home<K> {
    const INITIAL: Self = Home { processor: Published::new(), next: Cell::new(None) };
}

/// The task control block: all that the kernel keeps of a task.
#[repr(C)]
pub struct Tcb<K: Config> {
    pub(crate) saved: Saved,
    pub(crate) priority: Rank,
    pub(crate) state: Cell<State>,
    /// Whether it begins anew when it ends.
    pub(crate) queued: Cell<bool>,
    /// Its priority without what mutexes add.
    pub(crate) base: Rank,
    /// Whether it was woken while it did not sleep.
    pub(crate) woken: Cell<bool>,
    /// Whether it was asked to end. This and the next are changed on the task's processor only.
    pub(crate) asked_to_end: Cell<bool>,
    /// Whether it does not let itself be ended now.
    pub(crate) unending: Cell<bool>,
    pub(crate) links: Links<Self>,
    pub(crate) home: IfMulti<K, Home<K>>,
    pub(crate) deadline: Deadline,
    /// What processor time is left to it, if the kernel has an overrun handler.
    pub(crate) account: <K::Overrun as Presence>::Only<Account>,
    /// Its sub-priority, if the kernel has any.
    sub_priority: <K::SubPriorities as Presence>::Only<SubPriority>,
    /// Not `Nothing` only while it waits.
    pub(crate) waiting: Cell<Waiting<Self>>,
    /// With what its last wait ended.
    pub(crate) wake: Cell<Result<usize, Error>>,
    /// The priority of the word that it has received from a priority data queue.
    pub(crate) received: AtomicU8,
    /// The mutex that it locked last, and still holds.
    pub(crate) mutexes: Cell<Option<&'static Ownership<Self>>>,
    /// Its first priority.
    initial: u8,
    pub(crate) active: bool,
    pub(crate) queues: bool,
    restricted: bool,
    pub(crate) class: Class,
}

/// The sub-priority of a task, from 0, the highest.
pub struct SubPriority {
    /// What chg_spr has set.
    own: Cell<u32>,
    /// Whether a mutex gives the task its priority, or one as high: then it counts as the highest of that.
    boosted: Cell<bool>,
    /// What counts now. Another processor may read it at any time, as it may the priority.
    current: AtomicU32,
}

impl Initial for SubPriority {
    const INITIAL: Self =
        SubPriority { own: Cell::new(u32::MAX), boosted: Cell::new(false), current: AtomicU32::new(u32::MAX) };
}

impl SubPriority {
    fn set(&self, own: u32, boosted: bool, held: Held<'_>) {
        self.own.set(own, held);
        self.boosted.set(boosted, held);
        self.current.store(if boosted { 0 } else { own }, Relaxed);
    }
}

/// With what a task begins.
pub(crate) struct First {
    pub(crate) entry: unsafe extern "C" fn(*mut ()),
    pub(crate) argument: *mut (),
    pub(crate) priority: u8,
    /// Whether it is active when the kernel starts.
    pub(crate) active: bool,
    /// Whether an activation while it is active is queued.
    pub(crate) queues: bool,
    /// Whether it is restricted: TA_RSTR.
    pub(crate) restricted: bool,
    pub(crate) class: Class,
}

impl<K: Config> Tcb<K> {
    /// A task on that stack.
    pub(crate) const fn new<const BYTES: usize>(first: First, stack: &'static Stack<BYTES>) -> Tcb<K> {
        let limit = stack.0.get().cast::<u8>();
        // SAFETY: one past the end of the stack.
        let top = unsafe { limit.add(BYTES) };
        Tcb {
            saved: Saved { sp: UnsafeCell::new(top), limit, top, entry: first.entry, argument: first.argument },
            priority: Rank::new(first.priority),
            state: Cell::new(State::Dormant),
            queued: Cell::new(false),
            base: Rank::new(first.priority),
            woken: Cell::new(false),
            asked_to_end: Cell::new(false),
            unending: Cell::new(false),
            links: Links::new(),
            home: <IfMulti<K, Home<K>> as Only<Home<K>>>::INITIAL,
            deadline: Deadline::new(),
            account: <<K::Overrun as Presence>::Only<Account> as Only<Account>>::INITIAL,
            sub_priority: <<K::SubPriorities as Presence>::Only<SubPriority> as Only<SubPriority>>::INITIAL,
            waiting: Cell::new(Waiting::Nothing),
            wake: Cell::new(Ok(0)),
            received: AtomicU8::new(0),
            mutexes: Cell::new(None),
            initial: first.priority,
            active: first.active,
            queues: first.queues,
            restricted: first.restricted,
            class: first.class,
        }
    }

    /// The idle task of a processor, which is below every priority.
    pub const fn idle<const BYTES: usize>(stack: &'static Stack<BYTES>) -> Tcb<K> {
        let class = Class::of::<K::Model, Shared>();
        let (entry, argument) = (idle::<K> as unsafe extern "C" fn(*mut ()), core::ptr::null_mut());
        Tcb::new(
            First { entry, argument, priority: Rank::IDLE, active: false, queues: true, restricted: false, class },
            stack,
        )
    }

    /// Gives a dormant task what a task has that begins.
    pub(crate) fn reset(&self, held: Held<'_>) {
        self.stop_account();
        self.state.set(State::Dormant, held);
        self.priority.set(self.initial, held);
        self.base.set(self.initial, held);
        self.woken.set(false, held);
        self.asked_to_end.set(false, held);
        self.unending.set(false, held);
        self.waiting.set(Waiting::Nothing, held);
        self.set_sub_priority(u32::MAX, held);
        let _ = self.set_boosted(false, held);
    }

    /// The task has ended: nothing of its time is counted any more.
    #[inline(always)]
    fn stop_account(&self) {
        if let Some(account) = self.account.get() {
            account.state.store(STOPPED, Relaxed);
        }
    }

    /// E_NOSPT if it is a restricted task, and E_RASTER if it was asked to end: then it may not wait.
    #[inline(always)]
    pub(crate) fn may_wait(&self, held: Held<'_>) -> Result<(), Error> {
        if self.is_restricted() {
            return Err(Error::NOSPT);
        }
        if self.asked_to_end.get(held) { Err(Error::RASTER) } else { Ok(()) }
    }

    /// Whether it is a restricted task, if this kernel has any.
    #[inline(always)]
    pub(crate) fn is_restricted(&self) -> bool {
        K::Restricted::IS && self.restricted
    }

    /// The sub-priority that it was given, if the kernel has any.
    pub(crate) fn sub_priority(&self, held: Held<'_>) -> Option<u32> {
        self.sub_priority.get().map(|sub| sub.own.get(held))
    }

    /// Gives it another sub-priority. It is for the caller to move it in the queue that it is in.
    #[inline(always)]
    pub(crate) fn set_sub_priority(&self, own: u32, held: Held<'_>) {
        if let Some(sub) = self.sub_priority.get() {
            sub.set(own, sub.boosted.get(held), held);
        }
    }

    /// Whether a mutex gives it a priority as high as its base priority, or higher, as far as the kernel needs to know.
    pub(crate) fn is_boosted(&self, held: Held<'_>) -> bool {
        self.sub_priority.get().is_some_and(|sub| sub.boosted.get(held))
    }

    /// Keeps whether a mutex gives it its priority. True if that is new, and the task has to be moved in its queue.
    #[inline(always)]
    pub(crate) fn set_boosted(&self, boosted: bool, held: Held<'_>) -> bool {
        let Some(sub) = self.sub_priority.get() else { return false };
        let is_new = sub.boosted.get(held) != boosted;
        sub.set(sub.own.get(held), boosted, held);
        is_new && Self::is_by_sub_rank(usize::from(self.priority.get()))
    }

    /// The same, as its mutexes are now.
    #[inline(never)]
    pub(crate) fn follow_boost(&self, held: Held<'_>) -> bool {
        let base = self.base.get();
        self.set_boosted(self.mutexes(held).filter_map(|mutex| mutex.gives(held)).any(|given| given <= base), held)
    }

    /// Whether it comes before another task of another queue.
    #[inline(always)]
    pub(crate) fn precedes(&self, other: &Self) -> bool {
        let (rank, others) = (self.priority.get(), other.priority.get());
        rank < others
            || (rank == others && Self::is_by_sub_rank(usize::from(rank)) && self.sub_rank() < other.sub_rank())
    }

    pub(crate) fn initial_priority(&self) -> u8 {
        self.initial
    }

    pub(crate) fn is_waiting(&self, held: Held<'_>) -> bool {
        matches!(self.state.get(held), State::Waiting | State::WaitingSuspended)
    }

    pub(crate) fn is_delayed(&self, held: Held<'_>) -> bool {
        matches!(self.waiting.get(held), Waiting::Delay)
    }

    /// Takes it out of the queue of what it waits for.
    pub(crate) fn stop_waiting(&'static self, held: Held<'_>) {
        if let Some(queue) = self.waiting.get(held).queue() {
            queue.tasks.remove(self, held);
        }
    }

    /// The mutexes that it holds, from the one that it locked last.
    pub(crate) fn mutexes(&self, held: Held<'_>) -> impl Iterator<Item = &'static Ownership<Self>> {
        core::iter::successors(self.mutexes.get(held), move |mutex| mutex.previous.get(held))
    }

    /// Whether it may have that base priority: it is not above a ceiling that it holds or waits for.
    pub(crate) fn ceilings_allow(&self, rank: u8, held: Held<'_>) -> bool {
        let waits_for = match self.waiting.get(held) {
            Waiting::Mutex(mutex) => Some(mutex),
            _ => None,
        };
        let allows = |mutex: &Ownership<Self>| {
            if let Protocol::Ceiling(ceiling) = mutex.protocol { rank >= ceiling } else { true }
        };
        self.mutexes(held).chain(waits_for).all(allows)
    }

    /// Whether it has the priority that its base and its mutexes make.
    pub(crate) fn is_settled(&self, held: Held<'_>) -> bool {
        let given = self.mutexes(held).filter_map(|mutex| mutex.gives(held)).min();
        let base = self.base.get();
        let boosted = given.is_some_and(|given| given <= base);
        self.priority.get() == given.map_or(base, |given| given.min(base))
            && (!K::SubPriorities::IS || self.is_boosted(held) == boosted)
    }
}

impl<K: Config> Queued for Tcb<K> {
    #[inline(always)]
    fn links(&self) -> &Links<Self> {
        &self.links
    }

    #[inline(always)]
    fn rank(&self) -> u8 {
        self.priority.get()
    }

    #[inline(always)]
    fn sub_rank(&self) -> u32 {
        self.sub_priority.get().map_or(0, |sub| sub.current.load(Relaxed))
    }

    const BY_SUB_RANK: u32 = K::BY_SUB_PRIORITY;
}

/// What a processor does when no task can run.
unsafe extern "C" fn idle<K: Config>(_: *mut ()) {
    loop {
        K::Port::idle();
    }
}
