//! Return values of a gen_statem's callbacks. What gen_statem does not accept cannot be written: an enter call that goes to
//! another state, an answer to an event that nobody asked, a call that is neither answered nor put off nor given a caller.

use std::fmt;

use super::actions::{Action, Timer, actions};
use super::{Machine, When};
use crate::atom;
use crate::behaviours::returns::Caller;
use crate::data::{Any, Data};
use crate::nif::abi::RawTerm;
use crate::nif::{Env, Term};
use crate::process::reason::Reason;

/// What a machine does after an event: where it goes, and what it does beside.
///
/// `Step<Self>` is that of an event that nobody waits for; `Step<Self, R>` that of a `#[call]`, which is answered with an `R`,
/// or put off, or ends the machine.
#[must_use = "this is what a callback returns"]
pub struct Step<M: Machine, R = NoReply> {
    to: To<M::State>,
    answer: Answer<R>,
    actions: Vec<Action<M>>,
}

/// The reply of who was not asked: there is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoReply {}

enum To<S> {
    Here,
    Again,
    State(S),
    Stop(Reason),
}

/// What becomes of the event itself.
enum Answer<R> {
    None,
    Reply(R),
    Postpone,
}

impl<M: Machine, R> Step<M, R> {
    fn new(to: To<M::State>) -> Self {
        Self { to, answer: Answer::None, actions: Vec::new() }
    }

    /// The machine ends, with this reason, after its `#[terminate]`. Of what is done beside, only replies are.
    pub fn stop(reason: impl Into<Reason>) -> Self {
        Self::new(To::Stop(reason.into()))
    }

    /// The event comes again when the state has changed, before those that came after it.
    pub fn postpone<Any>(self) -> Step<M, Any> {
        Step { to: self.to, answer: Answer::Postpone, actions: self.actions }
    }

    /// Sends the machine this `#[event]`, before anything that came from elsewhere.
    pub fn next_event(mut self, event: M::Event) -> Self {
        self.actions.push(Action::Event(event));
        self
    }

    actions!(M);

    /// The state that this goes to, if it names one.
    pub fn state(&self) -> Option<&M::State> {
        match &self.to {
            To::State(state) => Some(state),
            _ => None,
        }
    }
}

impl<M: Machine> Step<M> {
    /// It stays in its state.
    pub fn keep() -> Self {
        Self::new(To::Here)
    }

    /// It goes to this state. When that is another one, what was postponed comes again, the timeout of the old state is
    /// over, and `#[enter]` is called.
    pub fn to(state: M::State) -> Self {
        Self::new(To::State(state))
    }

    /// It leaves its state and comes back: as [`Step::to`] for another one.
    pub fn repeat() -> Self {
        Self::new(To::Again)
    }

    /// Answers the call.
    pub fn reply<R>(self, reply: R) -> Step<M, R> {
        Step { to: self.to, answer: Answer::Reply(reply), actions: self.actions }
    }

    /// What gen_statem is told, in otp_statem's words.
    pub(super) fn encode<'a>(self, env: Env<'a>) -> Term<'a> {
        let postpone = matches!(self.answer, Answer::Postpone).then(|| atom!("postpone").raw(env));
        told(env, &self.to, &self.actions, postpone)
    }
}

impl<M: Machine, R: Data> Step<M, R> {
    /// The same, with the answer to `from`.
    pub(super) fn encode_answer<'a>(self, env: Env<'a>, from: Term<'a>) -> Term<'a> {
        let answer = match &self.answer {
            Answer::None => None,
            Answer::Postpone => Some(atom!("postpone").raw(env)),
            Answer::Reply(reply) => {
                let reply = [atom!("reply").raw(env), from.raw(), reply.encode(env).raw()];
                Some(env.tuple(&reply).raw())
            }
        };
        told(env, &self.to, &self.actions, answer)
    }
}

/// `Result` or `{Result, …, Actions}`. The new data is added by the Erlang half.
fn told<'a, M: Machine>(env: Env<'a>, to: &To<M::State>, actions: &[Action<M>], answer: Option<RawTerm>) -> Term<'a> {
    if let To::Stop(reason) = to {
        // A call that is put off by a machine that ends is answered by its end.
        let answer = answer.filter(|answer| env.adopt(*answer).tuple().is_some());
        return stop(env, reason, actions, answer);
    }
    let actions: Vec<_> = answer.into_iter().chain(actions.iter().map(|action| action.encode(env).raw())).collect();
    let (alone, with) = match to {
        To::State(state) => {
            let next = [atom!("next_state").raw(env), state.encode(env).raw()];
            return env.tuple(&[next[0], next[1], env.list(&actions).raw()]);
        }
        To::Again => (atom!("repeat_state_and_data"), &actions),
        _ => (atom!("keep_state_and_data"), &actions),
    };
    if with.is_empty() { alone.term(env) } else { env.tuple(&[alone.raw(env), env.list(with).raw()]) }
}

