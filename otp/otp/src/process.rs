//! A process of the VM whose work is done here: its state lies in a slot, and every message comes in once.

use crate::atom;
use crate::generate::Description;
use crate::vm::abi::RawEnv;
use crate::vm::{Env, SlotType, Term};

/// The state of a process and what it does with a message.
pub trait Process: Send {
    /// What the Erlang half is to do next: see `otp_native.erl`.
    fn receive<'a>(&mut self, env: Env<'a>, message: Term<'a>) -> Term<'a>;
}

/// A kind of process that the library can start.
#[derive(Debug)]
pub struct Behaviour {
    /// The name of its module.
    pub name: &'static str,
    pub init: for<'a> fn(env: Env<'a>, argument: Term<'a>) -> Started<'a>,
    pub describe: fn() -> Description,
}

inventory::collect!(Behaviour);

/// How a start went.
#[expect(missing_debug_implementations, reason = "a process may be anything")]
pub enum Started<'a> {
    Process(Box<dyn Process>),
    /// What `init/1` of OTP's behaviours would have returned instead.
    Else(Term<'a>),
}

static SLOTS: SlotType<Box<dyn Process>> = SlotType::new(c"process");

/// Every kind of process of this library, in the order of their names; their number is the place in it.
pub fn behaviours() -> Vec<&'static Behaviour> {
    let mut all: Vec<_> = inventory::iter::<Behaviour>().collect();
    all.sort_by_key(|behaviour| behaviour.name);
    all
}

/// # Safety
/// Only while the VM loads the library.
pub(crate) unsafe fn open(env: *mut RawEnv) -> bool {
    // SAFETY: the caller's promise.
    unsafe { SLOTS.open(env) }
}

pub(crate) fn init<'a>(env: Env<'a>, index: usize, argument: Term<'a>) -> Option<Term<'a>> {
    let behaviour = *behaviours().get(index)?;
    Some(match (behaviour.init)(env, argument) {
        Started::Process(process) => {
            let slot = SLOTS.keep(env, process);
            env.tuple(&[atom!("ok").term(env).raw(), slot.raw()])
        }
        Started::Else(result) => result,
    })
}

#[inline]
pub(crate) fn handle<'a>(env: Env<'a>, slot: Term<'a>, message: Term<'a>) -> Option<Term<'a>> {
    SLOTS.with(slot, |process| process.receive(env, message))
}
