//! Sleep, suspension and delay.

use super::{State, Task, Waiting};
use crate::context::{Context, Domain};
use crate::error::Error;
use crate::kernel::Kernel;
use crate::service::Service;
use crate::time::Timeout;

impl<K: Kernel, D: Domain> Task<K, D> {
    /// wup_tsk: ends the task's sleep, or its next one, if it does not sleep: E_QOVR if that was done already. E_OBJ if
    /// it is dormant.
    #[inline(always)]
    pub fn wup<C: Context>(self, cx: C) -> Result<(), Error> {
        let service = Service::<K, D, C>::enter(self.domain, cx)?;
        let held = service.held();
        if matches!(self.tcb.waiting.get(held), Waiting::Sleep) {
            service.wake(self.tcb, Ok(0));
            return service.finish(Ok(()));
        }
        if self.tcb.state.get(held) == State::Dormant {
            return service.leave(Err(Error::OBJ));
        }
        if self.tcb.woken.get(held) {
            return service.leave(Err(Error::QOVR));
        }
        self.tcb.woken.set(true, held);
        service.leave(Ok(()))
    }

    /// can_wup: takes back the wake-up that is queued, if there is one, and gives how many there were.
    pub fn can_wup<C: Context>(self, cx: C) -> Result<u32, Error> {
        let service = self.enter_in_task(cx)?;
        let held = service.held();
        if self.tcb.state.get(held) == State::Dormant {
            return service.leave(Err(Error::OBJ));
        }
        let count = u32::from(self.tcb.woken.get(held));
        self.tcb.woken.set(false, held);
        service.leave(Ok(count))
    }

    /// rel_wai: ends its wait, whatever it waits for, with E_RLWAI. E_OBJ if it does not wait.
    pub fn rel_wai<C: Context>(self, cx: C) -> Result<(), Error> {
        let service = Service::<K, D, C>::enter(self.domain, cx)?;
        let held = service.held();
        if !self.tcb.is_waiting(held) {
            return service.leave(Err(Error::OBJ));
        }
        super::term::abandon_wait(&service, self.tcb);
        service.wake(self.tcb, Err(Error::RLWAI));
        service.finish(Ok(()))
    }

    /// sus_tsk: suspends the task. E_OBJ if it is dormant, E_QOVR if it is suspended, E_CTX if it is the caller and may
    /// not give way, E_RASTER if it is asked to end.
    pub fn sus<C: Context>(self, cx: C) -> Result<(), Error> {
        let service = self.enter_in_task(cx)?;
        let held = service.held();
        let myself = core::ptr::eq(service.running(), self.tcb);
        if myself && !service.here.dispatching.get(held) {
            return service.leave(Err(Error::CTX));
        }
        let next = match self.tcb.state.get(held) {
            State::Dormant => return service.leave(Err(Error::OBJ)),
            _ if self.tcb.asked_to_end.get(held) => return service.leave(Err(Error::RASTER)),
            State::Suspended | State::WaitingSuspended => return service.leave(Err(Error::QOVR)),
            State::Waiting => State::WaitingSuspended,
            State::Ready => {
                service.make_unready(self.tcb);
                State::Suspended
            }
        };
        self.tcb.state.set(next, held);
        service.finish(Ok(()))
    }

    /// rsm_tsk: ends its suspension. E_OBJ if it is not suspended.
    pub fn rsm<C: Context>(self, cx: C) -> Result<(), Error> {
        let service = self.enter_in_task(cx)?;
        let held = service.held();
        match self.tcb.state.get(held) {
            State::Suspended => {
                self.tcb.state.set(State::Ready, held);
                service.make_ready(self.tcb);
                service.finish(Ok(()))
            }
            State::WaitingSuspended => {
                self.tcb.state.set(State::Waiting, held);
                service.leave(Ok(()))
            }
            _ => service.leave(Err(Error::OBJ)),
        }
    }
}

/// Services of the calling task for itself.
pub struct Current<K: Kernel>(core::marker::PhantomData<K>);

impl<K: Kernel> Current<K> {
    /// slp_tsk: sleeps until it is woken. E_RLWAI if the wait was ended by force, E_RASTER if the task was asked to end,
    /// E_CTX where it may not wait.
    #[inline(always)]
    pub fn sleep<C: Context>(cx: C) -> Result<(), Error> {
        Self::sleep_for(Timeout::FOREVER, cx)
    }

    /// tslp_tsk: as slp_tsk, with E_TMOUT when the time has passed.
    #[inline(always)]
    pub fn sleep_for<C: Context>(timeout: Timeout, cx: C) -> Result<(), Error> {
        let service = Service::<K, C::Domain, C>::enter(cx.domain::<K>(), cx)?;
        if let Err(error) = service.may_wait() {
            return service.leave(Err(error));
        }
        let me = service.running();
        if me.woken.get(service.held()) {
            me.woken.set(false, service.held());
            return service.leave(Ok(()));
        }
        if timeout.is_poll() {
            return service.leave(Err(Error::TMOUT));
        }
        service.block(Waiting::Sleep, None, timeout).map(|_| ())
    }

    /// dly_tsk: lets that many microseconds pass. E_PAR above [`LONGEST`](crate::LONGEST).
    pub fn delay<C: Context>(micros: u32, cx: C) -> Result<(), Error> {
        let service = Service::<K, C::Domain, C>::enter(cx.domain::<K>(), cx)?;
        let timeout = match service.may_wait().and_then(|()| Timeout::micros(micros)) {
            Ok(timeout) => timeout,
            Err(error) => return service.leave(Err(error)),
        };
        service.block(Waiting::Delay, None, timeout).map(|_| ())
    }
}
