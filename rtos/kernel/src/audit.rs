//! The audit: a check that all that the kernel keeps fits together.
//!
//! The audit looks, under the giant lock, at the shared agenda of every processor, at the own agenda of this one, and
//! at every object and task that is shared or pinned to this processor. What belongs to another processor alone is left
//! out, because that processor may be changing it.
//!
//! The audit knows which states are possible, not which state a service should have made: after a lost wake-up
//! everything still fits together. [`heard`] looks whether this processor has heard of all that it has to do. A program
//! that calls neither does not contain them.

use core::fmt;

use crate::base::cell::Held;
use crate::base::context::{Anywhere, Shared};
use crate::base::heap::after;
use crate::base::model::{Model, Only};
use crate::base::ready::PRIORITIES;
use crate::base::ring::{Queued, Ring};
use crate::kernel::Kernel;
use crate::service::accounting;
use crate::service::frame::Service;
use crate::state::processor::{Agenda, Processor};
use crate::state::queue::Queue;
use crate::state::tcb::{State, Tcb};
use crate::state::waiting::Waiting;

/// Something that does not fit.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Finding {
    /// What should be so.
    pub should: &'static str,
    /// The number of the task or object that it is about, from 1; 0 for a processor.
    pub number: usize,
}

impl fmt::Debug for Finding {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "number {}: {}", self.number, self.should)
    }
}

fn should(holds: bool, should: &'static str, number: usize) -> Result<(), Finding> {
    if holds { Ok(()) } else { Err(Finding { should, number }) }
}

/// Looks at everything. `Ok(false)` if it could not look, because the processor is locked.
pub fn audit<K: Kernel>() -> Result<bool, Finding> {
    let Ok(service) = Service::<K, Shared, Anywhere>::enter(Shared, Anywhere) else { return Ok(false) };
    let result = everything::<K>(service.here, service.held());
    service.leave(result.map(|()| true))
}

/// Looks whether this processor has heard of what it is to do: its timer is set to the first deadline, and the task
/// runs that should. For a task that may be preempted. What has come but now is found too, so only what is found
/// several times in a row is lost.
pub fn heard<K: Kernel>() -> Result<(), Finding> {
    let Ok(service) = Service::<K, Shared, Anywhere>::enter(Shared, Anywhere) else { return Ok(()) };
    let (here, held) = (service.here, service.held());
    let now = K::common().clock.now();
    let armed = here.armed.get(held).map(|armed| after(armed, now));
    let shared = here.shared.get().and_then(|agenda| agenda.heap.first(held));
    let firsts = [here.own.heap.first(held), shared];
    let rings = firsts.into_iter().flatten().all(|(_, at)| armed.is_some_and(|armed| armed <= after(at, now)));
    let (runs, next) = (service.running(), here.choose());
    let gives_way = !here.dispatching.get(held) || core::ptr::eq(runs, next);
    service.leave(
        should(rings, "the timer is set to the first deadline", 0)
            .and_then(|()| should(gives_way, "the task runs that should", next.number().unwrap_or(0))),
    )
}

fn everything<K: Kernel>(here: &'static Processor<K>, held: Held<'_>) -> Result<(), Finding> {
    agenda(&here.own, here, held)?;
    for number in 0..K::Model::PROCESSORS {
        let processor = Processor::<K>::of(number);
        if let Some(shared) = processor.shared.get() {
            agenda(shared, processor, held)?;
        }
    }
    let me = here.number() as u8;
    for (index, entry) in K::tasks().iter().enumerate() {
        if entry.domain.0.is_none_or(|place| place == me) {
            let agenda = if entry.domain.0.is_none() { shared_agenda_of(entry.block) } else { &here.own };
            task(entry.block, agenda, index + 1, held)?;
            let counts = accounting::is_sound(here, entry.block, held);
            should(counts, "only the time of the task that runs is counted", index + 1)?;
        }
    }
    objects::<K>(me, held)
}

/// The agenda that a shared task is in when it can run.
fn shared_agenda_of<K: Kernel>(tcb: &Tcb<K>) -> &'static Agenda<K> {
    match tcb.home.get() {
        Some(home) => home.processor.get().shared(),
        None => Processor::<K>::of(0).shared(),
    }
}

/// A processor's agenda: queues, their bits, the top, and the heap.
fn agenda<K: Kernel>(agenda: &Agenda<K>, of: &'static Processor<K>, held: Held<'_>) -> Result<(), Finding> {
    let mut top = None;
    for priority in 0..PRIORITIES {
        let queue = agenda.ready.queue_of(priority);
        should(ring(queue, held), "the links of a queue go round", 0)?;
        should(
            agenda.ready.has(priority, held) == queue.first(held).is_some(),
            "a bit says whether a queue is empty",
            0,
        )?;
        let mut before = 0;
        for tcb in queue.iter(held) {
            let number = tcb.number().unwrap_or(0);
            let in_order = !Tcb::<K>::is_by_sub_rank(priority) || tcb.sub_rank() >= before;
            should(in_order, "a queue by sub-priority is in order", number)?;
            before = tcb.sub_rank();
            should(tcb.state.get(held) == State::Ready, "who is in a ready queue is ready", number)?;
            should(usize::from(tcb.priority.get()) == priority, "the queue is that of the priority", number)?;
        }
        top = top.or(queue.first(held));
    }
    let expected = top.unwrap_or(of.idle());
    should(core::ptr::eq(agenda.ready.top(), expected), "the top is the first of the highest queue", 0)?;
    should(agenda.heap.is_sound(K::common().clock.now(), held), "the heap is in order, and knows its places", 0)
}

