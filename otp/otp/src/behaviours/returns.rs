//! Return values of callbacks: what the process does next ([`Next`]), a reply ([`Reply`]), and a reply that is sent later
//! ([`Caller`]).

use std::marker::PhantomData;
use std::time::Duration;

use crate::atom;
use crate::data::{Any, Carry, Data, Malformed};
use crate::nif::{Env, Term};
use crate::process::reason::{Reason, milliseconds};
use crate::process::send::post;

/// What a process does after a callback.
#[derive(Clone, Debug, Default, PartialEq)]
#[must_use = "this is what a callback returns"]
pub enum Next {
    /// It takes the next message when there is one.
    #[default]
    Wait,
    /// The same, and if none comes within this time, its `#[timeout]` is called.
    WaitAtMost(Duration),
    /// It takes the next message, and until then lies in as little memory as can be.
    Hibernate,
    /// It ends, after its `#[terminate]`.
    Stop(Reason),
}

impl Next {
    /// Ends the process as one that has done its work.
    pub fn stop() -> Self {
        Self::Stop(Reason::Normal)
    }

    /// `ok`, `hibernate`, `{timeout, Milliseconds}`, `{stop, Reason}`.
    #[inline(always)]
    pub(crate) fn encode<'a>(&self, env: Env<'a>) -> Term<'a> {
        match self {
            Self::Wait => atom!("ok").term(env),
            other => other.unusual(env),
        }
    }

    #[cold]
    fn unusual<'a>(&self, env: Env<'a>) -> Term<'a> {
        match self {
            Self::Wait => atom!("ok").term(env),
            Self::Hibernate => atom!("hibernate").term(env),
            Self::WaitAtMost(time) => env.tuple(&[atom!("timeout").raw(env), milliseconds(*time).encode(env).raw()]),
            Self::Stop(reason) => env.tuple(&[atom!("stop").raw(env), reason.encode(env).raw()]),
        }
    }
}

impl From<()> for Next {
    #[inline(always)]
    fn from((): ()) -> Self {
        Self::Wait
    }
}

/// A reply, with what the process does next. A callback that does nothing special next returns the value alone.
#[derive(Clone, Debug)]
#[must_use = "this is what a #[call] returns"]
pub struct Reply<T> {
    pub value: T,
    pub next: Next,
}

impl<T> Reply<T> {
    pub fn new(value: T, next: Next) -> Self {
        Self { value, next }
    }

    /// The reply, and then the end of the process.
    pub fn and_stop(value: T, reason: impl Into<Reason>) -> Self {
        Self { value, next: Next::Stop(reason.into()) }
    }
}

/// What a `#[call]` may return: the reply, or a [`Reply`] that says what the process does next.
#[diagnostic::on_unimplemented(
    message = "a #[call] cannot return `{Self}`, because it has no form in Erlang",
    label = "this is neither `Data` nor a `Reply` of such",
    note = "`#[derive(otp::Data)]` gives a type of yours a form"
)]
pub trait IntoReply {
    type Value: Data;
    fn into_reply(self) -> Reply<Self::Value>;
}

impl<T: Data> IntoReply for T {
    type Value = T;

    #[inline]
    fn into_reply(self) -> Reply<T> {
        Reply { value: self, next: Next::Wait }
    }
}

impl<T: Data> IntoReply for Reply<T> {
    type Value = T;

    #[inline]
    fn into_reply(self) -> Self {
        self
    }
}

/// Who made a call that is answered later: a `#[call]` that takes one returns nothing, and [`Caller::reply`] may be used in any
/// callback after. Who is never answered waits until its time is over.
#[derive(Clone, Debug)]
#[must_use = "whoever called waits for the reply"]
pub struct Caller<R> {
    from: Any,
    _reply: PhantomData<fn(R)>,
}

impl<R: Data> Caller<R> {
    pub(crate) fn keep(from: Term<'_>) -> Self {
        Self { from: Any::keep(from), _reply: PhantomData }
    }

    /// Who made it, as OTP has it.
    pub(crate) fn from(&self) -> Any {
        self.from.clone()
    }

    /// Answers the call, in any callback of any process, or on any thread.
    pub fn reply(self, reply: R) {
        post(|env| {
            let from = self.from.encode(env);
            // Who made the call was read before it was kept.
            let Some(client) = Client::read(from) else { return [atom!("undefined").term(env); 2] };
            let message = client.message(env, reply.encode(env));
            [client.to, message]
        });
    }
}

/// As OTP has it, `{Pid, Tag}`: a state that holds callers may go over to another build, and they are answered there.
impl<R: Data> Data for Caller<R> {
    fn encode<'a>(&self, env: Env<'a>) -> Term<'a> {
        self.from.encode(env)
    }

    fn decode(term: Term<'_>) -> Result<Self, Malformed> {
        Client::read(term)
            .map(|_| Self::keep(term))
            .ok_or_else(|| Malformed::expected("who made a call, as {Pid, Tag}"))
    }

    fn erlang_type() -> String {
        "{pid(), term()}".into()
    }
}

impl<R: Data> Carry for Caller<R> {
    fn carry<'a>(&self, env: Env<'a>) -> Term<'a> {
        self.encode(env)
    }

    fn carried(term: Term<'_>) -> Result<Self, Malformed> {
        Self::decode(term)
    }
}

/// The reference of `[alias | Reference]`.
#[inline]
fn alias<'a>(first: Term<'a>, second: Term<'a>) -> Option<Term<'a>> {
    (first.is(atom!("alias")) && second.is_reference()).then_some(second)
}

/// `{Pid, Tag}`: who made a call.
pub(crate) struct Client<'a> {
    pub(crate) to: Term<'a>,
    tag: Term<'a>,
}

impl<'a> Client<'a> {
    #[inline]
    pub(crate) fn read(from: Term<'a>) -> Option<Self> {
        let [client, tag] = from.tuple()?.array()?;
        if !client.is_pid() {
            return None;
        }
        // Since OTP 24 a caller gives an alias of itself, which is gone once it waits no longer; the tag of a call among many
        // is `[[alias | Reference] | Anything]`.
        let to = match tag.cell() {
            Some((first, second)) => alias(first, second)
                .or_else(|| first.cell().and_then(|(first, second)| alias(first, second)))
                .unwrap_or(client),
            None => client,
        };
        Some(Self { to, tag })
    }

    pub(crate) fn message(&self, env: Env<'a>, reply: Term<'a>) -> Term<'a> {
        env.tuple(&[self.tag.raw(), reply.raw()])
    }

    /// What the Erlang half is to send: `{reply, Tag, To, Reply}`.
    #[inline]
    pub(crate) fn answer(&self, env: Env<'a>, reply: Term<'a>) -> Term<'a> {
        env.tuple(&[atom!("reply").raw(env), self.tag.raw(), self.to.raw(), reply.raw()])
    }
}
