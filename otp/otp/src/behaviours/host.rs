//! The state of a process: at rest, or lent to the future of a callback.
//!
//! A callback that is not async gets a reference to the state in its slot. An async callback gets the state itself, moved into its
//! future, which gives it back when it ends; until then the process takes no other message.

use std::fmt;
use std::future::Future;

use crate::atom;
use crate::behaviours::returns::Next;
use crate::data::brief::brief;
use crate::data::{Data, Malformed};
use crate::nif::{Env, Term};
use crate::process::turn::{Turn, turn};
use crate::waiting::future::{Boxed, Running};

/// Where and when a callback runs.
#[derive(Clone, Copy, Debug)]
pub struct At<'a, 't> {
    pub env: Env<'a>,
    pub(crate) turn: &'t Turn,
}

impl<'a> At<'a, '_> {
    /// What the Erlang half is told that the process does next.
    #[inline(always)]
    pub fn next(self, next: Next) -> Term<'a> {
        next.encode(self.env)
    }

    /// Has the same done again where it may take long.
    pub fn to_dirty_cpu(self) -> Term<'a> {
        atom!("dirty_cpu").term(self.env)
    }

    /// Has the same done again where it may block.
    pub fn to_dirty_io(self) -> Term<'a> {
        atom!("dirty_io").term(self.env)
    }

    /// Whether this is a scheduler that may be held up.
    #[inline]
    pub fn is_dirty(self) -> bool {
        self.turn.dirty
    }
}

/// What starting a process comes to.
pub type Init<S> = Result<S, NoStart>;

/// Why a process does not start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoStart {
    /// It is not needed, and that is no failure.
    Ignore,
    Because(String),
}

impl<T: fmt::Display> From<T> for NoStart {
    fn from(why: T) -> Self {
        Self::Because(why.to_string())
    }
}

impl NoStart {
    pub(crate) fn encode<'a>(&self, env: Env<'a>) -> Term<'a> {
        match self {
            Self::Ignore => atom!("ignore").term(env),
            Self::Because(why) => env.tuple(&[atom!("stop").raw(env), brief(why).encode(env).raw()]),
        }
    }
}

/// The start of a state: it is there, or is still being made.
#[expect(missing_debug_implementations, reason = "a state may be anything")]
pub enum Begin<S> {
    Now(Init<S>),
    Later(Boxed<Init<S>>),
}

/// A state of a process.
#[expect(missing_debug_implementations, reason = "a state may be anything")]
pub struct Host<S> {
    doing: Doing<S>,
}

enum Doing<S> {
    Starting(Running<Init<S>>),
    Idle(S),
    Busy(Running<(S, Next)>),
    /// Between two of the others, and when starting has failed.
    Gone,
}

impl<S: Send + 'static> Host<S> {
    pub(crate) fn new(state: S) -> Self {
        Self { doing: Doing::Idle(state) }
    }

    pub(crate) fn starting(at: At<'_, '_>, init: Boxed<Init<S>>) -> Self {
        Self { doing: Doing::Starting(Running::new(at.env, init)) }
    }

    /// The state, if no callback has it.
    #[inline]
    pub fn state(&mut self) -> Result<&mut S, Malformed> {
        match &mut self.doing {
            Doing::Idle(state) => Ok(state),
            _ => Err(Malformed::expected("nothing while a callback waits")),
        }
    }

    /// Runs an async callback up to where it must wait.
    pub fn run<'a, F>(&mut self, at: At<'a, '_>, callback: impl FnOnce(S) -> F) -> Result<Term<'a>, Malformed>
    where
        F: Future<Output = (S, Next)> + Send + 'static,
    {
        self.state()?;
        if let Doing::Idle(state) = std::mem::replace(&mut self.doing, Doing::Gone) {
            self.doing = Doing::Busy(Running::new(at.env, Box::pin(callback(state))));
        }
        self.poll(at).ok_or_else(|| Malformed::expected("a state"))
    }

    /// Hands out what came for the callback under way, and goes on with it.
    pub(crate) fn resume<'a>(&mut self, at: At<'a, '_>, events: Term<'a>) -> Option<Term<'a>> {
        match &mut self.doing {
            Doing::Starting(running) => running.arrived(events),
            Doing::Busy(running) => running.arrived(events),
            Doing::Idle(_) | Doing::Gone => {}
        }
        self.poll(at)
    }

    /// Whether to drop it takes no time.
    pub(crate) fn is_light(&self) -> bool {
        match self.doing {
            Doing::Idle(_) => !std::mem::needs_drop::<S>(),
            Doing::Gone => true,
            Doing::Starting(_) | Doing::Busy(_) => false,
        }
    }

    pub(crate) fn work(&mut self, number: u64) -> Option<()> {
        match &mut self.doing {
            Doing::Starting(running) => running.work(number),
            Doing::Busy(running) => running.work(number),
            Doing::Idle(_) | Doing::Gone => None,
        }
    }

    /// What the Erlang half waits for, or what the callback came to.
    pub(crate) fn poll<'a>(&mut self, at: At<'a, '_>) -> Option<Term<'a>> {
        let (doing, result) = match &mut self.doing {
            Doing::Starting(running) => match running.poll(at.env, at.turn) {
                Err(wait) => return Some(wait),
                Ok(Ok(state)) => (Doing::Idle(state), atom!("ok").term(at.env)),
                Ok(Err(why)) => (Doing::Gone, why.encode(at.env)),
            },
            Doing::Busy(running) => match running.poll(at.env, at.turn) {
                Err(wait) => return Some(wait),
                Ok((state, next)) => (Doing::Idle(state), ended(at, &next)),
            },
            Doing::Idle(_) | Doing::Gone => return None,
        };
        self.doing = doing;
        Some(result)
    }
}

/// `{answer, Reply, Next}` when the callback came to a reply, else what is next.
fn ended<'a>(at: At<'a, '_>, next: &Next) -> Term<'a> {
    let next = next.encode(at.env);
    match at.turn.answer.take() {
        Some(reply) => at.env.tuple(&[atom!("answer").raw(at.env), reply, next.raw()]),
        None => next,
    }
}

/// Notes the reply of an async callback, which ends now.
pub fn answer(reply: &impl Data) {
    turn(|env, turn| turn.answer.set(Some(reply.encode(env).raw())));
}
