//! A process of the VM whose work is done here: its state lies in a place, and every message comes in once.
//!
//! To Erlang a state is a reference, its slot: when nothing refers to that any more, the state is dropped. The loop of gen_servers
//! knows the number of the place beside it, which is the shorter way.

use std::sync::OnceLock;

use crate::atom;
use crate::data::{Data, Malformed};
use crate::generate::Description;
use crate::pace::Pace;
use crate::vm::{Env, Loading, ObjectType, Term, Turn, place};

/// The state of a process and what it does. What the results mean is said in `otp_native.erl`. `None` where it was asked for
/// what cannot be now, which only foreign code does.
pub trait Process: Send {
    /// What becomes of a message.
    fn receive<'a>(&mut self, env: Env<'a>, turn: &Turn, message: Term<'a>) -> Option<Term<'a>>;

    /// What becomes of something that is no message: the start, the end, a question about the state.
    fn on<'a>(&mut self, env: Env<'a>, turn: &Turn, event: Term<'a>) -> Option<Term<'a>>;

    /// Goes on with the callback under way, given what came for it.
    fn resume<'a>(&mut self, env: Env<'a>, turn: &Turn, events: Term<'a>) -> Option<Term<'a>>;

    /// Does a job of the callback under way.
    fn work(&mut self, number: u64) -> Option<()>;
}

/// Makes the slot of a process from the state of an older build.
pub type Restore = for<'a> fn(state: Term<'a>) -> Result<Term<'a>, Malformed>;

/// A kind of process that the library can start.
#[derive(Debug)]
pub struct Behaviour {
    /// The name of its module.
    pub name: &'static str,
    /// Where it stands: file and line.
    pub at: &'static str,
    pub init: for<'a> fn(env: Env<'a>, turn: &Turn, argument: Term<'a>) -> Started<'a>,
    /// A process from the state that an older build of it had; `None` for what has none.
    pub restore: Option<Restore>,
    pub describe: fn() -> Description,
}

inventory::collect!(Behaviour);

/// How a start went.
#[expect(missing_debug_implementations, reason = "a process may be anything")]
pub enum Started<'a> {
    /// There is a process in this slot, and this is what its `init` came to: `ok`, or what it waits for.
    Process(Term<'a>, Term<'a>),
    /// What `init/1` of OTP's behaviours would have returned instead.
    Else(Term<'a>),
}

static SLOTS: ObjectType<Slot> = ObjectType::new(c"process");

/// Has a state dropped.
struct Slot {
    place: usize,
}

impl Drop for Slot {
    fn drop(&mut self) {
        // SAFETY: nothing refers to the slot any more, so no call has it in its arguments, and no loop that would ask for its place.
        unsafe { place::empty(self.place) };
    }
}

/// Every kind of process of this library, in the order of their names; their number is the place in it.
pub fn behaviours() -> &'static [&'static Behaviour] {
    static ALL: OnceLock<Vec<&'static Behaviour>> = OnceLock::new();
    ALL.get_or_init(|| {
        let mut all: Vec<_> = inventory::iter::<Behaviour>().collect();
        all.sort_by_key(|behaviour| behaviour.name);
        all
    })
}

pub(crate) fn open(loading: &Loading) -> bool {
    SLOTS.open(loading)
}

/// A slot for a process that is not there yet.
pub(crate) fn slot<P: Process + 'static>(env: Env<'_>, process: P) -> Term<'_> {
    SLOTS.keep(env, Slot { place: place::fill(process) })
}

/// `{Slot, Place, Result}`, or what there is instead of a process.
pub(crate) fn init<'a>(env: Env<'a>, turn: &Turn, index: usize, argument: Term<'a>) -> Option<Term<'a>> {
    let behaviour = *behaviours().get(index)?;
    Some(match (behaviour.init)(env, turn, argument) {
        Started::Process(slot, result) => {
            env.tuple(&[slot.raw(), place(env, slot)?.raw(), turn.with_rest(env, result).raw()])
        }
        Started::Else(result) => {
            crate::observe::rescue(env, turn);
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
        place::with(env, number, |process, pace| {
            pace.count(turn);
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
    in_slot(env, turn, slot, |process, pace| {
        pace.count(turn);
        process.receive(env, turn, message)
    })
}

/// Goes on with the callback under way in the process in `slot`.
pub(crate) fn resume<'a>(env: Env<'a>, turn: &Turn, slot: Term<'a>, events: Term<'a>) -> Option<Term<'a>> {
    in_slot(env, turn, slot, |process, pace| {
        pace.count(turn);
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
    body: impl FnOnce(&mut dyn Process, &mut Pace) -> Option<Term<'a>>,
) -> Option<Term<'a>> {
    // SAFETY: an argument refers to the slot until the call is over, and it is the only use of the process that the call makes.
    let result = unsafe { place::with(env, SLOTS.get(slot)?.place, body) }??;
    Some(turn.with_rest(env, result))
}

/// `{ok, Slot}` of a process that goes on from `state`, with what was ordered meanwhile, or `{error, Why}`.
pub(crate) fn restore<'a>(env: Env<'a>, turn: &Turn, index: usize, state: Term<'a>) -> Option<Term<'a>> {
    let restore = behaviours().get(index)?.restore?;
    Some(match restore(state) {
        Ok(slot) => {
            let restored = env.tuple(&[atom!("ok").raw(env), slot.raw()]);
            turn.with_rest(env, restored)
        }
        Err(wrong) => env.tuple(&[atom!("error").raw(env), wrong.to_string().encode(env).raw()]),
    })
}
