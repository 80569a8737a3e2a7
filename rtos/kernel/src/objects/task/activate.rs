//! Activation, state and priority of a task.

use crate::base::context::{Context, Domain};
use crate::base::error::Error;
use crate::base::model::Only;
use crate::base::ready::PRIORITIES;
use crate::base::ring::Queued;
use crate::objects::mutex::settle;
use crate::objects::task::Task;
use crate::objects::task::priority::{Place, change_priority};
use crate::service::frame::Service;
use crate::state::storage::Storage;
use crate::state::tcb::{State, Tcb};

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

impl<K: Storage, D: Domain> Task<K, D> {
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

    /// chg_spr: gives it another sub-priority, from 0, the highest, and makes it the last of that; until it ends, if it is
    /// active. It tells only within the priorities that the kernel names as its `sub_priorities`, and not while a mutex
    /// gives the task its priority. A kernel that names none keeps nothing. E_NOSPT if it is a restricted task.
    pub fn chg_spr<C: Context>(self, sub_priority: u32, cx: C) -> Result<(), Error> {
        let service = self.enter_in_task(cx)?;
        let held = service.held();
        if self.tcb.is_restricted() {
            return service.leave(Err(Error::NOSPT));
        }
        self.tcb.set_sub_priority(sub_priority, held);
        let rank = self.tcb.priority.get();
        if !Tcb::<K>::is_by_sub_rank(usize::from(rank))
            || self.tcb.is_boosted(held)
            || self.tcb.state.get(held) != State::Ready
        {
            return service.leave(Ok(()));
        }
        change_priority(&service, self.tcb, rank, Place::Last);
        service.finish(Ok(()))
    }

    /// get_pri: its present priority, from 1. E_OBJ if it is dormant.
    pub fn priority<C: Context>(self, cx: C) -> Result<usize, Error> {
        let service = self.enter_in_task(cx)?;
        if self.tcb.state.get(service.held()) == State::Dormant {
            return service.leave(Err(Error::OBJ));
        }
        service.leave(Ok(usize::from(self.tcb.priority.get()) + 1))
    }

    /// chg_pri: changes its base priority, to its first one if none is given. E_PAR if there is no such priority, E_OBJ
    /// if it is dormant, E_NOSPT if it is a restricted task, E_ILUSE if it holds or waits for a mutex whose ceiling is below.
    pub fn chg_pri<C: Context>(self, priority: Option<usize>, cx: C) -> Result<(), Error> {
        let service = self.enter_in_task(cx)?;
        let rank = match priority {
            None => self.tcb.initial_priority(),
            Some(priority) if (1..=PRIORITIES).contains(&priority) => priority as u8 - 1,
            Some(_) => return service.leave(Err(Error::PAR)),
        };
        let held = service.held();
        if self.tcb.is_restricted() {
            return service.leave(Err(Error::NOSPT));
        }
        if self.tcb.state.get(held) == State::Dormant {
            return service.leave(Err(Error::OBJ));
        }
        if !self.tcb.ceilings_allow(rank, held) {
            return service.leave(Err(Error::ILUSE));
        }
        self.tcb.base.set(rank, held);
        settle(&service, self.tcb, Place::Last);
        service.finish(Ok(()))
    }
}
