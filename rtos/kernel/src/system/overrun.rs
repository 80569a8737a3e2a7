//! Calling the overrun handler.

use core::sync::atomic::Ordering::Relaxed;

use crate::base::context::{InHandler, Placed};
use crate::base::model::{Only, Presence};
use crate::kernel::Kernel;
use crate::objects::task::Task;
use crate::service::accounting::ahead;
use crate::service::dispatch::left;
use crate::service::frame::Service;
use crate::state::account::STOPPED;
use crate::state::processor::Processor;

/// Calls the handler if the task that runs here has used up its time. In handler context, the processor unlocked. True
/// if it had.
#[inline(always)]
pub(crate) fn due<K: Kernel>(here: &'static Processor<K>) -> bool {
    K::Overrun::IS && look(here)
}

fn look<K: Kernel>(here: &'static Processor<K>) -> bool {
    // A handler stays on its processor, whose running task does not change meanwhile.
    let tcb = here.running.get();
    let domain = Placed::place(tcb.class.pinned());
    // SAFETY: it is used for this processor only.
    let cx = unsafe { InHandler::<Placed>::assume() };
    let (Some(account), Some(handler)) = (tcb.account.get(), K::overrun()) else { return false };
    let Ok(service) = Service::<K, Placed, _>::enter(domain, cx) else { return false };
    if ahead(here, service.held()) != Some(0) {
        return service.leave(false);
    }
    account.left.set(0, service.held());
    account.state.store(STOPPED, Relaxed);
    service.leave(());
    handler.call(Task::of(tcb, domain));
    left::<K>();
    true
}
