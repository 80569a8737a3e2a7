//! The overrun handler: it is called when a task has used up the processor time that it was given.
//!
//! `service/accounting.rs` says what is counted, and when.

use core::ffi::c_void;
use core::sync::atomic::Ordering::Relaxed;

use crate::base::context::{Context, Domain, InHandler, Placed, Shared};
use crate::base::error::Error;
use crate::base::heap::LONGEST;
use crate::base::model::Only;
use crate::base::port::Port;
use crate::objects::task::Task;
use crate::service::accounting::count;
use crate::service::frame::Service;
use crate::state::account::{STARTED, STOPPED};
use crate::state::storage::Storage;

/// The function that is called: DEF_OVR.
pub struct OverrunHandler<K: Storage>(Function<K>);

enum Function<K: Storage> {
    Rust(fn(InHandler<Shared>, Task<K, Placed>)),
    C(unsafe extern "C" fn(i32, *mut c_void)),
}

impl<K: Storage> OverrunHandler<K> {
    /// A function in Rust.
    pub const fn new(handler: fn(InHandler<Shared>, Task<K, Placed>)) -> Self {
        OverrunHandler(Function::Rust(handler))
    }

    /// A function in C, which is given the number of the task and its argument.
    ///
    /// # Safety
    /// The function can be called with these at any time.
    pub const unsafe fn foreign(function: unsafe extern "C" fn(i32, *mut c_void)) -> Self {
        OverrunHandler(Function::C(function))
    }

    pub(crate) fn call(&self, task: Task<K, Placed>) {
        match self.0 {
            // SAFETY: this is called in handler context.
            Function::Rust(handler) => handler(unsafe { InHandler::assume() }, task),
            Function::C(function) => {
                let number = task.tcb.number().map_or(0, |number| number as i32);
                // SAFETY: whoever made the handler says so.
                unsafe { function(number, task.tcb.saved.argument.cast()) }
            }
        }
    }
}

impl<K: Storage, D: Domain> Task<K, D> {
    /// sta_ovr: the overrun handler is called when the task has used up that many microseconds of processor time from
    /// now on, instead of what was asked before; if the task is dormant, from when it begins. E_PAR if it is none or
    /// above [`LONGEST`]; E_OBJ if the kernel has no overrun handler.
    pub fn sta_ovr<C: Context>(self, micros: u32, cx: C) -> Result<(), Error> {
        let service = Service::<K, D, C>::enter(self.domain, cx)?;
        let held = service.held();
        let Some(account) = self.tcb.account.get() else { return service.leave(Err(Error::OBJ)) };
        if micros == 0 || micros > LONGEST {
            return service.leave(Err(Error::PAR));
        }
        account.left.set(micros, held);
        account.since.set(K::Port::now(), held);
        let home = service.home(self.tcb);
        if core::ptr::eq(home.running.get(), self.tcb) && core::ptr::eq(home, service.here) {
            count(account, home, held);
        } else {
            if account.state.load(Relaxed) == STOPPED {
                account.state.store(STARTED, Relaxed);
            }
            // If the task runs there, that processor counts from when it hears of this.
            service.notify(home);
        }
        service.leave(Ok(()))
    }

    /// stp_ovr: the overrun handler is not called any more for the task. E_OBJ as for sta_ovr.
    pub fn stp_ovr<C: Context>(self, cx: C) -> Result<(), Error> {
        let service = Service::<K, D, C>::enter(self.domain, cx)?;
        match self.tcb.account.get() {
            Some(account) => {
                account.state.store(STOPPED, Relaxed);
                service.leave(Ok(()))
            }
            None => service.leave(Err(Error::OBJ)),
        }
    }

    /// ref_ovr: how many microseconds of processor time are left to the task; none if that is not counted. E_CTX in a
    /// handler, E_OBJ as for sta_ovr.
    pub fn ref_ovr<C: Context>(self, cx: C) -> Result<Option<u32>, Error> {
        let service = self.enter_in_task(cx)?;
        let held = service.held();
        let left = match self.tcb.account.get() {
            Some(account) => Ok((account.state.load(Relaxed) != STOPPED).then(|| account.left::<K::Port>(held))),
            None => Err(Error::OBJ),
        };
        service.leave(left)
    }
}
