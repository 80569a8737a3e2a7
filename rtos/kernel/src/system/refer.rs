//! ref_tsk: the state of a task, and what it waits for.

use crate::base::context::{Context, Domain};
use crate::base::error::Error;
use crate::base::model::Only;
use crate::kernel::Kernel;
use crate::objects::notification::ahead;
use crate::objects::task::Task;
use crate::objects::task::activate::TaskState;
use crate::state::queue::Queue;
use crate::state::storage::Numbered;
use crate::state::tcb::{State, Tcb};
use crate::state::waiting::Waiting;

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
    /// Its sub-priority, from 0; none if the kernel has no sub-priorities.
    pub sub_priority: Option<u32>,
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

/// The ITRON number of the object of a table that something holds for; none if it holds for none.
fn number<T>(table: &[Numbered<T>], is: impl Fn(&T) -> bool) -> Option<usize> {
    table.iter().position(|entry| is(entry.block)).map(|index| index + 1)
}

/// What a task waits for. A wait names a queue, which is that of one object.
fn told<K: Kernel>(waiting: Waiting<Tcb<K>>) -> Option<WaitsFor> {
    let is = |queue: &Queue<Tcb<K>>| waiting.queue().is_some_and(|other| core::ptr::eq(other, queue));
    match waiting {
        Waiting::Nothing => None,
        Waiting::Sleep => Some(WaitsFor::Sleep),
        Waiting::Delay => Some(WaitsFor::Delay),
        Waiting::Flags(..) => number(K::event_flags(), |flag| is(&flag.waiting)).map(WaitsFor::EventFlag),
        Waiting::Send(..) => number(K::data_queues(), |queue| is(&queue.senders)).map(WaitsFor::Send),
        Waiting::SendByPriority(..) => {
            number(K::priority_data_queues(), |queue| is(&queue.senders)).map(WaitsFor::SendByPriority)
        }
        Waiting::Mutex(..) => number(K::mutexes(), |mutex| is(&mutex.waiting)).map(WaitsFor::Mutex),
        Waiting::SendMessage(..) => {
            number(K::message_buffers(), |buffer| is(&buffer.messages.senders)).map(WaitsFor::SendMessage)
        }
        Waiting::ReceiveMessage(..) => {
            number(K::message_buffers(), |buffer| is(&buffer.receivers)).map(WaitsFor::ReceiveMessage)
        }
        Waiting::Object(_) => number(K::semaphores(), |semaphore| is(&semaphore.waiting))
            .map(WaitsFor::Semaphore)
            .or_else(|| number(K::data_queues(), |queue| is(&queue.receivers)).map(WaitsFor::Receive))
            .or_else(|| {
                number(K::priority_data_queues(), |queue| is(&queue.receivers)).map(WaitsFor::ReceiveByPriority)
            })
            .or_else(|| number(K::memory_pools(), |pool| is(&pool.waiting)).map(WaitsFor::Memory)),
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
            sub_priority: tcb.sub_priority(held),
            waits_for: told(tcb.waiting.get(held)),
            left: ahead::<K>(&tcb.deadline, held),
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
