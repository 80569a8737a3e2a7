//! Dispatching: which processor this is, which task runs on it, and giving way to another one.

use crate::base::cell::Held;
use crate::base::context::{Anywhere, Context, Known, Placed};
use crate::base::model::Model;
use crate::base::port::{Port, Stacks};
use crate::service::accounting;
use crate::state::config::StacksOf;
use crate::state::processor::Processor;
use crate::state::storage::Storage;
use crate::state::tcb::Tcb;

/// The processor that this code runs on. The processor must be locked, or the answer may be old.
#[inline(always)]
pub(crate) fn here<K: Storage>(place: Known) -> &'static Processor<K> {
    match place {
        Known::Pinned(number) => Processor::<K>::of(number),
        _ if K::Model::IDENTITY => Processor::<K>::of(K::Port::processor()),
        _ => Processor::<K>::of(0),
    }
}

/// The task that runs. Nobody but the task itself, or its handlers, can rely on it.
pub(crate) fn running<K: Storage>() -> &'static Tcb<K> {
    let mask = K::Port::lock();
    let running = here::<K>(Anywhere::PLACE).running.get();
    if !K::Port::was_locked(mask) {
        // SAFETY: nothing follows that the lock guards.
        unsafe { K::Port::unlock(mask) };
    }
    running
}

/// What the task that runs belongs to. It stays so as long as that task runs.
#[inline(always)]
pub(crate) fn running_domain<K: Storage>() -> Placed {
    if K::Model::PROCESSORS == 1 { Placed(None) } else { Placed::place(running::<K>().class.pinned()) }
}

/// What the caller belongs to: what the types say, or what the task that runs belongs to.
#[inline(always)]
pub(crate) fn domain_of<K: Storage, C: Context>(cx: C) -> C::Domain {
    cx.domain(running_domain::<K>)
}

/// Looks at the processor that this code runs on, locked, from any context.
pub(crate) fn with_own<K: Storage, T>(what: impl FnOnce(&'static Processor<K>, Held<'_>) -> T) -> T {
    let mask = K::Port::lock();
    // SAFETY: the processor is locked, and only what is its own is looked at.
    let seen = what(here::<K>(Anywhere::PLACE), unsafe { Held::assume() });
    // SAFETY: nothing follows.
    unsafe { K::Port::unlock(mask) };
    seen
}

/// Runs `next` instead of `current`, until something dispatches `current` again, perhaps on another processor.
#[inline(always)]
pub(crate) fn dispatch<K: Storage>(here: &'static Processor<K>, current: &'static Tcb<K>, next: &'static Tcb<K>) {
    accounting::leave(current);
    // SAFETY: the caller has locked the processor, whose own this is.
    here.running.set(next, unsafe { Held::assume() });
    accounting::go_on(here, next);
    // SAFETY: the processor is locked, `current` runs, and `next` is ready, so it was prepared or saved.
    unsafe { StacksOf::<K>::switch(&current.saved, &next.saved) };
}

#[inline(never)]
pub(crate) fn interrupt<K: Storage>(processor: &'static Processor<K>) {
    for number in 0..K::Model::PROCESSORS {
        if core::ptr::eq(Processor::<K>::of(number), processor) {
            K::Port::interrupt(number);
        }
    }
}

/// A handler was left: neither the processor stays locked, nor what it locked by spinning.
#[inline(always)]
pub(crate) fn left<K: Storage>() {
    let mask = K::Port::lock();
    if K::Port::was_locked(mask) {
        let here = here::<K>(Known::Later);
        here.let_go();
        // SAFETY: the handler was called unlocked, and nothing follows.
        unsafe { here.unlock() };
    } else {
        // SAFETY: as above.
        unsafe { K::Port::unlock(mask) };
    }
}
