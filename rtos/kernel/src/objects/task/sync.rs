//! Wake-up, release from a wait, suspension.

use crate::base::context::{Context, Domain};
use crate::base::error::Error;
use crate::objects::task::Task;
use crate::objects::task::terminate::abandon_wait;
use crate::service::frame::Service;
use crate::state::storage::Storage;
use crate::state::tcb::State;
use crate::state::waiting::Waiting;

impl<K: Storage, D: Domain> Task<K, D> {
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
        abandon_wait(&service, self.tcb);
        service.wake(self.tcb, Err(Error::RLWAI));
        service.finish(Ok(()))
    }

    /// sus_tsk: suspends the task. E_OBJ if it is dormant, E_QOVR if it is suspended, E_CTX if it is the caller and may
    /// not give way, E_NOSPT if it is a restricted task, E_RASTER if it is asked to end.
    pub fn sus<C: Context>(self, cx: C) -> Result<(), Error> {
        let service = self.enter_in_task(cx)?;
        let held = service.held();
        let myself = core::ptr::eq(service.running(), self.tcb);
        if myself && !service.here.dispatching.get(held) {
            return service.leave(Err(Error::CTX));
        }
        if self.tcb.is_restricted() {
            return service.leave(Err(Error::NOSPT));
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