/// The links of a queue go round in both directions.
fn ring<K: Kernel>(queue: &Ring<Tcb<K>>, held: Held<'_>) -> bool {
    queue.is_sound(K::tasks().len(), held)
}

fn contains<K: Kernel>(queue: &Ring<Tcb<K>>, tcb: &Tcb<K>, held: Held<'_>) -> bool {
    queue.iter(held).any(|other| core::ptr::eq(other, tcb))
}

/// A task: its state, where it is queued, its mutexes and its priority.
fn task<K: Kernel>(tcb: &'static Tcb<K>, agenda: &Agenda<K>, number: usize, held: Held<'_>) -> Result<(), Finding> {
    let state = tcb.state.get(held);
    let ready = agenda.ready.queue_of(usize::from(tcb.priority.get()) % PRIORITIES);
    should(
        contains(ready, tcb, held) == (state == State::Ready),
        "who is ready is in a ready queue of its processor",
        number,
    )?;
    let waits = matches!(state, State::Waiting | State::WaitingSuspended);
    let waiting = tcb.waiting.get(held);
    should(waits != matches!(waiting, Waiting::Nothing), "who waits, waits for something", number)?;
    if let Some(queue) = waiting.queue() {
        should(contains(&queue.tasks, tcb, held), "who waits for an object is in its queue", number)?;
    }
    should(waits || !tcb.deadline.is_set(held), "only who waits has a deadline", number)?;
    if state == State::Dormant {
        should(tcb.mutexes.get(held).is_none(), "who is dormant holds no mutex", number)?;
        should(!tcb.queued.get(held), "who is dormant has no activation queued", number)?;
        should(tcb.priority.get() == tcb.initial_priority(), "who is dormant has its first priority", number)?;
    }
    should(tcb.is_settled(held), "the priority is what base and mutexes make", number)
}

/// A queue of an object: sound, in order, and of tasks that wait for that.
fn queue<K: Kernel>(queue: &'static Queue<Tcb<K>>, number: usize, held: Held<'_>) -> Result<(), Finding> {
    should(ring(&queue.tasks, held), "the links of an object's queue go round", number)?;
    let mut before = 0;
    for tcb in queue.tasks.iter(held) {
        let here = tcb.waiting.get(held).queue().is_some_and(|other| core::ptr::eq(other, queue));
        should(here, "who is in an object's queue waits for it", number)?;
        should(!queue.by_priority || tcb.priority.get() >= before, "a queue by priority is in order", number)?;
        before = tcb.priority.get();
    }
    Ok(())
}

/// The objects that are shared, or pinned to the processor of that number, which this is.
fn objects<K: Kernel>(me: u8, held: Held<'_>) -> Result<(), Finding> {
    macro_rules! each {
        ($table:ident, |$block:ident, $number:ident| $look:expr) => {
            for (index, entry) in K::$table().iter().enumerate() {
                if entry.domain.0.is_none_or(|place| place == me) {
                    let ($block, $number) = (entry.block, index + 1);
                    $look
                }
            }
        };
    }
    each!(semaphores, |block, number| {
        queue(&block.waiting, number, held)?;
        should(block.is_sound(held), "tasks wait for a semaphore only while it is zero", number)?;
    });
    each!(event_flags, |block, number| {
        queue(&block.waiting, number, held)?;
        should(block.is_sound(held), "no task waits for bits that are set", number)?;
    });
    each!(data_queues, |block, number| {
        queue(&block.senders, number, held)?;
        queue(&block.receivers, number, held)?;
        should(
            block.is_sound(held),
            "tasks send only to a full data queue, and receive only from an empty one",
            number,
        )?;
    });
    each!(priority_data_queues, |block, number| {
        queue(&block.senders, number, held)?;
        queue(&block.receivers, number, held)?;
        should(block.is_sound(held), "a priority data queue is in order and counts its words", number)?;
    });
    each!(mutexes, |block, number| {
        queue(&block.waiting, number, held)?;
        should(block.is_sound(held), "a mutex has an owner, who has it, if anybody waits", number)?;
    });
    each!(message_buffers, |block, number| {
        queue(&block.messages.senders, number, held)?;
        queue(&block.receivers, number, held)?;
        should(block.is_sound(held), "a message buffer's messages are where they should be", number)?;
    });
    each!(memory_pools, |block, number| {
        queue(&block.waiting, number, held)?;
        should(block.is_sound(held), "a memory pool counts its free blocks", number)?;
    });
    Ok(())
}
