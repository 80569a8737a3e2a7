//! The frame of every service: lock, check, work, give way.
//!
//! [`Service::enter`] locks the processor first and looks afterwards: whether it was locked before is what locking tells,
//! and from then on nothing can change under the checks. It takes the giant lock if the object is one that processors
//! share. [`Service::leave`] goes back the same way; [`Service::finish`] also gives way to a task that has become the
//! highest; [`Service::block`] lets the caller wait.

use core::marker::PhantomData;

use crate::cell::Held;
use crate::context::{Context, Domain, Kind, Known, Placed};
use crate::error::Error;
use crate::heap::Event;
use crate::kernel::Kernel;
use crate::model::{Model, Only};
use crate::port::{Lock, Port, Stacks, StacksOf};
use crate::processor::{Agenda, Processor};
use crate::ring::Ring;
use crate::task::{State, Tcb, Waiting};
use crate::time::Timeout;

/// A service that is at work: it holds the locks of the object's domain.
pub(crate) struct Service<K: Kernel, D, C> {
    mask: <K::Port as Port>::Mask,
    /// The processor that it runs on.
    pub(crate) here: &'static Processor<K>,
    domain: D,
    context: PhantomData<C>,
}

/// Whether code in that context may use an object of that domain, as far as the types know.
const fn allowed<M: Model, D: Domain, C: Context>() -> bool {
    match (D::KNOWN, C::PLACE) {
        (Known::Pinned(place), _) if place >= M::PROCESSORS => false,
        (Known::Pinned(object), Known::Pinned(code)) => object == code,
        (Known::Pinned(_), Known::Shared) => M::PROCESSORS == 1,
        _ => true,
    }
}

/// The processor that this code runs on. The processor must be locked, or the answer may be old.
#[inline(always)]
pub(crate) fn here<K: Kernel>(place: Known) -> &'static Processor<K> {
    match place {
        Known::Pinned(number) => Processor::<K>::of(number),
        _ if K::Model::IDENTITY => Processor::<K>::of(K::Port::processor()),
        _ => Processor::<K>::of(0),
    }
}

impl<K: Kernel, D: Domain, C: Context> Service<K, D, C> {
    /// Locks. E_CTX if the caller has the processor locked already; E_OACV if it is not the object's processor.
    #[inline(always)]
    pub(crate) fn enter(domain: D, _: C) -> Result<Self, Error> {
        let mask = K::Port::lock();
        if K::Port::was_locked(mask) {
            return Err(Error::CTX);
        }
        Self::locked(domain, mask)
    }

    /// Goes on when the processor is locked: takes the giant lock, if the object is one that processors share.
    #[inline(always)]
    fn locked(domain: D, mut mask: <K::Port as Port>::Mask) -> Result<Self, Error> {
        const { assert!(allowed::<K::Model, D, C>(), "an object pinned to a processor is used from elsewhere") };
        match domain.place() {
            None => {
                if let Some(giant) = K::common().giant.get().filter(|_| K::Model::LOCKS) {
                    while !giant.0.try_acquire() {
                        // SAFETY: nothing was read yet that the lock guards.
                        unsafe { K::Port::unlock(mask) };
                        K::Port::relax();
                        mask = K::Port::lock();
                    }
                }
            }
            Some(place) if K::Model::IDENTITY && (D::KNOWN == Known::Later || C::PLACE == Known::Later) => {
                let at = if let Known::Pinned(code) = C::PLACE { code } else { K::Port::processor() };
                if at != place {
                    // SAFETY: nothing was read.
                    unsafe { K::Port::unlock(mask) };
                    return Err(Error::OACV);
                }
            }
            Some(_) => {}
        }
        let place = if D::KNOWN == Known::Later || D::KNOWN == Known::Shared { C::PLACE } else { D::KNOWN };
        Ok(Service { mask, here: here(place), domain, context: PhantomData })
    }

    /// Enters on the processor that the caller runs on, for what is that processor's own.
    pub(crate) fn enter_own(_: C) -> Result<Service<K, Placed, C>, Error> {
        let mask = K::Port::lock();
        if K::Port::was_locked(mask) {
            return Err(Error::CTX);
        }
        let here = here::<K>(C::PLACE);
        Ok(Service { mask, here, domain: Placed(Some(here.number() as u8)), context: PhantomData })
    }

    /// Enters whatever the processor is locked for: what a task's end does.
    #[inline(always)]
    pub(crate) fn enter_by_force(domain: D) -> Result<Self, Error> {
        K::Port::lock();
        Self::locked(domain, K::Port::unlocked())
    }

    /// Takes over what another service has locked and left locked.
    ///
    /// # Safety
    /// It has locked what this domain asks for, on this processor.
    pub(crate) unsafe fn taken(domain: D, here: &'static Processor<K>) -> Self {
        Service { mask: K::Port::unlocked(), here, domain, context: PhantomData }
    }

