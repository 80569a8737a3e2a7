//! Activation, priority, information about a task.

use super::{State, Task, Tcb, Waiting};
use crate::context::{Context, Domain};
use crate::error::Error;
use crate::kernel::Kernel;
use crate::model::Only;
use crate::ready::PRIORITIES;
use crate::service::Service;

/// What get_tst tells.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TaskState {
    /// It runs: TTS_RUN.
    Running,
    /// It could run, but a higher one does: TTS_RDY.
    Ready,
    /// It waits: TTS_WAI.
    Waiting,
    /// It is suspended: TTS_SUS.
    Suspended,
    /// It waits and is suspended: TTS_WAS.
    WaitingSuspended,
    /// It has not begun, or has ended: TTS_DMT.
    Dormant,
}

impl<K: Kernel, D: Domain> Task<K, D> {
    /// act_tsk: activates the task. If it is active it will begin anew once it has ended, unless that was asked already
    /// or the task does not allow it: E_QOVR.
    #[inline(always)]
    pub fn act<C: Context>(self, cx: C) -> Result<(), Error> {
        let service = Service::<K, D, C>::enter(self.domain, cx)?;
        let held = service.held();
        if self.tcb.state.get(held) == State::Dormant {
            self.tcb.state.set(State::Ready, held);
            service.make_ready(self.tcb);
            return service.finish(Ok(()));
        }
        if self.tcb.queued.get(held) || !self.tcb.queues {
            return service.leave(Err(Error::QOVR));
        }
        self.tcb.queued.set(true, held);
        service.leave(Ok(()))
    }

    /// can_act: takes back the queued activation, if there is one, and gives how many there were.
    pub fn can_act<C: Context>(self, cx: C) -> Result<u32, Error> {
        let service = self.enter_in_task(cx)?;
        let queued = self.tcb.queued.get(service.held());
        self.tcb.queued.set(false, service.held());
        if let Some(home) = self.tcb.home.get() {
            home.next.set(None, service.held());
        }
        service.leave(Ok(u32::from(queued)))
    }

    /// get_tst: what the task does.
    pub fn state<C: Context>(self, cx: C) -> Result<TaskState, Error> {
        let service = self.enter_in_task(cx)?;
        let state = match self.tcb.state.get(service.held()) {
            State::Dormant => TaskState::Dormant,
            State::Waiting => TaskState::Waiting,
            State::Suspended => TaskState::Suspended,
            State::WaitingSuspended => TaskState::WaitingSuspended,
            State::Ready if core::ptr::eq(service.home(self.tcb).running.get(), self.tcb) => TaskState::Running,
            State::Ready => TaskState::Ready,
        };
        service.leave(Ok(state))
    }

    /// get_pri: its present priority, from 1. E_OBJ if it is dormant.
    pub fn priority<C: Context>(self, cx: C) -> Result<usize, Error> {
        let service = self.enter_in_task(cx)?;
        if self.tcb.state.get(service.held()) == State::Dormant {
            return service.leave(Err(Error::OBJ));
        }
        service.leave(Ok(usize::from(self.tcb.priority.get()) + 1))
    }

    /// chg_pri: changes its base priority, to its first one if none is given. E_PAR if there is no such priority, E_OBJ if
    /// it is dormant, E_ILUSE if it holds or waits for a mutex whose ceiling is below.
    pub fn chg_pri<C: Context>(self, priority: Option<usize>, cx: C) -> Result<(), Error> {
        let service = self.enter_in_task(cx)?;
        let rank = match priority {
            None => self.tcb.initial_priority(),
            Some(priority) if (1..=PRIORITIES).contains(&priority) => priority as u8 - 1,
            Some(_) => return service.leave(Err(Error::PAR)),
        };
        let held = service.held();
        if self.tcb.state.get(held) == State::Dormant {
            return service.leave(Err(Error::OBJ));
        }
        if !crate::mutex::ceilings_allow(self.tcb, rank, held) {
            return service.leave(Err(Error::ILUSE));
        }
        self.tcb.base.set(rank, held);
        crate::mutex::settle(&service, self.tcb, Place::Last);
        service.finish(Ok(()))
    }

    /// Enters a service that only tasks may call.
    pub(crate) fn enter_in_task<C: Context>(self, cx: C) -> Result<Service<K, D, C>, Error> {
        let service = Service::<K, D, C>::enter(self.domain, cx)?;
        if service.in_task() { Ok(service) } else { service.leave(Err(Error::CTX)) }
    }
}

/// Where a task goes among those of its new priority.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    First,
    Last,
}

/// Gives a task another priority now, wherever it is queued. The same priority makes it the last of it.
pub(crate) fn change_priority<K: Kernel, D: Domain, C: Context>(
    service: &Service<K, D, C>,
    tcb: &'static Tcb<K>,
    rank: u8,
    place: Place,
) {
    let held = service.held();
    if tcb.state.get(held) == State::Ready {
        let home = service.home(tcb);
        let ready = &service.agenda(home).ready;
        let mut other = ready.remove(tcb, held);
        tcb.priority.set(rank, held);
        other |= if place == Place::First { ready.insert_front(tcb, held) } else { ready.insert(tcb, held) };
        if other {
            service.notify(home);
        }
        return;
    }
    tcb.priority.set(rank, held);
    if let Some(queue) = tcb.waiting.get(held).queue() {
        queue.reorder(tcb, held);
    }
    // It may have come to the front, with a message for which there is room.
    if let Waiting::SendMessage(buffer, ..) = tcb.waiting.get(held) {
        crate::message_buffer::serve_senders(service, buffer);
    }
}
