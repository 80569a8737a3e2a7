//! Processor time: what dispatching does to the account of each task.
//!
//! While a task runs its account counts down from the moment when the task was given the processor, and the processor's
//! timer is set to the end of the account. The time of handlers that interrupt the task counts too. An account is
//! changed under the locks of the task's domain. Whether a task has one is looked up without them, which is all that
//! dispatching costs a task without an account. A kernel without an overrun handler has no accounts:
//! [`Config::Overrun`](crate::Config::Overrun) says so.

use core::sync::atomic::Ordering::Relaxed;

use crate::base::cell::Held;
use crate::base::model::{Model, Only};
use crate::base::port::{Lock, Port};
use crate::state::account::{Account, COUNTING, STARTED, STOPPED};
use crate::state::processor::Processor;
use crate::state::storage::Storage;
use crate::state::tcb::{State, Tcb};

/// Does something with the account of a task under the locks of its domain. The processor is locked already.
fn locked<K: Storage>(task: &Tcb<K>, work: impl FnOnce(Held<'_>)) {
    let shared = task.class.pinned().is_none();
    let giant = K::common().giant.get().filter(|_| K::Model::LOCKS && shared);
    if let Some(giant) = giant {
        // Nobody who has it waits for this processor.
        while !giant.0.try_acquire() {
            K::Port::relax();
        }
    }
    // SAFETY: the processor is locked, and the giant lock is taken if the task is a shared one.
    work(unsafe { Held::assume() });
    if let Some(giant) = giant {
        giant.0.release();
    }
}

/// The processor, which is locked, leaves a task.
#[inline(always)]
pub(crate) fn leave<K: Storage>(task: &Tcb<K>) {
    if let Some(account) = task.account.get()
        && account.state.load(Relaxed) == COUNTING
    {
        locked(task, |held| leave_held(task, held));
    }
}

/// As [`leave`], for who has the locks of the task's domain already.
#[inline(always)]
pub(crate) fn leave_held<K: Storage>(task: &Tcb<K>, held: Held<'_>) {
    if let Some(account) = task.account.get()
        && account.state.load(Relaxed) == COUNTING
    {
        account.stop_counting::<K::Port>(held);
    }
}

/// The processor, which is locked, goes on with a task.
#[inline(always)]
pub(crate) fn go_on<K: Storage>(here: &'static Processor<K>, task: &Tcb<K>) {
    if let Some(account) = task.account.get()
        && account.state.load(Relaxed) == STARTED
    {
        locked(task, |held| catch_up(here, task, held));
    }
}

/// Counts from now on, if another processor has given time to the task that runs here.
#[inline(always)]
pub(crate) fn catch_up<K: Storage>(here: &'static Processor<K>, task: &Tcb<K>, held: Held<'_>) {
    if let Some(account) = task.account.get()
        && account.state.load(Relaxed) == STARTED
    {
        count(account, here, held);
    }
}

/// Whether only the task that runs here is counted here.
pub(crate) fn is_sound<K: Storage>(here: &'static Processor<K>, task: &Tcb<K>, held: Held<'_>) -> bool {
    match task.account.get().map_or(STOPPED, |account| account.state.load(Relaxed)) {
        STOPPED => true,
        state => {
            let elsewhere = task.home.get().is_some_and(|home| !core::ptr::eq(home.processor.get(), here));
            let runs = core::ptr::eq(here.running.get(), task);
            state == STARTED || task.state.get(held) != State::Dormant && (elsewhere || runs)
        }
    }
}

/// Whether the time of the task that runs here is counted, or is to be. Without its locks: another processor may be
/// about to say so.
#[inline(always)]
pub(crate) fn is_wanted<K: Storage>(here: &'static Processor<K>) -> bool {
    here.running.get().account.get().is_some_and(|account| account.state.load(Relaxed) != STOPPED)
}

/// In how many microseconds the task that runs here has used up its time, if that is counted.
#[inline(always)]
pub(crate) fn ahead<K: Storage>(here: &'static Processor<K>, held: Held<'_>) -> Option<u32> {
    let account = here.running.get().account.get()?;
    (account.state.load(Relaxed) == COUNTING).then(|| account.left::<K::Port>(held))
}

/// Counts from now on, on this processor.
pub(crate) fn count<K: Storage>(account: &Account, here: &'static Processor<K>, held: Held<'_>) {
    let left = account.count::<K::Port>(held);
    let now = K::common().clock.now();
    here.arm(now.wrapping_add(left), now, held);
}
