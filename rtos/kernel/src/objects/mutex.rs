//! Mutexes, with priority ceiling or inheritance.
//!
//! The mutexes that a task holds form a stack, linked from the one that it locked last; they are unlocked in the
//! opposite order. A task's priority is the highest of its base priority, the ceilings of the mutexes that it holds
//! and, where a mutex inherits, the priorities of the tasks that wait for it. [`settle`] brings it there after every
//! change.

use crate::base::cell::Held;
use crate::base::class::Class;
use crate::base::context::{Context, Domain};
use crate::base::error::Error;
use crate::base::model::Presence;
use crate::base::timeout::Timeout;
use crate::objects::handle::handle;
use crate::objects::task::priority::{Place, change_priority};
use crate::service::frame::Service;
use crate::state::ownership::{Ownership, Protocol};
use crate::state::storage::Storage;
use crate::state::tcb::Tcb;
use crate::state::waiting::Waiting;

handle! {
    /// A mutex.
    Mutex, MutexBlock
}

/// All that the kernel keeps of a mutex.
pub type MutexBlock<K> = Ownership<Tcb<K>>;

impl<K: Storage, D: Domain> Mutex<K, D> {
    /// Describes a mutex that does not change priorities.
    pub const fn create() -> MutexBlock<K> {
        const { Class::of::<K::Model, D>() };
        Ownership::new()
    }

    /// loc_mtx: locks it, waiting for it if need be. E_OBJ if the caller holds it already, E_ILUSE if its base priority
    /// is above the ceiling.
    #[inline(always)]
    pub fn loc<C: Context>(self, cx: C) -> Result<(), Error> {
        self.tloc(Timeout::FOREVER, cx)
    }

    /// tloc_mtx: as loc_mtx, with E_TMOUT when the time has passed.
    #[inline(always)]
    pub fn tloc<C: Context>(self, timeout: Timeout, cx: C) -> Result<(), Error> {
        let service = self.enter_to_wait(cx)?;
        match self.take(&service) {
            Ok(true) => return service.finish(Ok(())),
            Ok(false) if timeout.is_poll() => return service.leave(Err(Error::TMOUT)),
            Ok(false) => {}
            Err(error) => return service.leave(Err(error)),
        }
        if self.block.protocol == Protocol::Inheritance {
            let held = service.held();
            // The owner inherits before the caller is in the queue, because that is what `block` does last.
            if let Some(owner) = self.block.owner.get(held) {
                inherit(&service, owner, service.running().priority.get());
            }
        }
        service.block(Waiting::Mutex(self.block), timeout).map(|_| ())
    }

    /// ploc_mtx: locks it if it is free; E_TMOUT if not.
    pub fn ploc<C: Context>(self, cx: C) -> Result<(), Error> {
        let service = self.enter_in_task(cx)?;
        match self.take(&service) {
            Ok(true) => service.finish(Ok(())),
            Ok(false) => service.leave(Err(Error::TMOUT)),
            Err(error) => service.leave(Err(error)),
        }
    }

    /// unl_mtx: unlocks it, and locks it for the first task that waits. E_OBJ if it is not the one that the caller
    /// locked last.
    #[inline(always)]
    pub fn unl<C: Context>(self, cx: C) -> Result<(), Error> {
        let service = self.enter_in_task(cx)?;
        let held = service.held();
        let me = service.running();
        if !me.mutexes.get(held).is_some_and(|last| core::ptr::eq(last, self.block)) {
            return service.leave(Err(Error::OBJ));
        }
        me.mutexes.set(self.block.previous.get(held), held);
        if self.block.protocol != Protocol::None {
            settle(&service, me, Place::First);
        }
        pass_on(&service, self.block);
        service.finish(Ok(()))
    }

    /// ini_mtx: unlocks it, whoever holds it. The waits of tasks end with E_DLT.
    pub fn ini<C: Context>(self, cx: C) -> Result<(), Error> {
        let service = self.enter_in_task(cx)?;
        let held = service.held();
        while service.wake_first(&self.block.waiting.tasks, Err(Error::DLT)) {}
        if let Some(owner) = self.block.owner.get(held) {
            self.block.owner.set(None, held);
            let mut link = &owner.mutexes;
            while let Some(other) = link.get(held) {
                if core::ptr::eq(other, self.block) {
                    link.set(other.previous.get(held), held);
                } else {
                    link = &other.previous;
                }
            }
            settle(&service, owner, Place::First);
        }
        service.finish(Ok(()))
    }

    /// ref_mtx: the task that holds it, and the first that waits.
    pub fn refer<C: Context>(self, cx: C) -> Result<(Option<usize>, Option<usize>), Error> {
        let service = self.enter_in_task(cx)?;
        let held = service.held();
        let owner = self.block.owner.get(held).and_then(|owner| owner.number());
        let first = self.block.waiting.first_number(held);
        service.leave(Ok((owner, first)))
    }

    #[inline(always)]
    fn take<C: Context>(self, service: &Service<K, D, C>) -> Result<bool, Error> {
        // Its owner's priority changes under its lock.
        service.is_of_caller()?;
        let held = service.held();
        let me = service.running();
        if let Protocol::Ceiling(ceiling) = self.block.protocol
            && me.base.get() < ceiling
        {
            return Err(Error::ILUSE);
        }
        match self.block.owner.get(held) {
            None => {
                own(service, self.block, me);
                Ok(true)
            }
            Some(owner) if core::ptr::eq(owner, me) => Err(Error::OBJ),
            Some(_) => Ok(false),
        }
    }
}

