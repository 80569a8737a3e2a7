//! The order of refusals: a context that does not fit is told before an argument that does not fit, as in ASP3.
//!
//! A service finds out about its context when it locks the processor, and arguments (an ITRON number, a time-out) have
//! been looked at before that. So whoever refuses an argument early asks here which error the caller is told. That a
//! call is good costs nothing more.

use crate::base::cell::Held;
use crate::base::context::{Known, Needs};
use crate::base::error::Error;
use crate::base::port::Port;
use crate::service::dispatch::here;
use crate::state::storage::Storage;

/// What a service tells that refuses an argument with `argument`: E_CTX if it may not be called in the context that this
/// code runs in, `argument` if it may.
#[inline(always)]
pub fn refused<K: Storage>(needs: Needs, argument: Error) -> Error {
    if fits::<K>(needs) { argument } else { Error::CTX }
}

/// Whether the context that this code runs in is one that a service may be called in.
#[cold]
#[inline(never)]
fn fits<K: Storage>(needs: Needs) -> bool {
    if needs == Needs::Nothing {
        return true;
    }
    let mask = K::Port::lock();
    if K::Port::was_locked(mask) {
        return false;
    }
    // SAFETY: the processor is locked, whose own cell this is.
    let dispatching = here::<K>(Known::Later).dispatching.get(unsafe { Held::assume() });
    // SAFETY: nothing follows that the lock guards.
    unsafe { K::Port::unlock(mask) };
    match needs {
        Needs::Nothing | Needs::Unlocked => true,
        Needs::Task => K::Port::in_task(),
        Needs::Dispatching => K::Port::in_task() && dispatching,
    }
}
