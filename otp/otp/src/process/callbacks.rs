//! The trait [`Process`]: what the state of a process does with a message, an event of the Erlang half, and an awaited answer.

use crate::nif::{Env, Term};
use crate::process::turn::Turn;

/// The state of a process and what it does. What the results mean is said in `otp_native.erl`. `None` where it was asked for
/// what cannot be now, which only foreign code does.
pub trait Process: Send {
    /// What becomes of a message.
    fn receive<'a>(&mut self, env: Env<'a>, turn: &Turn, message: Term<'a>) -> Option<Term<'a>>;

    /// What becomes of something that is no message: the start, the end, a question about the state.
    fn on<'a>(&mut self, env: Env<'a>, turn: &Turn, event: Term<'a>) -> Option<Term<'a>>;

    /// Goes on with the callback under way, given what came for it.
    fn resume<'a>(&mut self, env: Env<'a>, turn: &Turn, events: Term<'a>) -> Option<Term<'a>>;

    /// Whether to drop it takes no time.
    fn is_light(&self) -> bool;

    /// Does a job of the callback under way.
    fn work(&mut self, number: u64) -> Option<()>;
}
