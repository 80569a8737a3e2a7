//! Calling the handlers of a CPU exception.

use crate::base::cell::Held;
use crate::base::context::Known;
use crate::base::port::Port;
use crate::kernel::Kernel;
use crate::objects::exception::Raised;
use crate::service::dispatch::{here, left};
use crate::state::processor::Processor;

/// Calls the handler of an exception. False if there is none.
pub(crate) fn raise<K: Kernel>(mut raised: Raised) -> bool {
    let mask = K::Port::lock();
    let here = here::<K>(Known::Later);
    // SAFETY: the processor is locked, whose own cell this is.
    raised.pending |= !here.dispatching.get(unsafe { Held::assume() });
    // SAFETY: nothing follows that relies on the lock; a handler stays on its processor.
    unsafe { K::Port::unlock(mask) };
    let (number, mut handled) = (raised.number, false);
    for exception in K::exceptions().iter().filter(|exception| exception.number == number) {
        if exception.processor.is_none_or(|place| core::ptr::eq(Processor::<K>::of(place), here)) {
            // SAFETY: whoever made the handler says that it can be called so.
            unsafe { (exception.function)((&raw mut raised).cast()) };
            if !K::Port::was_locked(mask) {
                left::<K>();
            }
            handled = true;
        }
    }
    handled
}
