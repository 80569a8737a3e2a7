//! Services of the calling task for itself: sleep and delay, and its own end.

use core::marker::PhantomData;

use crate::base::context::{Anywhere, Context, Domain, InTask, Placed};
use crate::base::error::Error;
use crate::base::port::Port;
use crate::base::timeout::Timeout;
use crate::objects::task::terminate::{exit, exit_from};
use crate::service::dispatch::{domain_of, with_own};
use crate::service::frame::Service;
use crate::state::storage::Storage;
use crate::state::waiting::Waiting;

/// Services of the calling task for itself.
pub struct Current<K: Storage>(PhantomData<K>);

impl<K: Storage> Current<K> {
    /// slp_tsk: sleeps until it is woken. E_RLWAI if the wait was ended by force, E_RASTER if the task was asked to
    /// end, E_CTX where it may not wait.
    #[inline(always)]
    pub fn sleep<C: Context>(cx: C) -> Result<(), Error> {
        Self::sleep_for(Timeout::FOREVER, cx)
    }

    /// tslp_tsk: as slp_tsk, with E_TMOUT when the time has passed.
    #[inline(always)]
    pub fn sleep_for<C: Context>(timeout: Timeout, cx: C) -> Result<(), Error> {
        let service = Service::<K, C::Domain, C>::enter_to_wait(domain_of::<K, C>(cx), cx, true)?;
        let me = service.running();
        if me.woken.get(service.held()) {
            me.woken.set(false, service.held());
            return service.leave(Ok(()));
        }
        if timeout.is_poll() {
            return service.leave(Err(Error::TMOUT));
        }
        service.block(Waiting::Sleep, timeout).map(|_| ())
    }

    /// dly_tsk: lets that many microseconds pass. E_PAR above [`LONGEST`](crate::LONGEST).
    pub fn delay<C: Context>(micros: u32, cx: C) -> Result<(), Error> {
        let timeout = Timeout::micros(micros);
        let service = Service::<K, C::Domain, C>::enter_to_wait(domain_of::<K, C>(cx), cx, timeout.is_ok())?;
        service.block(Waiting::Delay, timeout.unwrap_or(Timeout::FOREVER)).map(|_| ())
    }

    /// ext_tsk: ends the calling task. It begins anew at once if an activation is queued.
    pub fn exit<D: Domain>(_: InTask<D>) -> ! {
        exit::<K, D>()
    }

    /// ext_tsk from code that does not know its context. Returns only in a handler, with E_CTX.
    pub fn exit_anywhere() -> Error {
        if !K::Port::in_task() {
            return Error::CTX;
        }
        exit_from::<K, Placed>(domain_of::<K, Anywhere>(Anywhere))
    }

    /// dis_ter: from now on the task is not ended on request.
    pub fn disable_termination<C: Context>(cx: C) -> Result<(), Error> {
        Self::set_unending(true, cx)
    }

    /// ena_ter: lets the task be ended on request. If one came meanwhile, it ends here.
    pub fn enable_termination<C: Context>(cx: C) -> Result<(), Error> {
        Self::set_unending(false, cx)
    }

    /// sns_ter: whether the task is not ended on request now; also where there is none. From any context, with a locked
    /// processor too.
    pub fn termination_disabled() -> bool {
        with_own::<K, _>(|here, held| {
            let running = here.running.get();
            core::ptr::eq(running, here.idle()) || running.unending.get(held)
        })
    }

    fn set_unending<C: Context>(unending: bool, cx: C) -> Result<(), Error> {
        let service = Service::<K, C::Domain, C>::enter(domain_of::<K, C>(cx), cx)?;
        if !service.in_task() {
            return service.leave(Err(Error::CTX));
        }
        let held = service.held();
        let me = service.running();
        // Where it may not give way it ends later, when it may again.
        if me.asked_to_end.get(held) && !unending && service.here.dispatching.get(held) {
            service.leave(());
            exit_from::<K, C::Domain>(domain_of::<K, C>(cx));
        }
        me.unending.set(unending, held);
        service.leave(Ok(()))
    }
}
