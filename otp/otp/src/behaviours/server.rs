//! gen_server: a process that has a state, answers calls and takes casts.

use std::marker::PhantomData;

use crate::address::{Pid, To, addressed};
use crate::atom;
use crate::call::Call;
use crate::data::{Data, Elements, Malformed};
use crate::host::{At, Begin, Host};
use crate::next::{Client, Next, Reply};
use crate::process::{Process, Started, slot};
use crate::reason::Reason;
use crate::start::Startable;
use crate::vm::{Env, Term, Turn};

/// A gen_server. The attribute `#[gen_server]` writes this.
pub trait GenServer: Startable + Send + Sized {
    fn start(argument: Self::Argument) -> Begin<Self>;

    /// What becomes of a call.
    ///
    /// # Errors
    /// When there is no such call.
    fn call<'a>(
        host: &mut Host<Self>,
        at: At<'a, '_>,
        from: From<'a>,
        request: Term<'a>,
    ) -> Result<Term<'a>, Malformed>;

    /// What becomes of a cast.
    ///
    /// # Errors
    /// When there is no such cast.
    fn cast<'a>(host: &mut Host<Self>, at: At<'a, '_>, request: Term<'a>) -> Result<Term<'a>, Malformed>;

    /// What becomes of any other message.
    ///
    /// # Errors
    /// When there is nobody for it.
    fn info<'a>(host: &mut Host<Self>, at: At<'a, '_>, message: Term<'a>) -> Result<Term<'a>, Malformed>;

    /// The work after the start.
    ///
    /// # Errors
    /// Not unless a callback is under way.
    fn started<'a>(host: &mut Host<Self>, at: At<'a, '_>) -> Result<Term<'a>, Malformed>;

    /// When no message came for as long as was said.
    ///
    /// # Errors
    /// When there is nobody for it.
    fn timeout<'a>(host: &mut Host<Self>, at: At<'a, '_>) -> Result<Term<'a>, Malformed>;

    /// The work before the end.
    ///
    /// # Errors
    /// Not unless a callback is under way.
    fn terminate<'a>(host: &mut Host<Self>, at: At<'a, '_>, reason: Reason) -> Result<Term<'a>, Malformed>;

    /// The state, for who looks at the process.
    fn show<'a>(&self, env: Env<'a>) -> Term<'a>;

    /// A state as it was shown, or as an older build had it: of the type itself, else of that which an `#[upgrade]` takes.
    ///
    /// # Errors
    /// When it is none.
    fn restore(state: Term<'_>) -> Result<Self, Malformed>;
}

/// Who made a call.
#[expect(missing_debug_implementations, reason = "it is a term")]
pub struct From<'a> {
    client: Client<'a>,
    term: Term<'a>,
}

impl<'a> From<'a> {
    /// `{reply, Tag, To, Reply}`, or with what is next: `{then, {reply, …}, Next}`.
    #[inline]
    pub fn reply<T: Data>(self, at: At<'a, '_>, reply: Reply<T>) -> Term<'a> {
        let answer = self.client.answer(at.env, reply.value.encode(at.env));
        match reply.next {
            Next::Wait => answer,
            next => at.env.tuple(&[atom!("then").raw(at.env), answer.raw(), next.encode(at.env).raw()]),
        }
    }

    /// For a reply that comes later.
    pub fn keep<R: Data>(self) -> crate::Caller<R> {
        crate::Caller::keep(self.term)
    }
}

/// A gen_server of the kind `S`, or the name of one. It may not be there: a cast is lost then, and a call is an error.
pub struct Server<S> {
    to: To,
    _kind: PhantomData<fn(S)>,
}

addressed!(Server);

impl<S> Server<S> {
    pub(crate) fn at(to: To) -> Self {
        Self { to, _kind: PhantomData }
    }

    /// Whoever bears this name on this node when it is used.
    pub fn named(name: &str) -> Self {
        Self::at(To::name(name))
    }

    /// Whoever bears this name on another node.
    pub fn named_on(name: &str, node: &str) -> Self {
        Self::at(To::name_on(name, node))
    }

    /// Whoever bears this name among all connected nodes.
    pub fn global(name: &str) -> Self {
        Self::at(To::global(name))
    }

    /// The process, taken for one of this kind: what it is not will be seen by the answer to a call.
    pub fn of(pid: Pid) -> Self {
        Self::at(pid.0)
    }

    /// The server whose callback runs this.
    pub fn own() -> Self {
        Self::of(Pid::own())
    }
}

impl<S> Server<S> {
    /// Sends a cast; what becomes of it is not told.
    #[doc(hidden)]
    #[inline]
    pub fn cast_with(&self, request: impl for<'a> FnOnce(Env<'a>) -> Term<'a>) {
        self.to.cast(request);
    }

    #[doc(hidden)]
    pub fn call_with<R: Data>(&self, request: impl for<'a> FnOnce(Env<'a>) -> Term<'a> + Send + 'static) -> Call<R> {
        Call::new(self.to.clone(), request)
    }
}

/// A gen_server in its slot.
struct Hosted<S> {
    host: Host<S>,
}

impl<S: GenServer> Hosted<S> {
    fn new(host: Host<S>) -> Self {
        Self { host }
    }
}

