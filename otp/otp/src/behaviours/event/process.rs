//! The event handler's side of gen_event: each message of the manager becomes a callback, and what the callback returns becomes
//! a message. The atoms are those that `otp_event.erl` knows.

use super::returns::Handled;
use super::{EventHandler, GenEvent, Leaving, Left};
use crate::atom;
use crate::behaviours::carried_state::{given, taken};
use crate::behaviours::host::{At, Begin, Host};
use crate::data::{Data, Elements, Malformed};
use crate::nif::{Env, Term};
use crate::process::slot::slot;
use crate::process::turn::{Turn, turn};
use crate::process::{NotRestored, Process, Started};
use crate::waiting::unpack::unpack;

/// The state of a handler.
struct HandlerProcess<H> {
    host: Host<H>,
    /// Whether no callback has panicked: one that has left the state as nobody knows.
    whole: bool,
}

impl<H: GenEvent> Process for HandlerProcess<H> {
    /// `{event, Event}`, `{call, Request}` or `{info, Message}`.
    fn receive<'a>(&mut self, env: Env<'a>, turn: &Turn, message: Term<'a>) -> Option<Term<'a>> {
        let at = At { env, turn };
        let [kind, content] = message.tuple()?.array()?;
        self.whole = false;
        let result = if kind.is(atom!("event")) {
            H::event(&mut self.host, at, content)
        } else if kind.is(atom!("call")) {
            H::call(&mut self.host, at, content)
        } else if content.is(atom!("$otp_wake")) {
            Ok(atom!("keep").term(env))
        } else {
            H::info(&mut self.host, at, unpack(turn, env, content))
        };
        self.whole = true;
        Some(
            result.unwrap_or_else(|wrong| env.tuple(&[atom!("unknown").raw(env), wrong.to_string().encode(env).raw()])),
        )
    }

    /// `state`: the state, to be shown. `carry`: its form on the way to another build. `{terminate, Why}`.
    fn on<'a>(&mut self, env: Env<'a>, turn: &Turn, event: Term<'a>) -> Option<Term<'a>> {
        if event.is(atom!("state")) {
            return self.host.state().ok().map(|state| state.show(env));
        }
        if event.is(atom!("carry")) {
            return self.host.state().ok().map(|state| given(env, state.carry(env), || state.show(env)));
        }
        let [what, why] = event.tuple()?.array()?;
        if !what.is(atom!("terminate")) {
            return None;
        }
        if !self.whole || self.host.state().is_err() {
            // Who was left half done is not asked to end in order.
            return Some(farewell(env, atom!("error").term(env)));
        }
        H::terminate(&mut self.host, At { env, turn }, Leaving::read(why)).ok()
    }

    fn resume<'a>(&mut self, env: Env<'a>, turn: &Turn, events: Term<'a>) -> Option<Term<'a>> {
        self.whole = false;
        let result = self.host.resume(At { env, turn }, events);
        self.whole = true;
        result
    }

    fn is_light(&self) -> bool {
        self.host.is_light()
    }

    fn work(&mut self, number: u64) -> Option<()> {
        self.host.work(number)
    }
}

/// `{answer, Farewell, ok}`: as of a callback that waited, so that no farewell is taken for something else.
fn farewell<'a>(env: Env<'a>, farewell: Term<'a>) -> Term<'a> {
    env.tuple(&[atom!("answer").raw(env), farewell.raw(), atom!("ok").raw(env)])
}

impl<H: EventHandler> Handled<H> {
    /// What gen_event is told.
    #[doc(hidden)]
    pub fn tell<'a>(self, at: At<'a, '_>) -> Term<'a> {
        self.encode_what(at.env)
    }
}

impl<H: EventHandler, R: Data> Handled<H, R> {
    /// What gen_event is told, with the reply.
    #[doc(hidden)]
    pub fn tell_reply<'a>(self, at: At<'a, '_>) -> Term<'a> {
        self.encode_reply(at.env)
    }
}

impl<'a> At<'a, '_> {
    /// What a handler leaves.
    #[doc(hidden)]
    pub fn farewell(self, left: &impl Data) -> Term<'a> {
        farewell(self.env, left.encode(self.env))
    }
}

/// Notes what an async callback came to, which ends now.
pub fn finish<H: EventHandler>(handled: Handled<H>) {
    turn(|env, turn| turn.answer.set(Some(handled.encode_what(env).raw())));
}

/// The same of a call.
pub fn finish_reply<H: EventHandler, R: Data>(handled: Handled<H, R>) {
    turn(|env, turn| turn.answer.set(Some(handled.encode_reply(env).raw())));
}

/// The same of a `#[terminate]`.
pub fn finish_farewell(left: &impl Data) {
    turn(|env, turn| turn.answer.set(Some(left.encode(env).raw())));
}

/// What a `#[take_over]` takes.
///
/// # Errors
/// When something is of another form.
pub fn decode_take_over<O: Left, A: Elements>(old: Term<'_>, argument: Term<'_>) -> Result<(O, A), Malformed> {
    Ok((O::read(old).map_err(|wrong| wrong.within("what the other handler left"))?, A::decode_all(argument)?))
}

/// Starts a handler: `{'$start', Arguments}`, or `{{'$swap', Arguments}, Left}` where it takes the place of another.
pub fn start<'a, H: GenEvent>(env: Env<'a>, turn: &Turn, argument: Term<'a>) -> Started<'a> {
    let at = At { env, turn };
    let pair = |term: Term<'a>| term.tuple().and_then(|tuple| tuple.array());
    let begin = match pair(argument) {
        Some([tag, arguments]) if tag.is(atom!("$start")) => H::Argument::decode_all(arguments).map(H::start),
        Some([how, left]) => match pair(how) {
            Some([tag, arguments]) if tag.is(atom!("$swap")) => H::take_over(left, arguments),
            _ => Err(Malformed::expected("what add_handler or swap gives")),
        },
        _ => Err(Malformed::expected("what add_handler or swap gives")),
    };
    let begin = begin.unwrap_or_else(|wrong| {
        Begin::Now(Err(format!("the argument of {} is wrong: {wrong}", H::module().name()).into()))
    });
    let (host, result) = match begin {
        Begin::Now(Ok(state)) => (Host::new(state), Some(atom!("ok").term(env))),
        Begin::Now(Err(why)) => return Started::Else(why.encode(env)),
        Begin::Later(init) => {
            let mut host = Host::starting(at, init);
            let result = host.poll(at);
            (host, result)
        }
    };
    match result {
        Some(result) => Started::Process(slot(env, HandlerProcess { host, whole: true }), result),
        None => Started::Else(atom!("ignore").term(env)),
    }
}

/// A handler from its state as an older build had it.
///
/// # Errors
/// When it is none.
pub fn restore<H: GenEvent>(state: Term<'_>) -> Result<Term<'_>, NotRestored> {
    let own = taken(state, H::goes_over(), H::restore)?;
    Ok(slot(state.env(), HandlerProcess { host: Host::new(own), whole: true }))
}