    #[inline(always)]
    pub(crate) fn held(&self) -> Held<'_> {
        // SAFETY: the processor is locked since `enter`, and the giant lock taken if the domain is the shared one; both
        // end with this value. Cells of the processor itself are its own.
        unsafe { Held::assume() }
    }

    #[inline(always)]
    pub(crate) fn in_task(&self) -> bool {
        match C::KIND {
            Kind::Task => true,
            Kind::Handler => false,
            Kind::Unknown => K::Port::in_task(),
        }
    }

    /// The task that runs, or that the handler has interrupted.
    #[inline(always)]
    pub(crate) fn running(&self) -> &'static Tcb<K> {
        self.here.running.get()
    }

    /// E_OACV if the calling task belongs to another domain than the object, so that the object's lock does not guard it.
    #[inline(always)]
    pub(crate) fn is_of_caller(&self) -> Result<(), Error> {
        let unknown = K::Model::PROCESSORS > 1 && (D::KNOWN == Known::Later || C::PLACE != D::KNOWN);
        if unknown && self.running().class.pinned() != self.domain.place() { Err(Error::OACV) } else { Ok(()) }
    }

    /// E_CTX where there is no task that could wait, or it must not give way; E_RASTER if it has been asked to end;
    /// E_OACV if it belongs to another domain than the object, so that the two have no queue in common.
    #[inline(always)]
    pub(crate) fn may_wait(&self) -> Result<(), Error> {
        if !self.in_task() || !self.here.dispatching.get(self.held()) {
            return Err(Error::CTX);
        }
        self.is_of_caller()?;
        if self.running().asked_to_end.get(self.held()) {
            return Err(Error::RASTER);
        }
        Ok(())
    }

    /// The processor of a task of this domain.
    #[inline(always)]
    pub(crate) fn home(&self, task: &Tcb<K>) -> &'static Processor<K> {
        match (self.domain.place(), task.home.get()) {
            (None, Some(home)) => home.processor.get(),
            _ => self.here,
        }
    }

    /// What a processor has to do for tasks of this domain.
    #[inline(always)]
    pub(crate) fn agenda(&self, of: &'static Processor<K>) -> &'static Agenda<K> {
        if self.domain.place().is_none() { of.shared() } else { &of.own }
    }

    /// Adds a task to those that can run.
    #[inline(always)]
    pub(crate) fn make_ready(&self, task: &'static Tcb<K>) {
        let home = self.home(task);
        if self.agenda(home).ready.insert(task, self.held()) {
            self.notify(home);
        }
    }

    /// Takes a task from those that can run.
    #[inline(always)]
    pub(crate) fn make_unready(&self, task: &'static Tcb<K>) {
        let home = self.home(task);
        if self.agenda(home).ready.remove(task, self.held()) {
            self.notify(home);
        }
    }

    /// Takes the task that runs from those that can run. False if it is among them no more: another processor has suspended
    /// it, after this one was locked and before it had the giant lock, and the interrupt that says so has still to come.
    #[inline(always)]
    pub(crate) fn stop_running(&self, me: &'static Tcb<K>) -> bool {
        let alone = K::Model::PROCESSORS == 1 || self.domain.place().is_some();
        let can_run = alone || me.state.get(self.held()) == State::Ready;
        if can_run {
            self.make_unready(me);
        }
        can_run
    }

    /// Interrupts a processor, unless it is this one, so that it looks at its agenda again.
    #[inline(always)]
    pub(crate) fn notify(&self, processor: &'static Processor<K>) {
        if K::Model::PROCESSORS > 1 && !core::ptr::eq(processor, self.here) {
            interrupt(processor);
        }
    }

    /// Sets a deadline so many microseconds from now.
    pub(crate) fn set_deadline(&self, home: &'static Processor<K>, event: Event<K>, micros: u32) {
        let now = K::common().clock.now::<K>();
        // What is left of the present microsecond does not count: a wait is never shorter than asked for.
        self.set_deadline_at(home, event, now.wrapping_add(1).wrapping_add(micros), now);
    }

    /// Sets a deadline at a time.
    pub(crate) fn set_deadline_at(&self, home: &'static Processor<K>, event: Event<K>, at: u32, now: u32) {
        if self.agenda(home).heap.insert(event, at, now, self.held()) {
            if core::ptr::eq(home, self.here) {
                crate::time::arm::<K>(home, at, now, self.held());
            } else {
                self.notify(home);
            }
        }
    }

    /// Takes a deadline away. The timer may still ring; nothing is due then.
    pub(crate) fn clear_deadline(&self, home: &'static Processor<K>, event: Event<K>) {
        if event.deadline().is_set(self.held()) {
            self.agenda(home).heap.remove(event, K::common().clock.now::<K>(), self.held());
        }
    }

    /// Lets a task that waits, in no queue any more, go on with that result.
    #[inline(always)]
    pub(crate) fn wake(&self, task: &'static Tcb<K>, result: Result<usize, Error>) {
        let held = self.held();
        self.clear_deadline(self.home(task), Event::Task(task));
        task.wake.set(result, held);
        task.waiting.set(Waiting::Nothing, held);
        if task.state.get(held) == State::Waiting {
            task.state.set(State::Ready, held);
            self.make_ready(task);
        } else {
            task.state.set(State::Suspended, held);
        }
    }

    /// Lets the first task of a queue go on with that result, if there is one.
    #[inline(always)]
    pub(crate) fn wake_first(&self, queue: &Ring<K>, result: Result<usize, Error>) -> bool {
        let Some(task) = queue.first(self.held()) else { return false };
        queue.remove(task, self.held());
        self.wake(task, result);
        true
    }

    /// Lets the task that runs wait, in a queue if there is one, and gives what it is woken with.
    #[inline(always)]
    pub(crate) fn block(self, waiting: Waiting<K>, queue: Option<&Queue<K>>, timeout: Timeout) -> Result<usize, Error> {
        let held = self.held();
        let me = self.running();
        let state = if self.stop_running(me) { State::Waiting } else { State::WaitingSuspended };
        me.state.set(state, held);
        me.waiting.set(waiting, held);
        if let Some(queue) = queue {
            queue.add(me, held);
        }
        if let Some(micros) = timeout.deadline() {
            self.set_deadline(self.home(me), Event::Task(me), micros);
        }
        let next = self.choose();
        self.release();
        dispatch(self.here, me, next);
        // SAFETY: only who wakes the task writes this, and it has been woken.
        let result = me.wake.get(unsafe { Held::assume() });
        // SAFETY: nothing follows.
        unsafe { K::Port::unlock(self.mask) };
        result
    }

    /// The task that this processor should run.
    #[inline(always)]
    pub(crate) fn choose(&self) -> &'static Tcb<K> {
        if self.domain.place().is_none() { self.here.choose() } else { self.here.choose_alone() }
    }

    /// Gives the giant lock back. The processor stays locked.
    #[inline(always)]
    pub(crate) fn release(&self) {
        if self.domain.place().is_none()
            && let Some(giant) = K::common().giant.get().filter(|_| K::Model::LOCKS)
        {
            giant.0.release();
        }
    }

    /// Unlocks the processor only; the giant lock has been released.
    pub(crate) fn unlock<T>(self, result: T) -> T {
        // SAFETY: the value that could give a `Held` ends here.
        unsafe { K::Port::unlock(self.mask) };
        result
    }

    /// Unlocks and gives the result. For services that made no other task the highest.
    #[inline(always)]
    pub(crate) fn leave<T>(self, result: T) -> T {
        self.release();
        // SAFETY: the value that could give a `Held` ends here.
        unsafe { K::Port::unlock(self.mask) };
        result
    }

    /// Unlocks, after giving way to another task if that should run now, and gives the result.
    #[inline(always)]
    pub(crate) fn finish<T>(self, result: T) -> T {
        let (here, current, next) = (self.here, self.running(), self.choose());
        self.release();
        if !core::ptr::eq(current, next) {
            if !self.in_task() {
                K::Port::request_dispatch();
            } else if here.dispatching.get(self.held()) {
                dispatch(here, current, next);
            }
        }
        // SAFETY: the value that could give a `Held` ends here.
        unsafe { K::Port::unlock(self.mask) };
        result
    }
}

