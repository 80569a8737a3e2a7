//! The `tracing` subscriber that sends events to logger.

use std::sync::{Arc, PoisonError};
use std::time::SystemTime;

use tracing_core::metadata::LevelFilter;
use tracing_core::span::{Attributes, Current, Id, Record};
use tracing_core::subscriber::Interest;
use tracing_core::{Event, Level, Metadata, Subscriber};

use super::fields::Fields;
use super::in_force::{level_of, most, name};
use super::spans::{self, Span};
use crate::atom;
use crate::data::Data;
use crate::nif::{Env, Term};
use crate::process::events::{Emitter, emit};

/// A subscriber that tells Erlang's logger of each event; [`application!`](crate::application) installs one.
///
/// It is for who makes a subscriber that tells logger and does something else too.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct ToLogger;

impl ToLogger {
    pub fn new() -> Self {
        Self
    }
}

impl Subscriber for ToLogger {
    /// What does not change is asked once for each place in the code; `change` has all of them asked anew.
    fn register_callsite(&self, metadata: &'static Metadata<'static>) -> Interest {
        if self.enabled(metadata) { Interest::always() } else { Interest::never() }
    }

    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        *metadata.level() <= level_of(metadata.target())
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(most())
    }

    fn new_span(&self, attributes: &Attributes<'_>) -> Id {
        let parent = if attributes.is_contextual() {
            spans::current().map(|(_, span)| span)
        } else {
            attributes.parent().and_then(spans::get)
        };
        let mut fields = Fields::default();
        attributes.record(&mut fields);
        spans::open(attributes.metadata(), parent, fields)
    }

    fn record(&self, span: &Id, values: &Record<'_>) {
        if let Some(span) = spans::get(span) {
            // A value that is asked how it is written may tell something itself, and look at the span.
            let mut fields = Fields::default();
            values.record(&mut fields);
            span.fields.lock().unwrap_or_else(PoisonError::into_inner).merge(fields);
        }
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let span = if event.is_contextual() {
            spans::current().map(|(_, span)| span)
        } else {
            event.parent().and_then(spans::get)
        };
        let mut fields = Fields::default();
        event.record(&mut fields);
        let about = event.metadata();
        let at = At { target: about.target(), file: about.file(), line: about.line() };
        log(about.level(), &fields, span, at);
    }

    fn enter(&self, span: &Id) {
        spans::enter(span);
    }

    fn exit(&self, span: &Id) {
        spans::exit(span);
    }

    fn clone_span(&self, id: &Id) -> Id {
        spans::share(id);
        id.clone()
    }

    fn try_close(&self, id: Id) -> bool {
        spans::close(&id)
    }

    fn current_span(&self) -> Current {
        spans::current().map_or_else(Current::none, |(id, span)| Current::new(id, span.metadata))
    }
}

/// Where an event is told.
#[derive(Clone, Copy, Debug)]
pub(super) struct At<'e> {
    pub(super) target: &'e str,
    pub(super) file: Option<&'e str>,
    pub(super) line: Option<u32>,
}

/// `{log, Level, Report, Metadata}`.
pub(super) fn log(level: &Level, fields: &Fields, span: Option<Arc<Span>>, at: At<'_>) {
    // When it happened, not when it is told.
    let time = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |time| time.as_micros() as i64);
    emit(atom!("log"), |env, emitter| {
        let path = span.as_ref().map(|span| (atom!("span"), span.text().encode(env)));
        let report = fields.map(env, path.as_slice());
        let metadata = metadata(env, emitter, time, span.as_deref(), at);
        [name(level).term(env), report, metadata]
    });
}

fn metadata<'a>(env: Env<'a>, emitter: Emitter, time: i64, span: Option<&Span>, at: At<'_>) -> Term<'a> {
    let mut keys = vec![atom!("time").raw(env), atom!("target").raw(env)];
    let mut values = vec![time.encode(env).raw(), env.binary(at.target.as_bytes()).raw()];
    let mut put = |key: &crate::nif::Atom, value: Term<'a>| {
        keys.push(key.raw(env));
        values.push(value.raw());
    };
    if let Some(file) = at.file {
        // A list of characters, as Erlang has names of files.
        let letters: Vec<_> = file.chars().map(|letter| u32::from(letter).encode(env).raw()).collect();
        put(atom!("file"), env.list(&letters));
    }
    if let Some(line) = at.line {
        put(atom!("line"), line.encode(env));
    }
    if let Some(span) = span {
        put(atom!("spans"), span.encode(env));
    }
    match emitter {
        Emitter::Own => {}
        Emitter::Process(process) => put(atom!("pid"), env.adopt(process.pid)),
        Emitter::Thread => {
            let thread = std::thread::current();
            put(atom!("thread"), env.binary(thread.name().unwrap_or("unnamed").as_bytes()));
        }
    }
    env.map(&keys, &values).unwrap_or_else(|| atom!("undefined").term(env))
}