/// Makes a task the owner of a mutex that has none.
#[inline(always)]
fn own<K: Storage, D: Domain, C: Context>(
    service: &Service<K, D, C>,
    mutex: &'static MutexBlock<K>,
    tcb: &'static Tcb<K>,
) {
    let held = service.held();
    mutex.owner.set(Some(tcb), held);
    mutex.previous.set(tcb.mutexes.get(held), held);
    tcb.mutexes.set(Some(mutex), held);
    if let Some(rank) = mutex.gives(held).filter(|&rank| raises(tcb, rank, held)) {
        change_priority(service, tcb, rank, Place::First);
    }
}

/// Whether a task that gets that priority from a mutex has to be moved: it has a lower one, or the same one as its own, in
/// which it becomes the first.
#[inline(always)]
fn raises<K: Storage>(tcb: &'static Tcb<K>, rank: u8, held: Held<'_>) -> bool {
    let present = tcb.priority.get();
    if !K::SubPriorities::IS {
        return rank < present;
    }
    rank <= present && (tcb.set_boosted(true, held) | (rank < present))
}

/// Gives a mutex that its owner has let go to the first task that waits, or makes it free.
fn pass_on<K: Storage, D: Domain, C: Context>(service: &Service<K, D, C>, mutex: &'static MutexBlock<K>) {
    let held = service.held();
    mutex.owner.set(None, held);
    if let Some(next) = mutex.waiting.tasks.first(held) {
        mutex.waiting.tasks.remove(next, held);
        // Before it can run, so that its priority changes while it is in no queue.
        next.waiting.set(Waiting::Nothing, held);
        own(service, mutex, next);
        service.wake(next, Ok(0));
    }
}

/// Unlocks all that a task holds that ends. Few hold a mutex then, and the others shall not pay for the room that this
/// takes.
#[inline(never)]
pub(crate) fn release_all<K: Storage, D: Domain, C: Context>(service: &Service<K, D, C>, tcb: &'static Tcb<K>) {
    let held = service.held();
    while let Some(mutex) = tcb.mutexes.get(held) {
        tcb.mutexes.set(mutex.previous.get(held), held);
        pass_on(service, mutex);
    }
}

/// Gives a task the priority that its base and its mutexes make. `Place::Last` says that the base was set anew, which
/// makes the task the last of its priority even if it stays the same, unless a mutex decides.
/// Not inlined, so that who unlocks a mutex that changes no priority does not pay for the room that this takes.
#[inline(never)]
pub(crate) fn settle<K: Storage, D: Domain, C: Context>(
    service: &Service<K, D, C>,
    tcb: &'static Tcb<K>,
    place: Place,
) {
    let held = service.held();
    let base = tcb.base.get();
    let given = tcb.mutexes(held).filter_map(|mutex| mutex.gives(held)).min();
    let (rank, place) = match given.filter(|&given| given <= base) {
        Some(given) => (given, Place::First),
        None => (base, place),
    };
    if rank == tcb.priority.get() && place == Place::First && !(K::SubPriorities::IS && tcb.follow_boost(held)) {
        return;
    }
    // Asked again and not kept in a variable, which would cost kernels without sub-priorities an instruction.
    if K::SubPriorities::IS {
        let _ = tcb.follow_boost(held);
    }
    change_priority(service, tcb, rank, place);
    // Whoever holds what the task waits for may have inherited from it.
    if let Waiting::Mutex(mutex) = tcb.waiting.get(held) {
        settle_owner(service, mutex);
    }
}

/// After a change among those who wait for a mutex: what its owner inherits.
pub(crate) fn settle_owner<K: Storage, D: Domain, C: Context>(
    service: &Service<K, D, C>,
    mutex: &'static MutexBlock<K>,
) {
    if mutex.protocol == Protocol::Inheritance
        && let Some(owner) = mutex.owner.get(service.held())
    {
        settle(service, owner, Place::First);
    }
}

/// Raises the priority of a task that holds what one of that priority is about to wait for, and so on along the chain.
fn inherit<K: Storage, D: Domain, C: Context>(service: &Service<K, D, C>, tcb: &'static Tcb<K>, rank: u8) {
    let mut tcb = tcb;
    while raises(tcb, rank, service.held()) {
        change_priority(service, tcb, rank, Place::First);
        let held = service.held();
        match tcb.waiting.get(held) {
            Waiting::Mutex(mutex) if mutex.protocol == Protocol::Inheritance => match mutex.owner.get(held) {
                Some(owner) => tcb = owner,
                None => return,
            },
            _ => return,
        }
    }
}

impl<K: Storage> MutexBlock<K> {
    /// Whether who holds it has it among its mutexes, and nobody waits for it if nobody holds it.
    pub(crate) fn is_sound(&'static self, held: Held<'_>) -> bool {
        match self.owner.get(held) {
            None => self.waiting.tasks.first(held).is_none(),
            Some(owner) => owner.mutexes(held).any(|mutex| core::ptr::eq(mutex, self)),
        }
    }
}
