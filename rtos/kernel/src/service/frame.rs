//! The frame of every service: lock, check, work, give way.
//!
//! [`Service::enter`] locks the processor first and checks afterwards: locking tells whether the processor was locked
//! before, and once it is locked nothing changes under the checks. `enter` takes the giant lock if processors share the
//! object. [`Service::leave`] undoes both. [`Service::finish`] also gives way to a task that has become the highest,
//! and [`Service::block`] makes the calling task wait.

use core::marker::PhantomData;

use crate::base::cell::Held;
use crate::base::context::{Context, Domain, Kind, Known, Needs, Placed};
use crate::base::error::Error;
use crate::base::heap::Timed;
use crate::base::model::{Model, Only};
use crate::base::port::{Lock, Port};
use crate::base::ring::Ring;
use crate::base::timeout::Timeout;
use crate::service::dispatch::{dispatch, here, interrupt};
use crate::service::refusal::refused;
use crate::state::processor::{Agenda, Event, Processor};
use crate::state::storage::Storage;
use crate::state::tcb::{State, Tcb};
use crate::state::waiting::Waiting;

/// A service that is at work: it holds the locks of the object's domain.
pub(crate) struct Service<K: Storage, D, C> {
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

impl<K: Storage, D: Domain, C: Context> Service<K, D, C> {
    /// Locks. E_CTX if the caller has the processor locked already; E_OACV if it is not the object's processor.
    #[inline(always)]
    pub(crate) fn enter(domain: D, _: C) -> Result<Self, Error> {
        let mask = K::Port::lock();
        if K::Port::was_locked(mask) {
            return Err(Error::CTX);
        }
        Self::locked(domain, mask)
    }

    /// As [`enter`](Self::enter), for a service that only tasks may call: E_CTX in a handler.
    #[inline(always)]
    pub(crate) fn enter_in_task(domain: D, cx: C) -> Result<Self, Error> {
        let service = Self::enter(domain, cx).map_err(|error| Self::elsewhere(error, Needs::Task))?;
        if service.in_task() { Ok(service) } else { service.leave(Err(Error::CTX)) }
    }

    /// As [`enter`](Self::enter), for a service in which the calling task may have to wait, and whose arguments are
    /// `sound`: E_PAR if they are not. The other errors are those of [`may_wait`](Self::may_wait).
    #[inline(always)]
    pub(crate) fn enter_to_wait(domain: D, cx: C, sound: bool) -> Result<Self, Error> {
        let service = Self::enter(domain, cx).map_err(|error| Self::elsewhere(error, Needs::Dispatching))?;
        match service.may_wait(sound) {
            Ok(()) => Ok(service),
            Err(error) => service.leave(Err(error)),
        }
    }

    /// What is told of an object of another processor, for which nothing was locked: the context comes first.
    #[inline(always)]
    fn elsewhere(error: Error, needs: Needs) -> Error {
        if error == Error::OACV && C::KIND == Kind::Unknown { refused::<K>(needs, error) } else { error }
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

    /// E_OACV if the calling task belongs to another domain than the object, so that the object's lock does not guard
    /// it.
    #[inline(always)]
    pub(crate) fn is_of_caller(&self) -> Result<(), Error> {
        let unknown = K::Model::PROCESSORS > 1 && (D::KNOWN == Known::Later || C::PLACE != D::KNOWN);
        if unknown && self.running().class.pinned() != self.domain.place() { Err(Error::OACV) } else { Ok(()) }
    }

    /// E_CTX where there is no task that could wait, or it must not give way; E_PAR unless the arguments are `sound`;
    /// E_OACV if it belongs to another domain than the object, so that the two have no queue in common; E_RASTER if it
    /// has been asked to end, E_NOSPT if it is a restricted task.
    #[inline(always)]
    pub(crate) fn may_wait(&self, sound: bool) -> Result<(), Error> {
        if !self.in_task() || !self.here.dispatching.get(self.held()) {
            return Err(Error::CTX);
        }
        if !sound {
            return Err(Error::PAR);
        }
        self.is_of_caller()?;
        self.running().may_wait(self.held())
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

    /// Takes the task that runs from those that can run. False if it is among them no more: another processor has
    /// suspended it, after this one was locked and before it had the giant lock, and the interrupt that says so has
    /// still to come.
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
        let now = K::common().clock.now();
        // What is left of the present microsecond does not count: a wait is never shorter than asked for.
        self.set_deadline_at(home, event, now.wrapping_add(1).wrapping_add(micros), now);
    }

    /// Sets a deadline at a time.
    pub(crate) fn set_deadline_at(&self, home: &'static Processor<K>, event: Event<K>, at: u32, now: u32) {
        if self.agenda(home).heap.insert(event, at, now, self.held()) {
            if core::ptr::eq(home, self.here) {
                home.arm(at, now, self.held());
            } else {
                self.notify(home);
            }
        }
    }

    /// Takes a deadline away. The timer may still ring; nothing is due then.
    pub(crate) fn clear_deadline(&self, home: &'static Processor<K>, event: Event<K>) {
        if event.deadline().is_set(self.held()) {
            self.agenda(home).heap.remove(event, K::common().clock.now(), self.held());
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
    pub(crate) fn wake_first(&self, queue: &Ring<Tcb<K>>, result: Result<usize, Error>) -> bool {
        let Some(task) = queue.first(self.held()) else { return false };
        queue.remove(task, self.held());
        self.wake(task, result);
        true
    }

    /// Lets the task that runs wait, in the queue of an object if it waits for one, and gives what it is woken with.
    #[inline(always)]
    pub(crate) fn block(self, waiting: Waiting<Tcb<K>>, timeout: Timeout) -> Result<usize, Error> {
        let held = self.held();
        let me = self.running();
        let state = if self.stop_running(me) { State::Waiting } else { State::WaitingSuspended };
        me.state.set(state, held);
        me.waiting.set(waiting, held);
        if let Some(queue) = waiting.queue() {
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