/// `{stop, Reason}` or `{stop_and_reply, Reason, Replies}`.
fn stop<'a, M: Machine>(env: Env<'a>, reason: &Reason, actions: &[Action<M>], answer: Option<RawTerm>) -> Term<'a> {
    let replies = actions.iter().filter(|action| action.is_reply()).map(|action| action.encode(env).raw());
    let replies: Vec<_> = answer.into_iter().chain(replies).collect();
    let reason = reason.encode(env).raw();
    if replies.is_empty() {
        return env.tuple(&[atom!("stop").raw(env), reason]);
    }
    env.tuple(&[atom!("stop_and_reply").raw(env), reason, env.list(&replies).raw()])
}

/// What a machine does when it has entered a state. It cannot go to another one from here, nor put anything off.
#[must_use = "this is what an #[enter] returns"]
pub struct Entered<M: Machine> {
    stop: Option<Reason>,
    actions: Vec<Action<M>>,
}

impl<M: Machine> Entered<M> {
    /// It stays, as it must.
    pub fn keep() -> Self {
        Self { stop: None, actions: Vec::new() }
    }

    /// The machine ends, with this reason, after its `#[terminate]`.
    pub fn stop(reason: impl Into<Reason>) -> Self {
        Self { stop: Some(reason.into()), actions: Vec::new() }
    }

    actions!(M);

    pub(super) fn encode<'a>(self, env: Env<'a>) -> Term<'a> {
        told(env, &self.stop.map_or(To::Here, To::Stop), &self.actions, None)
    }
}

/// What a machine begins with: its state, its data, and what it does first.
#[must_use = "this is what init returns"]
pub struct First<M: Machine> {
    pub(super) state: M::State,
    pub(super) data: M,
    actions: Vec<Action<M>>,
}

impl<M: Machine> First<M> {
    pub fn new(state: M::State, data: M) -> Self {
        Self { state, data, actions: Vec::new() }
    }

    /// Sends the machine this `#[event]`, before anything that came from elsewhere.
    pub fn next_event(mut self, event: M::Event) -> Self {
        self.actions.push(Action::Event(event));
        self
    }

    actions!(M);

    /// `{first, State, Actions}`, and the data.
    pub(super) fn open<'a>(self, env: Env<'a>) -> (Term<'a>, M) {
        let actions: Vec<_> = self.actions.iter().map(|action| action.encode(env).raw()).collect();
        let first = [atom!("first").raw(env), self.state.encode(env).raw(), env.list(&actions).raw()];
        (env.tuple(&first), self.data)
    }
}

impl<M: Machine> From<(M::State, M)> for First<M> {
    fn from((state, data): (M::State, M)) -> Self {
        Self::new(state, data)
    }
}

/// What a callback may return that nobody waits for: nothing, or a [`Step`].
#[diagnostic::on_unimplemented(
    message = "nobody waits for what this callback returns: it returns nothing, or `Step<Self>`",
    label = "`{Self}` is neither"
)]
pub trait IntoStep<M: Machine> {
    fn into_step(self) -> Step<M>;
}

impl<M: Machine> IntoStep<M> for () {
    fn into_step(self) -> Step<M> {
        Step::keep()
    }
}

impl<M: Machine> IntoStep<M> for Step<M> {
    fn into_step(self) -> Step<M> {
        self
    }
}

/// What a `#[call]` may return: the reply, or a [`Step`] with one.
#[diagnostic::on_unimplemented(
    message = "a #[call] cannot return `{Self}`, because it has no form in Erlang",
    label = "this is neither `Data` nor a `Step<Self, Reply>`",
    note = "`#[derive(otp::Data)]` gives a type of yours a form"
)]
pub trait IntoAnswer<M: Machine> {
    type Value: Data;
    fn into_answer(self) -> Step<M, Self::Value>;
}

impl<M: Machine, T: Data> IntoAnswer<M> for T {
    type Value = T;

    fn into_answer(self) -> Step<M, T> {
        Step::keep().reply(self)
    }
}

impl<M: Machine, R: Data> IntoAnswer<M> for Step<M, R> {
    type Value = R;

    fn into_answer(self) -> Self {
        self
    }
}

/// What an `#[enter]` may return: nothing, or an [`Entered`].
#[diagnostic::on_unimplemented(
    message = "an #[enter] returns nothing, or `Entered<Self>`: it cannot go to another state",
    label = "`{Self}` is neither"
)]
pub trait IntoEntered<M: Machine> {
    fn into_entered(self) -> Entered<M>;
}

impl<M: Machine> IntoEntered<M> for () {
    fn into_entered(self) -> Entered<M> {
        Entered::keep()
    }
}

impl<M: Machine> IntoEntered<M> for Entered<M> {
    fn into_entered(self) -> Entered<M> {
        self
    }
}

impl<M: Machine, R> fmt::Debug for Step<M, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Step").field("actions", &self.actions.len()).finish_non_exhaustive()
    }
}

impl<M: Machine> fmt::Debug for Entered<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Entered").field("actions", &self.actions.len()).finish_non_exhaustive()
    }
}

impl<M: Machine> fmt::Debug for First<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("First").field("actions", &self.actions.len()).finish_non_exhaustive()
    }
}
