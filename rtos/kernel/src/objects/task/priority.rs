//! Changing the priority of a task, which moves it in the queue that it is in.

use crate::base::context::{Context, Domain};
use crate::objects::message_buffer::serve_senders;
use crate::service::frame::Service;
use crate::state::storage::Storage;
use crate::state::tcb::{State, Tcb};
use crate::state::waiting::Waiting;

/// Where a task goes among those of its new priority.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    First,
    Last,
}

/// Gives a task another priority now, wherever it is queued. The same priority makes it the last of it.
pub(crate) fn change_priority<K: Storage, D: Domain, C: Context>(
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
    if let Waiting::SendMessage(messages, ..) = tcb.waiting.get(held) {
        serve_senders(service, messages);
    }
}
