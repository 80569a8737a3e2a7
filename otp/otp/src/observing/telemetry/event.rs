//! A telemetry event: its handlers, in Rust and in Erlang, and how it reaches them.

use std::fmt;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use super::{KNOWN_SINCE, OBSERVED, changed};
use crate::atom;
use crate::data::{Data, Malformed, Name};
use crate::nif::{Env, Term};
use crate::process::address::{Pid, To};
use crate::process::events::{Emitter, emit};
use crate::process::panic::caught;
use crate::process::send::send_from_anywhere;
use crate::process::turn::{try_turn, turn};

/// A kind of event, with the types of what is measured and of what that is about: a `static`.
pub struct Event<M, A = ()> {
    name: &'static [&'static str],
    /// The last part of the name, for an event of a span.
    last: Option<&'static str>,
    /// What `KNOWN_SINCE` was when it was last found out whether anybody handles it, and whether anybody does.
    known: AtomicU32,
    handlers: RwLock<Vec<(u64, Handler<M, A>)>>,
    _sent: PhantomData<fn(M, A)>,
}

type Function<M, A> = Arc<dyn Fn(&M, &A) + Send + Sync>;

enum Handler<M, A> {
    Function(Function<M, A>),
    Process(Pid),
}

impl<M, A> Clone for Handler<M, A> {
    fn clone(&self) -> Self {
        match self {
            Self::Function(function) => Self::Function(function.clone()),
            Self::Process(process) => Self::Process(process.clone()),
        }
    }
}

/// That somebody handles an event; it stays so when this is dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attached(u64);

static NEXT: AtomicU64 = AtomicU64::new(1);

impl<M, A> fmt::Debug for Event<M, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Event").field(&self.parts().collect::<Vec<_>>()).finish()
    }
}

impl<M, A> Event<M, A> {
    /// The event of this name, the parts of which are atoms in Erlang. It begins with the name of the application.
    pub const fn new(name: &'static [&'static str]) -> Self {
        Self { name, last: None, known: AtomicU32::new(0), handlers: RwLock::new(Vec::new()), _sent: PhantomData }
    }

    pub(super) const fn of_span(name: &'static [&'static str], last: &'static str) -> Self {
        let mut event = Self::new(name);
        event.last = Some(last);
        event
    }

    fn parts(&self) -> impl Iterator<Item = &'static str> {
        self.name.iter().copied().chain(self.last)
    }

    /// Whether anybody handles it.
    #[inline]
    pub fn is_observed(&self) -> bool {
        let since = KNOWN_SINCE.load(Ordering::Acquire);
        let known = self.known.load(Ordering::Relaxed);
        if known >> 1 == since { known & 1 == 1 } else { self.find_out(since) }
    }

    #[cold]
    fn find_out(&self, since: u32) -> bool {
        let here = !self.handlers.read().unwrap_or_else(PoisonError::into_inner).is_empty();
        let observed = here || self.is_observed_in_erlang();
        self.known.store(since << 1 | u32::from(observed), Ordering::Relaxed);
        observed
    }

    fn is_observed_in_erlang(&self) -> bool {
        let observed = OBSERVED.read().unwrap_or_else(PoisonError::into_inner);
        observed.iter().any(|name| name.iter().map(Name::as_str).eq(self.parts()))
    }

    /// Handles it no more.
    pub fn detach(&self, attached: Attached) {
        let mut handlers = self.handlers.write().unwrap_or_else(PoisonError::into_inner);
        handlers.retain(|(number, _)| *number != attached.0);
        drop(handlers);
        changed();
    }

    fn add(&self, handler: Handler<M, A>) -> Attached {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        self.handlers.write().unwrap_or_else(PoisonError::into_inner).push((number, handler));
        changed();
        Attached(number)
    }

    /// Has a function handle it, wherever it happens: in a callback, so before what that does next, or on any thread. Like all that
    /// runs in a callback it must be done soon.
    pub fn attach(&self, handler: impl Fn(&M, &A) + Send + Sync + 'static) -> Attached {
        self.add(Handler::Function(Arc::new(handler)))
    }

    /// Has a process handle it, which is sent a [`Happened`] each time, for as long as it lives.
    pub fn attach_process(&self, process: &Pid) -> Attached {
        self.add(Handler::Process(process.clone()))
    }
}

impl<M: Data, A: Data> Event<M, A> {
    /// It happens. `make` runs if anybody handles it.
    #[inline]
    pub fn execute(&self, make: impl FnOnce() -> (M, A)) {
        if self.is_observed() {
            let (measured, about) = make();
            self.happens(&measured, &about);
        }
    }

    #[cold]
    pub(super) fn happens(&self, measured: &M, about: &A) {
        // Nobody is kept from attaching, or from telling more, while a handler runs.
        let handlers = self.handlers.read().unwrap_or_else(PoisonError::into_inner).clone();
        for (number, handler) in handlers {
            let goes_on = match handler {
                Handler::Function(function) => self.run(&*function, measured, about),
                Handler::Process(process) => self.send(&process, measured, about),
            };
            if !goes_on {
                self.detach(Attached(number));
            }
        }
        if self.is_observed_in_erlang() {
            emit(atom!("telemetry"), |env, _| [self.encode_name(env), map(env, measured), map(env, about)]);
        }
    }

