//! The machine's side of gen_statem: each event becomes a callback, and what the callback returns becomes what gen_statem expects.

use super::{Entered, First, From, GenStatem, Machine, Step};
use crate::atom;
use crate::behaviours::carried_state::{given, taken};
use crate::behaviours::host::{At, Begin, Host, Init};
use crate::behaviours::returns::Caller;
use crate::data::{Data, Elements, Malformed};
use crate::nif::{Env, Term};
use crate::process::reason::Reason;
use crate::process::slot::slot;
use crate::process::turn::{Turn, turn};
use crate::process::{NotRestored, Process, Started};
use crate::waiting::unpack::unpack;

/// The data of a machine.
struct MachineProcess<M: Machine> {
    host: Host<M>,
    /// Whether no callback has panicked: one that has left the data as nobody knows.
    whole: bool,
    /// The state that it goes on in, of one that was restored.
    state: Option<M::State>,
}

impl<M: GenStatem> Process for MachineProcess<M> {
    /// An event: `{Type, Content, State}`, in gen_statem's words.
    fn receive<'a>(&mut self, env: Env<'a>, turn: &Turn, event: Term<'a>) -> Option<Term<'a>> {
        let [kind, content, state] = event.tuple()?.array()?;
        self.whole = false;
        let result = self.take(At { env, turn }, kind, content, state);
        self.whole = true;
        Some(
            result.unwrap_or_else(|wrong| env.tuple(&[atom!("unknown").raw(env), wrong.to_string().encode(env).raw()])),
        )
    }

    /// `state`: the data, to be shown. `carry`: its form on the way to another build. `restored`: the state of one that was restored. `{terminate, Reason, State}`.
    fn on<'a>(&mut self, env: Env<'a>, turn: &Turn, event: Term<'a>) -> Option<Term<'a>> {
        if event.is(atom!("state")) {
            return self.host.state().ok().map(|data| data.show(env));
        }
        if event.is(atom!("carry")) {
            return self.host.state().ok().map(|data| given(env, data.carry(env), || data.show(env)));
        }
        if event.is(atom!("restored")) {
            return self.state.take().map(|state| state.encode(env));
        }
        let [what, reason, state] = event.tuple()?.array()?;
        if !what.is(atom!("terminate")) {
            return None;
        }
        // Who was left half done is not asked to end in order.
        let state = M::State::decode(state).ok().filter(|_| self.whole && self.host.state().is_ok());
        let Some(state) = state else { return Some(atom!("ok").term(env)) };
        M::terminate(&mut self.host, At { env, turn }, state, Reason::decode(reason).ok()?).ok()
    }

    fn resume<'a>(&mut self, env: Env<'a>, turn: &Turn, events: Term<'a>) -> Option<Term<'a>> {
        self.whole = false;
        let result = self.host.resume(At { env, turn }, events);
        self.whole = true;
        // What a machine begins with; what an event came to is in the result.
        turn.answer.take().map(|first| env.adopt(first)).or(result)
    }

    fn is_light(&self) -> bool {
        self.state.is_none() && self.host.is_light()
    }

    fn work(&mut self, number: u64) -> Option<()> {
        self.host.work(number)
    }
}

impl<M: GenStatem> MachineProcess<M> {
    fn new(host: Host<M>, state: Option<M::State>) -> Self {
        Self { host, whole: true, state }
    }

    fn take<'a>(
        &mut self,
        at: At<'a, '_>,
        kind: Term<'a>,
        content: Term<'a>,
        state: Term<'a>,
    ) -> Result<Term<'a>, Malformed> {
        let (env, host) = (at.env, &mut self.host);
        let decode = |state| M::State::decode(state).map_err(|wrong| wrong.within("the state"));
        let state = decode(state)?;
        if kind.is(atom!("cast")) {
            return M::cast(host, at, state, content);
        }
        if kind.is(atom!("info")) {
            if content.is(atom!("$otp_wake")) {
                // Somebody woke a callback that has ended since.
                return Ok(atom!("keep_state_and_data").term(env));
            }
            return M::info(host, at, state, unpack(at.turn, env, content));
        }
        if kind.is(atom!("internal")) {
            return M::event(host, at, state, content);
        }
        if kind.is(atom!("enter")) {
            return M::enter(host, at, decode(content)?, state);
        }
        if kind.is(atom!("state_timeout")) || kind.is(atom!("timeout")) {
            return M::timeout(host, at, state, content);
        }
        match kind.tuple().and_then(|kind| kind.array()) {
            Some([kind, from]) if kind.is(atom!("call")) => M::call(host, at, state, From::new(from), content),
            Some(_) => M::timeout(host, at, state, content),
            None => Err(Malformed::expected("a kind of event")),
        }
    }
}