/// Runs `next` instead of `current`, until something dispatches `current` again, perhaps on another processor.
#[inline(always)]
pub(crate) fn dispatch<K: Kernel>(here: &'static Processor<K>, current: &'static Tcb<K>, next: &'static Tcb<K>) {
    crate::overrun::leave(current);
    // SAFETY: the caller has locked the processor, whose own this is.
    here.running.set(next, unsafe { Held::assume() });
    crate::overrun::go_on(here, next);
    // SAFETY: the processor is locked, `current` runs, and `next` is ready, so it was prepared or saved.
    unsafe { StacksOf::<K>::switch(&current.saved, &next.saved) };
}

#[inline(never)]
fn interrupt<K: Kernel>(processor: &'static Processor<K>) {
    for number in 0..K::Model::PROCESSORS {
        if core::ptr::eq(Processor::<K>::of(number), processor) {
            K::Port::interrupt(number);
        }
    }
}

/// The queue of an object: in the order in which tasks came, or in that of their priorities.
pub struct Queue<K: Kernel> {
    pub(crate) tasks: Ring<K>,
    pub(crate) by_priority: bool,
}

impl<K: Kernel> Queue<K> {
    pub(crate) const fn new() -> Self {
        Queue { tasks: Ring::new(), by_priority: false }
    }

    #[inline(always)]
    pub(crate) fn add(&self, task: &'static Tcb<K>, held: Held<'_>) {
        if self.by_priority { self.tasks.insert_by_priority(task, held) } else { self.tasks.push(task, held) }
    }

    /// Puts a task whose priority has changed where it belongs now.
    pub(crate) fn reorder(&self, task: &'static Tcb<K>, held: Held<'_>) {
        if self.by_priority {
            self.tasks.remove(task, held);
            self.tasks.insert_by_priority(task, held);
        }
    }
}
