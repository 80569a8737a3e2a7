//! Spans of `tracing`: those that are open, and those that each thread has entered.
//!
//! `tracing` names a span by a number, and anybody can make one up. So spans stand in a table, and a number that names none is
//! refused; it is never taken for an address. The table has several parts with a lock each, as schedulers open and close spans at the
//! same time.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

use tracing_core::{Metadata, span};

use super::fields::Fields;
use crate::atom;
use crate::data::Data;
use crate::data::brief::brief;
use crate::nif::{Env, Term};

#[derive(Debug)]
pub(super) struct Span {
    pub(super) metadata: &'static Metadata<'static>,
    parent: Option<Arc<Span>>,
    pub(super) fields: Mutex<Fields>,
    /// How many handles there are.
    handles: AtomicUsize,
}

/// How many spans an event is told to be in.
const MOST_SPANS: usize = 32;

const PARTS: u64 = 16;

type Part = Mutex<HashMap<u64, Arc<Span>>>;

static OPEN: LazyLock<[Part; PARTS as usize]> = LazyLock::new(Default::default);
static NEXT: AtomicU64 = AtomicU64::new(1);

thread_local! {
    /// Those that this thread is in, the innermost last.
    static ENTERED: RefCell<Vec<(u64, Arc<Span>)>> = const { RefCell::new(Vec::new()) };
}

fn part(number: u64) -> MutexGuard<'static, HashMap<u64, Arc<Span>>> {
    OPEN[(number % PARTS) as usize].lock().unwrap_or_else(PoisonError::into_inner)
}

pub(super) fn open(metadata: &'static Metadata<'static>, parent: Option<Arc<Span>>, fields: Fields) -> span::Id {
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let span = Span { metadata, parent, fields: Mutex::new(fields), handles: AtomicUsize::new(1) };
    part(number).insert(number, Arc::new(span));
    span::Id::from_u64(number)
}

pub(super) fn get(id: &span::Id) -> Option<Arc<Span>> {
    part(id.into_u64()).get(&id.into_u64()).cloned()
}

pub(super) fn share(id: &span::Id) {
    if let Some(span) = get(id) {
        span.handles.fetch_add(1, Ordering::Relaxed);
    }
}

/// Takes a handle away; whether it was the last.
pub(super) fn close(id: &span::Id) -> bool {
    let mut part = part(id.into_u64());
    let last = part.get(&id.into_u64()).is_some_and(|span| span.handles.fetch_sub(1, Ordering::AcqRel) == 1);
    let closed = if last { part.remove(&id.into_u64()) } else { None };
    // The parents may go with it, which lie in this table too.
    drop(part);
    closed.is_some()
}

pub(super) fn enter(id: &span::Id) {
    if let Some(span) = get(id) {
        // A thread that ends may have none any more.
        let _ = ENTERED.try_with(|entered| entered.borrow_mut().push((id.into_u64(), span)));
    }
}

pub(super) fn exit(id: &span::Id) {
    let left = ENTERED.try_with(|entered| {
        let mut entered = entered.borrow_mut();
        let at = entered.iter().rposition(|(number, _)| *number == id.into_u64())?;
        Some(entered.remove(at))
    });
    drop(left);
}

pub(super) fn current() -> Option<(span::Id, Arc<Span>)> {
    let found = ENTERED.try_with(|entered| entered.borrow().last().cloned()).ok().flatten();
    found.map(|(number, span)| (span::Id::from_u64(number), span))
}

impl Span {
    /// It and those that it is in, from the outermost; of many, the inner ones.
    fn path(&self) -> Vec<&Self> {
        let mut path = vec![self];
        while let Some(parent) = path.last().and_then(|span| span.parent.as_deref())
            && path.len() < MOST_SPANS
        {
            path.push(parent);
        }
        path.reverse();
        path
    }

    /// `connection{port=7070}:read`.
    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        for span in self.path() {
            let fields = span.fields.lock().unwrap_or_else(PoisonError::into_inner);
            let colon = if text.is_empty() { "" } else { ":" };
            let _ = write!(text, "{colon}{}{fields}", span.metadata.name());
        }
        brief(text)
    }

    /// `[#{name => <<"connection">>, port => 7070}, #{name => <<"read">>}]`.
    pub(super) fn encode<'a>(&self, env: Env<'a>) -> Term<'a> {
        let maps = self.path().into_iter().map(|span| {
            let fields = span.fields.lock().unwrap_or_else(PoisonError::into_inner);
            fields.map(env, &[(atom!("name"), span.metadata.name().to_owned().encode(env))]).raw()
        });
        env.list(&maps.collect::<Vec<_>>())
    }
}

#[cfg(test)]
mod tests {
    use tracing::warn_span;

    use super::get;
    use crate::observing::log::ToLogger;

    #[test]
    fn a_span_is_there_for_as_long_as_a_handle_is_and_its_parents_for_as_long_as_it_is() {
        tracing::subscriber::with_default(ToLogger::new(), || {
            let outer = warn_span!("outer", port = 7070, peer = tracing::field::Empty);
            let (id, again) = (outer.id().expect("it is on"), outer.clone());
            outer.record("peer", "boiler");
            let inner = outer.in_scope(|| warn_span!("inner"));
            let inner_id = inner.id().expect("it is on");
            drop(outer);
            assert!(get(&id).is_some());
            drop(again);
            assert!(get(&id).is_none());
            let span = get(&inner_id).expect("it is open");
            assert_eq!(span.text(), "outer{port=7070 peer=boiler}:inner");
            drop((inner, span));
            assert!(get(&inner_id).is_none());
            assert!(tracing::Span::current().is_none());
        });
    }
}