impl<S: GenServer> Process for Hosted<S> {
    #[inline]
    fn receive<'a>(&mut self, env: Env<'a>, turn: &Turn, message: Term<'a>) -> Option<Term<'a>> {
        let at = At { env, turn };
        turn.hands_over.set(true);
        let Some(tuple) = message.tuple() else { return Some(self.others(at, message)) };
        let result = if let Some([tag, request]) = tuple.array() {
            if !tag.is(atom!("$gen_cast")) {
                return Some(self.others(at, message));
            }
            S::cast(&mut self.host, at, request).unwrap_or_else(|wrong| unknown(env, &wrong, None))
        } else if let Some([tag, from, request]) = tuple.array() {
            if tag.is(atom!("$gen_call")) {
                self.answer(at, from, request)
            } else if tag.is(atom!("system")) {
                atom!("system").term(env)
            } else if tag.is(atom!("EXIT")) {
                atom!("exit").term(env)
            } else {
                self.others(at, message)
            }
        } else {
            self.others(at, message)
        };
        Some(result)
    }

    fn on<'a>(&mut self, env: Env<'a>, turn: &Turn, event: Term<'a>) -> Option<Term<'a>> {
        let at = At { env, turn };
        if event.is(atom!("started")) {
            return S::started(&mut self.host, at).ok();
        }
        if event.is(atom!("timeout")) {
            let result = S::timeout(&mut self.host, at);
            return Some(result.unwrap_or_else(|wrong| unknown(env, &wrong, None)));
        }
        if event.is(atom!("state")) {
            return self.host.state().ok().map(|state| state.show(env));
        }
        let [what, content] = event.tuple()?.array()?;
        if what.is(atom!("exit")) {
            return S::info(&mut self.host, at, content).ok().or_else(|| Some(atom!("unknown").term(env)));
        }
        if what.is(atom!("terminate")) {
            return S::terminate(&mut self.host, at, Reason::decode(content).ok()?).ok();
        }
        if what.is(atom!("replace")) {
            return Some(match S::restore(content) {
                Ok(state) => {
                    *self.host.state().ok()? = state;
                    atom!("ok").term(env)
                }
                Err(wrong) => env.tuple(&[atom!("error").raw(env), wrong.to_string().encode(env).raw()]),
            });
        }
        None
    }

    fn resume<'a>(&mut self, env: Env<'a>, turn: &Turn, events: Term<'a>) -> Option<Term<'a>> {
        self.host.resume(At { env, turn }, events)
    }

    fn work(&mut self, number: u64) -> Option<()> {
        self.host.work(number)
    }
}

impl<S: GenServer> Hosted<S> {
    fn others<'a>(&mut self, at: At<'a, '_>, message: Term<'a>) -> Term<'a> {
        let message = at.turn.own(at.env, message);
        if message.is(atom!("$otp_wake")) {
            // Somebody woke a callback that has ended since, or a ticker is over.
            return atom!("ok").term(at.env);
        }
        S::info(&mut self.host, at, message).unwrap_or_else(|wrong| unknown(at.env, &wrong, None))
    }

    #[inline]
    fn answer<'a>(&mut self, at: At<'a, '_>, from: Term<'a>, request: Term<'a>) -> Term<'a> {
        let Some(client) = Client::read(from) else {
            return unknown(at.env, &Malformed::expected("a process that asks"), None);
        };
        S::call(&mut self.host, at, From { client, term: from }, request).unwrap_or_else(|wrong| {
            let why = wrong.to_string().encode(at.env);
            let refusal = at.env.tuple(&[atom!("$refused").raw(at.env), why.raw()]);
            let answer = Client::read(from).map(|client| client.answer(at.env, refusal));
            unknown(at.env, &wrong, answer)
        })
    }
}

/// `{unknown, Why}`, or `{unknown, Why, {reply, …}}` where somebody waits for an answer.
#[cold]
fn unknown<'a>(env: Env<'a>, wrong: &Malformed, answer: Option<Term<'a>>) -> Term<'a> {
    let (tag, why) = (atom!("unknown").raw(env), wrong.to_string().encode(env).raw());
    match answer {
        Some(answer) => env.tuple(&[tag, why, answer.raw()]),
        None => env.tuple(&[tag, why]),
    }
}

/// Starts a gen_server with the argument that its supervisor, or whoever, gave.
#[doc(hidden)]
pub fn start<'a, S: GenServer>(env: Env<'a>, turn: &Turn, argument: Term<'a>) -> Started<'a> {
    let at = At { env, turn };
    let begin = match S::Argument::decode_all(argument) {
        Ok(argument) => S::start(argument),
        Err(wrong) => Begin::Now(Err(format!("the argument of {} is wrong: {wrong}", S::module().name()).into())),
    };
    match begin {
        Begin::Now(Ok(state)) => Started::Process(slot(env, Hosted::new(Host::new(state))), atom!("ok").term(env)),
        Begin::Now(Err(why)) => Started::Else(why.encode(env)),
        Begin::Later(init) => {
            let mut hosted = Hosted::<S>::new(Host::starting(at, init));
            match hosted.host.poll(at) {
                Some(result) => Started::Process(slot(env, hosted), result),
                None => Started::Else(atom!("ignore").term(env)),
            }
        }
    }
}

/// A running gen_server from a state as an older build had it.
#[doc(hidden)]
pub fn restore<S: GenServer>(state: Term<'_>) -> Result<Term<'_>, Malformed> {
    Ok(slot(state.env(), Hosted::new(Host::new(S::restore(state)?))))
}