/// The start of a machine whose `init` is not async.
pub fn begun<M: Machine, F: Into<First<M>>>(init: Init<F>) -> Begin<M> {
    Begin::Now(init.map(open))
}

/// The start of one that is.
pub fn begun_later<M: Machine, F: Into<First<M>>>(init: impl Future<Output = Init<F>> + Send + 'static) -> Begin<M> {
    Begin::Later(Box::pin(async move { init.await.map(open) }))
}

/// Notes what gen_statem is told, and gives the data.
fn open<M: Machine>(first: impl Into<First<M>>) -> M {
    turn(|env, turn| {
        let (first, data) = first.into().open(env);
        turn.answer.set(Some(first.raw()));
        data
    })
}

/// Notes what an async callback came to, which ends now.
pub fn finish<M: Machine>(step: Step<M>) {
    turn(|env, turn| turn.answer.set(Some(step.encode(env).raw())));
}

/// The same with the answer to a call.
pub fn finish_call<M: Machine, R: Data>(step: Step<M, R>, caller: &Caller<R>) {
    turn(|env, turn| {
        let from = caller.from().encode(env);
        turn.answer.set(Some(step.encode_answer(env, from).raw()));
    });
}

/// The same of an `#[enter]`.
pub fn finish_entered<M: Machine>(entered: Entered<M>) {
    turn(|env, turn| turn.answer.set(Some(entered.encode(env).raw())));
}

impl<M: Machine> Step<M> {
    /// What gen_statem is told.
    #[doc(hidden)]
    pub fn tell<'a>(self, at: At<'a, '_>) -> Term<'a> {
        self.encode(at.env)
    }
}

impl<M: Machine> Entered<M> {
    /// What gen_statem is told.
    #[doc(hidden)]
    pub fn tell<'a>(self, at: At<'a, '_>) -> Term<'a> {
        self.encode(at.env)
    }
}

/// Starts a machine with the argument that its supervisor, or whoever, gave.
pub fn start<'a, M: GenStatem>(env: Env<'a>, turn: &Turn, argument: Term<'a>) -> Started<'a> {
    let at = At { env, turn };
    let begin = match M::Argument::decode_all(argument) {
        Ok(argument) => M::start(argument),
        Err(wrong) => Begin::Now(Err(format!("the argument of {} is wrong: {wrong}", M::module().name()).into())),
    };
    let (host, result) = match begin {
        Begin::Now(Ok(data)) => (Host::new(data), Some(atom!("ok").term(env))),
        Begin::Now(Err(why)) => return Started::Else(why.encode(env)),
        Begin::Later(init) => {
            let mut host = Host::starting(at, init);
            let result = host.poll(at);
            (host, result)
        }
    };
    let first = turn.answer.take().map(|first| env.adopt(first));
    match first.or(result) {
        Some(result) => Started::Process(slot(env, MachineProcess::new(host, None)), result),
        None => Started::Else(atom!("ignore").term(env)),
    }
}

/// A machine from its state and data as an older build had them: `{State, Data}`.
///
/// # Errors
/// When they are none.
pub fn restore<M: GenStatem>(old: Term<'_>) -> Result<Term<'_>, NotRestored> {
    let pair = old.tuple().and_then(|tuple| tuple.array());
    let [state, data] = pair.ok_or_else(|| NotRestored::Malformed(Malformed::expected("a state and data")))?;
    let (state, data) = taken(data, M::goes_over(), |data| M::restore(state, data))?;
    Ok(slot(old.env(), MachineProcess::new(Host::new(data), Some(state))))
}
