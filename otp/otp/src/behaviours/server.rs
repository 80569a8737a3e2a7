//! gen_server: a process that has a state, answers calls and takes casts.

pub use crate::behaviours::handle::Server;

use crate::atom;
use crate::behaviours::carried_state::{given, taken};
use crate::behaviours::host::{At, Begin, Host};
use crate::behaviours::returns::{Caller, Client, Next, Reply};
use crate::behaviours::start::Startable;
use crate::data::{Data, Elements, Malformed};
use crate::nif::{Env, Term};
use crate::process::reason::Reason;
use crate::process::slot::slot;
use crate::process::turn::Turn;
use crate::process::{NotRestored, Process, Started};
use crate::waiting::unpack::unpack;

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

    /// The state's form on the way to another build; `None` when it has none.
    fn carry<'a>(&self, env: Env<'a>) -> Option<Term<'a>>;

    /// Whether its type has such a form.
    fn goes_over() -> bool;

    /// A state as it was shown, or as an older build gave it: of the type itself, else of that which an `#[upgrade]` takes.
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
    pub fn keep<R: Data>(self) -> Caller<R> {
        Caller::keep(self.term)
    }
}

/// A gen_server in its slot.
struct ServerProcess<S> {
    host: Host<S>,
}

impl<S: GenServer> ServerProcess<S> {
    fn new(host: Host<S>) -> Self {
        Self { host }
    }
}

impl<S: GenServer> Process for ServerProcess<S> {
    #[inline]
    fn receive<'a>(&mut self, env: Env<'a>, turn: &Turn, message: Term<'a>) -> Option<Term<'a>> {
        let at = At { env, turn };
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
        if event.is(atom!("carry")) {
            return self.host.state().ok().map(|state| given(env, state.carry(env), || state.show(env)));
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

    fn is_light(&self) -> bool {
        self.host.is_light()
    }

    fn work(&mut self, number: u64) -> Option<()> {
        self.host.work(number)
    }
}

impl<S: GenServer> ServerProcess<S> {
    fn others<'a>(&mut self, at: At<'a, '_>, message: Term<'a>) -> Term<'a> {
        let message = unpack(at.turn, at.env, message);
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
        Begin::Now(Ok(state)) => {
            Started::Process(slot(env, ServerProcess::new(Host::new(state))), atom!("ok").term(env))
        }
        Begin::Now(Err(why)) => Started::Else(why.encode(env)),
        Begin::Later(init) => {
            let mut hosted = ServerProcess::<S>::new(Host::starting(at, init));
            match hosted.host.poll(at) {
                Some(result) => Started::Process(slot(env, hosted), result),
                None => Started::Else(atom!("ignore").term(env)),
            }
        }
    }
}

/// A running gen_server from a state as an older build had it.
#[doc(hidden)]
pub fn restore<S: GenServer>(state: Term<'_>) -> Result<Term<'_>, NotRestored> {
    let own = taken(state, S::goes_over(), S::restore)?;
    Ok(slot(state.env(), ServerProcess::new(Host::new(own))))
}
