//! ref_tsk: all that can be told of a task.

use super::manage::TaskState;
use super::{State, Task, Waiting};
use crate::context::{Context, Domain};
use crate::error::Error;
use crate::kernel::{Kernel, Numbered};
use crate::model::Only;

/// What a task waits for: the kind, and the object's ITRON number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WaitsFor {
    /// To be woken: TTW_SLP.
    Sleep,
    /// For time to pass: TTW_DLY.
    Delay,
    /// For a resource: TTW_SEM.
    Semaphore(usize),
    /// For bits: TTW_FLG.
    EventFlag(usize),
    /// To send to a data queue: TTW_SDTQ.
    Send(usize),
    /// To receive from a data queue: TTW_RDTQ.
    Receive(usize),
    /// To send to a priority data queue: TTW_SPDQ.
    SendByPriority(usize),
    /// To receive from a priority data queue: TTW_RPDQ.
    ReceiveByPriority(usize),
    /// For a mutex: TTW_MTX.
    Mutex(usize),
    /// To send a message: TTW_SMBF.
    SendMessage(usize),
    /// To receive a message: TTW_RMBF.
    ReceiveMessage(usize),
    /// For a block of memory: TTW_MPF.
    Memory(usize),
}

/// All that can be told of a task.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TaskReference {
    /// What it does.
    pub state: TaskState,
    /// Its present and its base priority, from 1; none if it is dormant.
    pub priorities: Option<(usize, usize)>,
    /// What it waits for, if it waits.
    pub waits_for: Option<WaitsFor>,
    /// In how many microseconds the wait ends at the latest; none if it is without limit.
    pub left: Option<u32>,
    /// Whether an activation is queued.
    pub queued: bool,
    /// Whether a wake-up is queued.
    pub woken: bool,
    /// Whether it was asked to end.
    pub asked_to_end: bool,
    /// Whether it does not let itself be ended.
    pub unending: bool,
    /// Its processor, counted from 0.
    pub processor: usize,
    /// That on which a queued activation begins, if mact_tsk has said it.
    pub next: Option<usize>,
}

fn number<T>(table: &[Numbered<T>], block: &T) -> usize {
    table.iter().position(|entry| core::ptr::eq(entry.block, block)).map_or(0, |index| index + 1)
}

impl<K: Kernel> Waiting<K> {
    fn told(self) -> Option<WaitsFor> {
        Some(match self {
            Waiting::Nothing => return None,
            Waiting::Sleep => WaitsFor::Sleep,
            Waiting::Delay => WaitsFor::Delay,
            Waiting::Semaphore(block) => WaitsFor::Semaphore(number(K::semaphores(), block)),
            Waiting::Flags(block, ..) => WaitsFor::EventFlag(number(K::event_flags(), block)),
            Waiting::Send(block, _) => WaitsFor::Send(number(K::data_queues(), block)),
            Waiting::Receive(block) => WaitsFor::Receive(number(K::data_queues(), block)),
            Waiting::SendByPriority(block, ..) => WaitsFor::SendByPriority(number(K::priority_data_queues(), block)),
            Waiting::ReceiveByPriority(block) => WaitsFor::ReceiveByPriority(number(K::priority_data_queues(), block)),
            Waiting::Mutex(block) => WaitsFor::Mutex(number(K::mutexes(), block)),
            Waiting::Memory(block) => WaitsFor::Memory(number(K::memory_pools(), block)),
            Waiting::SendMessage(block, ..) => WaitsFor::SendMessage(number(K::message_buffers(), block)),
            Waiting::ReceiveMessage(block, _) => WaitsFor::ReceiveMessage(number(K::message_buffers(), block)),
        })
    }
}

impl<K: Kernel, D: Domain> Task<K, D> {
    /// ref_tsk: all that can be told of the task.
    pub fn refer<C: Context>(self, cx: C) -> Result<TaskReference, Error> {
        let service = self.enter_in_task(cx)?;
        let held = service.held();
        let tcb = self.tcb;
        let home = service.home(tcb);
        let state = tcb.state.get(held);
        let told = TaskReference {
            state: match state {
                State::Dormant => TaskState::Dormant,
                State::Waiting => TaskState::Waiting,
                State::Suspended => TaskState::Suspended,
                State::WaitingSuspended => TaskState::WaitingSuspended,
                State::Ready if core::ptr::eq(home.running.get(), tcb) => TaskState::Running,
                State::Ready => TaskState::Ready,
            },
            priorities: (state != State::Dormant)
                .then(|| (usize::from(tcb.priority.get()) + 1, usize::from(tcb.base.get()) + 1)),
            waits_for: tcb.waiting.get(held).told(),
            left: crate::notify::ahead::<K>(&tcb.deadline, held),
            queued: tcb.queued.get(held),
            woken: tcb.woken.get(held),
            asked_to_end: tcb.asked_to_end.get(held),
            unending: tcb.unending.get(held),
            processor: home.number(),
            next: tcb.home.get().and_then(|home| home.next.get(held)).map(usize::from),
        };
        service.leave(Ok(told))
    }

    /// get_inf: what the task was described with. For a task in C, its exinf.
    pub fn argument(self) -> *mut () {
        self.tcb.saved.argument
    }
}
