//! Telemetry spans: work that takes time, as three events.

use std::future::Future;
use std::time::{Instant, SystemTime};

use kizami_otp_macros::Data;

use super::Event;
use crate::atom;
use crate::data::{Data, Malformed};
use crate::nif::abi::RawTerm;
use crate::nif::{Env, Term};

/// Work that takes time: the events `start`, `stop` and `exception` under its name, as `telemetry:span/3` has them.
///
/// ```
/// use otp::telemetry::Span;
///
/// static REQUEST: Span = Span::new(&["gateway", "request"]);
///
/// let sum = REQUEST.run(|| (), || (1..=10).sum::<u32>());
/// # assert_eq!(sum, 55);
/// ```
///
/// The times are in nanoseconds, which is the VM's native unit on Linux.
#[derive(Debug)]
pub struct Span<A = ()> {
    pub start: Event<Began, A>,
    pub stop: Event<Took, A>,
    /// It panicked, or was dropped before its end.
    pub exception: Event<Took, Broken<A>>,
}

/// When work began, since 1970.
#[derive(Clone, Copy, Data, Debug, PartialEq, Eq)]
pub struct Began {
    pub system_time: u64,
}

/// How long work took.
#[derive(Clone, Copy, Data, Debug, PartialEq, Eq)]
pub struct Took {
    pub duration: u64,
}

/// Why work did not come to its end.
#[derive(Clone, Copy, Data, Debug, PartialEq, Eq)]
pub enum Why {
    Panic,
    /// Nobody waits for it any more: a limit was over, its process ended.
    Cancelled,
}

/// Work that did not come to its end. In Erlang the map of what it was about, with `kind` and `reason`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken<A> {
    pub about: A,
    pub reason: Why,
}

impl<A> Span<A> {
    pub const fn new(name: &'static [&'static str]) -> Self {
        Self {
            start: Event::of_span(name, "start"),
            stop: Event::of_span(name, "stop"),
            exception: Event::of_span(name, "exception"),
        }
    }
}

impl<A: Data + Clone> Span<A> {
    /// Does the work; `about` runs if anybody handles one of the events.
    pub fn run<R>(&self, about: impl FnOnce() -> A, work: impl FnOnce() -> R) -> R {
        let mut open = self.open(about);
        let result = work();
        open.close();
        result
    }

    /// Awaits the work. The time counts from when this is first polled.
    pub async fn follow<F: Future>(&self, about: impl FnOnce() -> A, work: F) -> F::Output {
        let mut open = self.open(about);
        let result = work.await;
        open.close();
        result
    }

    fn open(&self, about: impl FnOnce() -> A) -> Open<'_, A> {
        let observed = self.start.is_observed() || self.stop.is_observed() || self.exception.is_observed();
        let begun = observed.then(|| {
            let about = about();
            let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
            let system_time = now.map_or(0, |time| time.as_nanos() as u64);
            self.start.execute(|| (Began { system_time }, about.clone()));
            (Instant::now(), about)
        });
        Open { span: self, begun }
    }
}

/// A span between its start and its end.
struct Open<'s, A: Data + Clone> {
    span: &'s Span<A>,
    begun: Option<(Instant, A)>,
}

impl<A: Data + Clone> Open<'_, A> {
    fn close(&mut self) {
        if let Some((began, about)) = self.begun.take() {
            self.span.stop.execute(|| (Took::since(began), about));
        }
    }
}

impl<A: Data + Clone> Drop for Open<'_, A> {
    fn drop(&mut self) {
        if let Some((began, about)) = self.begun.take() {
            let reason = if std::thread::panicking() { Why::Panic } else { Why::Cancelled };
            self.span.exception.execute(|| (Took::since(began), Broken { about, reason }));
        }
    }
}

impl Took {
    fn since(began: Instant) -> Self {
        Self { duration: began.elapsed().as_nanos() as u64 }
    }
}

impl<A: Data> Data for Broken<A> {
    fn encode<'a>(&self, env: Env<'a>) -> Term<'a> {
        let mut keys = vec![atom!("kind").raw(env), atom!("reason").raw(env)];
        let mut values = vec![atom!("error").raw(env), self.reason.encode(env).raw()];
        // These two are telemetry's; a field of the same name gives way.
        for (key, value) in super::event::map(env, &self.about).map_entries().into_iter().flatten() {
            if !keys.contains(&key.raw()) {
                keys.push(key.raw());
                values.push(value.raw());
            }
        }
        env.map(&keys, &values).unwrap_or_else(|| atom!("undefined").term(env))
    }

    fn decode(term: Term<'_>) -> Result<Self, Malformed> {
        let env = term.env();
        let reason = term.map_value(atom!("reason").term(env));
        let reason = Why::decode(reason.ok_or_else(|| Malformed::expected("a map with the key reason"))?)?;
        let own = |key: &Term<'_>| key.is(atom!("kind")) || key.is(atom!("reason"));
        let (keys, values): (Vec<RawTerm>, Vec<RawTerm>) = term
            .map_entries()
            .into_iter()
            .flatten()
            .filter(|(key, _)| !own(key))
            .map(|(key, value)| (key.raw(), value.raw()))
            .unzip();
        let about = env.map(&keys, &values).ok_or_else(|| Malformed::expected("a map"))?;
        Ok(Self { about: super::event::unmap(about)?, reason })
    }

    fn erlang_type() -> String {
        "#{kind := error, reason := panic | cancelled, term() => term()}".into()
    }
}
