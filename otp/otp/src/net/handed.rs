//! A connection on its way to another process.

use std::sync::{Mutex, PoisonError};

use super::TcpStream;
use crate::data::{Any, Data, Malformed};
use crate::vm::{Env, Loading, ObjectType, Term};

static HANDED: ObjectType<Mutex<Option<TcpStream>>> = ObjectType::new(c"handed");

pub(crate) fn open(loading: &Loading) -> bool {
    HANDED.open(loading)
}

/// A connection that was given away and waits to be taken, within this node. Whoever takes it first has it; if nobody does, it is
/// closed when nothing refers to it any more. To Erlang it is a reference.
#[derive(Clone, Debug, PartialEq)]
pub struct Handed(Any);

impl Handed {
    pub(super) fn of(stream: TcpStream) -> Self {
        // Not in the process that gives it away, whose memory would hold it until its next garbage collection.
        Self(Any::made(|env| HANDED.keep(env, Mutex::new(Some(stream)))))
    }

    /// The connection; `None` when somebody has taken it before (the process, say, that is now started anew), or this is no connection
    /// of this build.
    pub fn take(self) -> Option<TcpStream> {
        self.0.read(|term| HANDED.get(term)?.lock().unwrap_or_else(PoisonError::into_inner).take())
    }
}

impl Data for Handed {
    fn encode<'a>(&self, env: Env<'a>) -> Term<'a> {
        self.0.encode(env)
    }

    fn decode(term: Term<'_>) -> Result<Self, Malformed> {
        if !term.is_reference() {
            return Err(Malformed::expected("a connection"));
        }
        Ok(Self(Any::keep(term)))
    }

    fn erlang_type() -> String {
        "reference()".into()
    }
}
