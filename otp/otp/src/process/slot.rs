//! Slots: the references by which Erlang holds the states of processes, and how a call finds the state.
//!
//! When nothing refers to a slot any more, its state is dropped. The loop of gen_servers passes the state's place in the slab beside
//! the slot, which is the shorter way.

use crate::atom;
use crate::data::Data;
use crate::nif::{Env, Term};
use crate::process::behaviour::{NotRestored, Started, behaviours};
use crate::process::callbacks::Process;
use crate::process::drops;
use crate::process::events::emit_undone;
use crate::process::rate::MessageRate;
use crate::process::resource::{Loading, Resource};
use crate::process::slab;
use crate::process::turn::Turn;

static SLOTS: Resource<Slot> = Resource::new(c"process");

/// Has a state dropped.
struct Slot {
    place: usize,
}

impl Drop for Slot {
    fn drop(&mut self) {
        let place = self.place;
        // SAFETY: nothing refers to the slot any more, so no call has it in its arguments, and no loop that would ask for its place.
        unsafe { slab::empty(place, |state| drops::elsewhere(|| state.drop_now())) };
    }
}

pub(crate) fn open(loading: &Loading) -> bool {
    SLOTS.open(loading)
}

/// A slot for a process that is not there yet.
pub(crate) fn slot<P: Process + 'static>(env: Env<'_>, process: P) -> Term<'_> {
    SLOTS.keep(env, Slot { place: slab::fill(process) })
}

/// `{Slot, Place, Result}`, or what there is instead of a process.
pub(crate) fn init<'a>(env: Env<'a>, turn: &Turn, index: usize, argument: Term<'a>) -> Option<Term<'a>> {
    let behaviour = *behaviours().get(index)?;
    Some(match (behaviour.init)(env, turn, argument) {
        Started::Process(slot, result) => {
            env.tuple(&[slot.raw(), place(env, slot)?.raw(), turn.with_rest(env, result).raw()])
        }
        Started::Else(result) => {
            emit_undone(env, turn);
            result
        }
    })
}

/// The number of its place.
pub(crate) fn place<'a>(env: Env<'a>, slot: Term<'a>) -> Option<Term<'a>> {
    Some(SLOTS.get(slot)?.place.encode(env))
}

/// Has the process in this place take a message.
///
/// # Safety
/// Whoever made this call has a reference to the slot of that place, and it is the only use of the process that the call makes.
#[inline(always)]
pub(crate) unsafe fn message<'a>(env: Env<'a>, turn: &Turn, place: Term<'a>, message: Term<'a>) -> Option<Term<'a>> {
    // A negative one is the number of nothing.
    let number = place.integer()?.cast_unsigned() as usize;
    // SAFETY: the caller's promise.
    let result = unsafe {
        slab::with(env, number, |process, rate| {
            rate.count(turn);
            process.receive(env, turn, message)
        })
    }??;
    if turn.is_done() && result.is(atom!("ok")) {
        return Some(result);
    }
    let result = turn.with_rest(env, result);
    env.collect_when_short();
    Some(result)
}

/// Has the process in `slot` take a message.
pub(crate) fn receive<'a>(env: Env<'a>, turn: &Turn, slot: Term<'a>, message: Term<'a>) -> Option<Term<'a>> {
    in_slot(env, turn, slot, |process, rate| {
        rate.count(turn);
        process.receive(env, turn, message)
    })
}

/// Goes on with the callback under way in the process in `slot`.
pub(crate) fn resume<'a>(env: Env<'a>, turn: &Turn, slot: Term<'a>, events: Term<'a>) -> Option<Term<'a>> {
    in_slot(env, turn, slot, |process, rate| {
        rate.count(turn);
        process.resume(env, turn, events)
    })
}

/// Has the process in `slot` do something that no message comes to.
pub(crate) fn with<'a>(
    env: Env<'a>,
    turn: &Turn,
    slot: Term<'a>,
    body: impl FnOnce(&mut dyn Process) -> Option<Term<'a>>,
) -> Option<Term<'a>> {
    in_slot(env, turn, slot, |process, _| body(process))
}

/// What `body` makes of the process in `slot`, which is an argument of this call.
fn in_slot<'a>(
    env: Env<'a>,
    turn: &Turn,
    slot: Term<'a>,
    body: impl FnOnce(&mut dyn Process, &mut MessageRate) -> Option<Term<'a>>,
) -> Option<Term<'a>> {
    // SAFETY: an argument refers to the slot until the call is over, and it is the only use of the process that the call makes.
    let result = unsafe { slab::with(env, SLOTS.get(slot)?.place, body) }??;
    Some(turn.with_rest(env, result))
}

/// `{ok, Slot}` of a process that goes on from `state`, with what was ordered meanwhile, or `{error, Why}`; `{error, {no_form, Why}}` of one that
/// may stay in its build.
pub(crate) fn restore<'a>(env: Env<'a>, turn: &Turn, index: usize, state: Term<'a>) -> Option<Term<'a>> {
    let restore = behaviours().get(index)?.restore?;
    Some(match restore(state) {
        Ok(slot) => {
            let restored = env.tuple(&[atom!("ok").raw(env), slot.raw()]);
            turn.with_rest(env, restored)
        }
        Err(NotRestored::NoForm(why)) => {
            let why = env.tuple(&[atom!("no_form").raw(env), why.encode(env).raw()]);
            env.tuple(&[atom!("error").raw(env), why.raw()])
        }
        Err(NotRestored::Malformed(wrong)) => {
            env.tuple(&[atom!("error").raw(env), wrong.to_string().encode(env).raw()])
        }
    })
}