    fn run(&self, function: &dyn Fn(&M, &A), measured: &M, about: &A) -> bool {
        let done = caught(|| function(measured, about));
        if done.is_err() {
            emit(atom!("log"), |env, emitter| {
                let text = format!("a handler of {self:?} panicked, and is detached");
                let report = env.map(&[atom!("message").raw(env)], &[text.encode(env).raw()]);
                let pid = match emitter {
                    Emitter::Process(process) => env.map(&[atom!("pid").raw(env)], &[process.pid]),
                    Emitter::Own | Emitter::Thread => env.map(&[], &[]),
                };
                let nothing = || atom!("undefined").term(env);
                [atom!("error").term(env), report.unwrap_or_else(nothing), pid.unwrap_or_else(nothing)]
            });
        }
        done.is_ok()
    }

    /// `false` when there is no such process any more.
    fn send(&self, to: &Pid, measured: &M, about: &A) -> bool {
        let ordered = try_turn(|_, turn| turn.ordered() > 0);
        match (&to.0, ordered) {
            (To::Local(process), Some(false)) => turn(|env, _| env.send(*process, self.message(env, measured, about))),
            (To::Local(process), None) => send_from_anywhere(*process, |env| self.message(env, measured, about)),
            // After what was ordered before, or to another node.
            (to, _) => {
                to.send(|env| self.message(env, measured, about));
                true
            }
        }
    }

    fn message<'a>(&self, env: Env<'a>, measured: &M, about: &A) -> Term<'a> {
        let (measured, about) = (map(env, measured), map(env, about));
        env.tuple(&[atom!("telemetry").raw(env), self.encode_name(env).raw(), measured.raw(), about.raw()])
    }

    fn encode_name<'a>(&self, env: Env<'a>) -> Term<'a> {
        env.list(&self.parts().map(|part| env.atom(part).raw()).collect::<Vec<_>>())
    }
}

/// What handlers get is a map: of a value that is none, `#{value => Value}`, and of nothing an empty one.
pub(super) fn map<'a, T: Data>(env: Env<'a>, value: &T) -> Term<'a> {
    let map = if T::NOTHING {
        env.map(&[], &[])
    } else {
        let term = value.encode(env);
        if term.map_size().is_some() { Some(term) } else { env.map(&[atom!("value").raw(env)], &[term.raw()]) }
    };
    map.unwrap_or_else(|| atom!("undefined").term(env))
}

/// What a process is sent that handles an event: an argument of its `#[info]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Happened<M, A = ()> {
    /// The parts of the name.
    pub name: Vec<Name>,
    pub measured: M,
    pub about: A,
}

impl<M: Data, A: Data> Data for Happened<M, A> {
    fn encode<'a>(&self, env: Env<'a>) -> Term<'a> {
        let (name, measured, about) = (self.name.encode(env), map(env, &self.measured), map(env, &self.about));
        env.tuple(&[atom!("telemetry").raw(env), name.raw(), measured.raw(), about.raw()])
    }

    fn decode(term: Term<'_>) -> Result<Self, Malformed> {
        let expected = || Malformed::expected("{telemetry, Name, Measurements, Metadata}");
        let [tag, name, measured, about] = term.tuple().and_then(|tuple| tuple.array()).ok_or_else(expected)?;
        if !tag.is(atom!("telemetry")) {
            return Err(expected());
        }
        Ok(Self { name: Vec::decode(name)?, measured: unmap(measured)?, about: unmap(about)? })
    }

    fn erlang_type() -> String {
        let map = |nothing: bool, of: String| if nothing { "#{}".into() } else { of };
        format!("{{telemetry, [atom()], {}, {}}}", map(M::NOTHING, M::erlang_type()), map(A::NOTHING, A::erlang_type()))
    }
}

/// The way back from [`map`].
pub(super) fn unmap<T: Data>(term: Term<'_>) -> Result<T, Malformed> {
    let env = term.env();
    if T::NOTHING {
        return T::decode(atom!("ok").term(env));
    }
    T::decode(term).or_else(|wrong| {
        let only = term.map_value(atom!("value").term(env)).filter(|_| term.map_size() == Some(1));
        only.map_or(Err(wrong), T::decode)
    })
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;

    use super::*;

    static TESTED: Event<u64> = Event::new(&["otp", "tested"]);

    #[test]
    fn nothing_is_made_unless_somebody_handles_it() {
        TESTED.execute(|| unreachable!("nobody handles it"));
        static SUM: AtomicUsize = AtomicUsize::new(0);
        let one = TESTED.attach(|measured, ()| {
            SUM.fetch_add(*measured as usize, Ordering::Relaxed);
        });
        let two = TESTED.attach(|_, ()| {
            SUM.fetch_add(100, Ordering::Relaxed);
        });
        TESTED.execute(|| (1, ()));
        TESTED.detach(two);
        TESTED.execute(|| (2, ()));
        TESTED.detach(one);
        TESTED.execute(|| unreachable!("nobody handles it any more"));
        assert_eq!(SUM.load(Ordering::Relaxed), 103);
    }
}
