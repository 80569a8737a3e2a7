//! Names of event handlers, and the reasons with which they leave their manager.

use crate::atom;
use crate::data::{Any, Data, Malformed};
use crate::nif::{Env, Term};
use crate::process::address::Pid;
use crate::process::reason::Reason;

/// A handler in its manager: its module, and a name beside where several are of one module.
#[derive(Clone, Debug, PartialEq)]
pub struct HandlerName {
    pub module: String,
    pub id: Option<Any>,
}

/// `Module` or `{Module, Id}`.
impl Data for HandlerName {
    fn encode<'a>(&self, env: Env<'a>) -> Term<'a> {
        let module = env.atom(&self.module);
        self.id.as_ref().map_or(module, |id| env.tuple(&[module.raw(), id.encode(env).raw()]))
    }

    fn decode(term: Term<'_>) -> Result<Self, Malformed> {
        let (module, id) = match term.tuple().and_then(|tuple| tuple.array()) {
            Some([module, id]) => (module, Some(Any::decode(id)?)),
            None => (term, None),
        };
        let module = module.atom_name().ok_or_else(|| Malformed::expected("the name of a handler"))?;
        Ok(Self { module, id })
    }

    fn erlang_type() -> String {
        "module() | {module(), term()}".into()
    }
}

crate::carry_as_data!(HandlerName);

/// Why a handler leaves its manager, as its `#[terminate]` is told.
#[derive(Clone, Debug, PartialEq)]
pub enum Leaving {
    /// It said so itself.
    Removed,
    /// Somebody deleted it.
    Deleted,
    /// Another takes its place.
    Swapped,
    /// The manager ends.
    Stopped,
    /// The process that it was added for has ended.
    OwnerEnded(Reason),
    /// Something went wrong in it.
    Failed(Reason),
}

impl Leaving {
    /// The first argument of `terminate/2`.
    pub(super) fn read(why: Term<'_>) -> Self {
        let words =
            [(atom!("remove_handler"), Self::Removed), (atom!("$swap"), Self::Swapped), (atom!("stop"), Self::Stopped)];
        if let Some((_, word)) = words.into_iter().find(|(word, _)| why.is(word)) {
            return word;
        }
        match why.tuple().and_then(|tuple| tuple.array()) {
            Some([tag, reason]) if tag.is(atom!("stop")) => Self::OwnerEnded(reason_of(reason)),
            Some([tag, reason]) if tag.is(atom!("error")) => Self::Failed(reason_of(reason)),
            _ => Self::Deleted,
        }
    }
}

/// `Reason` or `{'EXIT', Reason}`.
pub(super) fn reason_of(term: Term<'_>) -> Reason {
    let inside = match term.tuple().and_then(|tuple| tuple.array()) {
        Some([tag, reason]) if tag.is(atom!("EXIT")) => reason,
        _ => term,
    };
    Reason::decode(inside).unwrap_or_else(|_| Reason::Other(Any::keep(inside)))
}

/// A handler is no longer there that this process added with `add_sup_handler`; an `#[info]` takes it.
#[derive(Clone, Debug, PartialEq)]
pub struct HandlerExit {
    pub handler: HandlerName,
    pub end: HandlerEnd,
}

/// How a handler came to its end.
#[derive(Clone, Debug, PartialEq)]
pub enum HandlerEnd {
    /// It was deleted, or removed itself.
    Normal,
    /// Its manager has ended.
    Shutdown,
    /// Another took its place, which is this process's too, if it is anybody's.
    Swapped { by: HandlerName, owner: Option<Pid> },
    /// It panicked, or something else was wrong with it.
    Failed(Reason),
}

/// `{gen_event_EXIT, Handler, Reason}`.
impl Data for HandlerExit {
    fn encode<'a>(&self, env: Env<'a>) -> Term<'a> {
        let end = match &self.end {
            HandlerEnd::Normal => atom!("normal").term(env),
            HandlerEnd::Shutdown => atom!("shutdown").term(env),
            HandlerEnd::Failed(reason) => reason.encode(env),
            HandlerEnd::Swapped { by, owner } => {
                let owner = owner.as_ref().map_or_else(|| atom!("false").term(env), |owner| owner.encode(env));
                env.tuple(&[atom!("swapped").raw(env), by.encode(env).raw(), owner.raw()])
            }
        };
        env.tuple(&[atom!("gen_event_EXIT").raw(env), self.handler.encode(env).raw(), end.raw()])
    }

    fn decode(term: Term<'_>) -> Result<Self, Malformed> {
        let malformed = || Malformed::expected("the end of a handler");
        let [tag, handler, end] = term.tuple().and_then(|tuple| tuple.array()).ok_or_else(malformed)?;
        if !tag.is(atom!("gen_event_EXIT")) {
            return Err(malformed());
        }
        let end = match end.tuple().and_then(|tuple| tuple.array()) {
            Some([tag, by, owner]) if tag.is(atom!("swapped")) => {
                HandlerEnd::Swapped { by: HandlerName::decode(by)?, owner: Pid::decode(owner).ok() }
            }
            _ if end.is(atom!("normal")) => HandlerEnd::Normal,
            _ if end.is(atom!("shutdown")) => HandlerEnd::Shutdown,
            _ => HandlerEnd::Failed(reason_of(end)),
        };
        Ok(Self { handler: HandlerName::decode(handler)?, end })
    }

    fn erlang_type() -> String {
        "{gen_event_EXIT, module() | {module(), term()}, term()}".into()
    }
}
