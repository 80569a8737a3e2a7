//! The oracle: whether everything that the kernel keeps fits together.
//!
//! It looks, under the giant lock, at the shared agenda of every processor, at the own agenda of this one, and at every
//! object and task that is shared or pinned to this processor. What belongs to another one alone is left out, because that
//! one may be changing it.
//!
//! It knows what may be, not what a service should have done: a wake-up that got lost leaves everything in order. That a
//! processor does what it is to do, [`heard`] looks.
//! A program that does not call it does not contain it.

use core::fmt;

use crate::cell::Held;
use crate::context::{Anywhere, Shared};
use crate::heap::after;
use crate::kernel::Kernel;
use crate::model::Model;
use crate::processor::{Agenda, Processor};
use crate::ready::PRIORITIES;
use crate::ring::Ring;
use crate::service::{Queue, Service};
use crate::task::{State, Tcb, Waiting};

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

/// Looks whether this processor has heard of what it is to do: its timer is set to the first deadline, and the task runs
/// that should. For a task that may be preempted. What has come but now is found too, so only what is found several times
/// in a row is lost.
pub fn heard<K: Kernel>() -> Result<(), Finding> {
    let Ok(service) = Service::<K, Shared, Anywhere>::enter(Shared, Anywhere) else { return Ok(()) };
    let (here, held) = (service.here, service.held());
    let now = K::common().clock.now::<K>();
    let armed = here.armed.get(held).map(|armed| after(armed, now));
    let shared = crate::model::Only::get(&here.shared).and_then(|agenda| agenda.heap.first(held));
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
        if let Some(shared) = crate::model::Only::get(&processor.shared) {
            agenda(shared, processor, held)?;
        }
    }
    let me = here.number() as u8;
    for (index, entry) in K::tasks().iter().enumerate() {
        if entry.domain.0.is_none_or(|place| place == me) {
            let agenda = if entry.domain.0.is_none() { shared_agenda_of(entry.block) } else { &here.own };
            task(entry.block, agenda, index + 1, held)?;
            let counts = crate::overrun::is_sound(here, entry.block, held);
            should(counts, "only the time of the task that runs is counted", index + 1)?;
        }
    }
    objects::<K>(me, held)
}

/// The agenda that a shared task is in when it can run.
fn shared_agenda_of<K: Kernel>(tcb: &Tcb<K>) -> &'static Agenda<K> {
    match crate::model::Only::get(&tcb.home) {
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
        for tcb in queue.iter(held) {
            let number = tcb.number().unwrap_or(0);
            should(tcb.state.get(held) == State::Ready, "who is in a ready queue is ready", number)?;
            should(usize::from(tcb.priority.get()) == priority, "the queue is that of the priority", number)?;
        }
        top = top.or(queue.first(held));
    }
    let expected = top.unwrap_or(of.idle());
    should(core::ptr::eq(agenda.ready.top(), expected), "the top is the first of the highest queue", 0)?;
    should(agenda.heap.is_sound(K::common().clock.now::<K>(), held), "the heap is in order, and knows its places", 0)
}

/// The links of a queue go round in both directions.
fn ring<K: Kernel>(queue: &Ring<K>, held: Held<'_>) -> bool {
    queue.is_sound(K::tasks().len(), held)
}

fn contains<K: Kernel>(queue: &Ring<K>, tcb: &Tcb<K>, held: Held<'_>) -> bool {
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
    should(crate::mutex::is_settled(tcb, held), "the priority is what base and mutexes make", number)
}

/// A queue of an object: sound, in order, and of tasks that wait for that.
fn queue<K: Kernel>(queue: &'static Queue<K>, number: usize, held: Held<'_>) -> Result<(), Finding> {
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
        queue(&block.senders, number, held)?;
        queue(&block.receivers, number, held)?;
        should(block.is_sound(held), "a message buffer's messages are where they should be", number)?;
    });
    each!(memory_pools, |block, number| {
        queue(&block.waiting, number, held)?;
        should(block.is_sound(held), "a memory pool counts its free blocks", number)?;
    });
    Ok(())
}
