//! gen_server: a process that has a state, answers calls and takes casts.

use std::fmt;
use std::marker::PhantomData;

use crate::atom;
use crate::data::{Data, Elements, Malformed};
use crate::process::{Process, Started};
use crate::vm::abi::RawPid;
use crate::vm::{Env, Term, current};

/// A gen_server. The attribute `#[gen_server]` writes this.
pub trait GenServer: Send + Sized + 'static {
    /// The name of its module in Erlang.
    const NAME: &'static str;
    type Argument: Elements + 'static;

    fn start(argument: Self::Argument) -> Init<Self>;

    /// The reply.
    ///
    /// # Errors
    /// When there is no such call.
    fn call<'a>(&mut self, env: Env<'a>, request: Term<'a>) -> Result<Term<'a>, Malformed>;

    /// # Errors
    /// When there is no such cast.
    fn cast(&mut self, request: Term<'_>) -> Result<(), Malformed>;

    /// Whether there is somebody for such a message.
    fn info(&mut self, message: Term<'_>) -> bool;
}

/// What starting a process comes to.
pub type Init<S> = Result<S, Stop>;

/// Why a process does not start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    /// It is not needed, and that is no failure.
    Ignore,
    Because(String),
}

impl<T: fmt::Display> From<T> for Stop {
    fn from(why: T) -> Self {
        Self::Because(why.to_string())
    }
}

/// A running gen_server of the kind `S`.
pub struct Server<S> {
    pid: RawPid,
    _kind: PhantomData<fn(S)>,
}

impl<S> Clone for Server<S> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<S> Copy for Server<S> {}

impl<S> fmt::Debug for Server<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Server").field(&self.pid.pid).finish()
    }
}

impl<S: GenServer> Server<S> {
    /// Sends a cast; what becomes of it is not told.
    #[doc(hidden)]
    #[inline]
    pub fn cast_with(&self, request: impl for<'a> FnOnce(Env<'a>) -> Term<'a>) {
        current(|env| {
            let message = env.tuple(&[atom!("$gen_cast").term(env).raw(), request(env).raw()]);
            env.send(self.pid, message);
        });
    }
}

impl<S: GenServer> Data for Server<S> {
    fn encode<'a>(&self, env: Env<'a>) -> Term<'a> {
        env.adopt(self.pid.pid)
    }

    fn decode(term: Term<'_>) -> Result<Self, Malformed> {
        let pid = term.local_pid().ok_or_else(|| Malformed::expected("a process of this node"))?;
        Ok(Self { pid, _kind: PhantomData })
    }

    fn erlang_type() -> String {
        "pid()".into()
    }
}

/// A gen_server in its slot.
struct Hosted<S>(S);

impl<S: GenServer> Process for Hosted<S> {
    #[inline]
    fn receive<'a>(&mut self, env: Env<'a>, message: Term<'a>) -> Term<'a> {
        let Some(tuple) = message.tuple() else { return self.others(env, message) };
        if let Some([tag, request]) = tuple.array() {
            if tag.is(atom!("$gen_cast")) {
                return match self.0.cast(request) {
                    Ok(()) => atom!("ok").term(env),
                    Err(wrong) => unknown(env, &wrong, None),
                };
            }
        } else if let Some([tag, from, request]) = tuple.array() {
            if tag.is(atom!("$gen_call")) {
                return self.answer(env, from, request);
            }
            if tag.is(atom!("system")) {
                return atom!("system").term(env);
            }
            if tag.is(atom!("EXIT")) {
                return atom!("exit").term(env);
            }
        }
        self.others(env, message)
    }
}

impl<S: GenServer> Hosted<S> {
    fn others<'a>(&mut self, env: Env<'a>, message: Term<'a>) -> Term<'a> {
        if self.0.info(message) {
            return atom!("ok").term(env);
        }
        unknown(env, &Malformed::expected("a message that it has an #[info] for"), None)
    }

    /// Whom to send the reply and what, as one cell: `[To | {Tag, Reply}]`.
    fn answer<'a>(&mut self, env: Env<'a>, from: Term<'a>, request: Term<'a>) -> Term<'a> {
        let client = from.tuple().and_then(|tuple| tuple.array()).filter(|[client, _]| client.is_pid());
        let Some([client, tag]) = client else {
            return unknown(env, &Malformed::expected("a process that asks"), None);
        };
        // Since OTP 24 a caller gives an alias of itself, which is gone once it waits no longer.
        let to = match tag.cell() {
            Some((alias, reference)) if alias.is(atom!("alias")) && reference.is_reference() => reference,
            _ => client,
        };
        let to_caller = |reply: Term<'a>| env.cell(to, env.tuple(&[tag.raw(), reply.raw()]));
        match self.0.call(env, request) {
            Ok(reply) => to_caller(reply),
            Err(wrong) => {
                let why = env.binary(wrong.to_string().as_bytes());
                let refusal = env.tuple(&[atom!("$refused").raw(env), why.raw()]);
                unknown(env, &wrong, Some(to_caller(refusal)))
            }
        }
    }
}

/// `{unknown, Why}`, or `{unknown, Why, [To | Message]}` where somebody waits for an answer.
#[cold]
fn unknown<'a>(env: Env<'a>, wrong: &Malformed, answer: Option<Term<'a>>) -> Term<'a> {
    let (tag, why) = (atom!("unknown").raw(env), env.binary(wrong.to_string().as_bytes()).raw());
    match answer {
        Some(answer) => env.tuple(&[tag, why, answer.raw()]),
        None => env.tuple(&[tag, why]),
    }
}

/// Starts a gen_server with the argument that its supervisor, or whoever, gave.
#[doc(hidden)]
pub fn start<'a, S: GenServer>(env: Env<'a>, argument: Term<'a>) -> Started<'a> {
    let why = match S::Argument::decode_all(argument) {
        Ok(argument) => match S::start(argument) {
            Ok(state) => return Started::Process(Box::new(Hosted(state))),
            Err(Stop::Ignore) => return Started::Else(atom!("ignore").term(env)),
            Err(Stop::Because(why)) => why,
        },
        Err(wrong) => format!("the argument of {} is wrong: {wrong}", S::NAME),
    };
    Started::Else(env.tuple(&[atom!("stop").term(env).raw(), env.binary(why.as_bytes()).raw()]))
}
