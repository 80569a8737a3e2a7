//! Handing a connection over to another process of this node, which may be in another build of the application.

use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Mutex, PoisonError};

use super::TcpStream;
use crate::atom;
use crate::data::{Any, Data, Malformed};
use crate::nif::{Env, Term, module};
use crate::process::resource::{Gives, Loading, Resource};

/// A connection that nobody has taken yet.
struct Waiting(Mutex<Option<TcpStream>>);

static HANDED: Resource<Waiting> = Resource::new(c"otp_handed_connection");

pub(crate) fn open(loading: &Loading) -> bool {
    HANDED.open_to_builds(loading)
}

impl Waiting {
    fn take(&self) -> Option<TcpStream> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl Gives for Waiting {
    fn give(&self) -> Option<OwnedFd> {
        self.take()?.as_fd().try_clone_to_owned().ok()
    }
}

/// A connection that was given away and waits to be taken, within this node. Whoever takes it first has it; if nobody does, it is
/// closed when nothing refers to it any more. To Erlang it is a tuple, `{'$otp_handed', Module, Reference}`.
#[derive(Clone, Debug, PartialEq)]
pub struct Handed(Any);

impl Handed {
    fn of(stream: TcpStream) -> Self {
        // Not in the process that gives it away, whose memory would hold it until its next garbage collection.
        Self(Any::made(|env| {
            let reference = HANDED.keep(env, Waiting(Mutex::new(Some(stream))));
            env.tuple(&[atom!("$otp_handed").raw(env), env.atom(module::own()).raw(), reference.raw()])
        }))
    }

    /// The connection; `None` when somebody has taken it before (the process, say, that is now started anew), or this is no connection
    /// of this application.
    pub fn take(self) -> Option<TcpStream> {
        self.0.read(|term| {
            let [_, native, reference] = term.tagged(atom!("$otp_handed"))?;
            match HANDED.get(reference) {
                Some(waiting) => waiting.take(),
                None => HANDED.given_by(native, reference).map(TcpStream::of),
            }
        })
    }
}

impl TcpStream {
    /// Makes it a value that can be sent, for the process that is to have it.
    pub fn hand_over(self) -> Handed {
        Handed::of(self)
    }
}

impl Data for Handed {
    fn encode<'a>(&self, env: Env<'a>) -> Term<'a> {
        self.0.encode(env)
    }

    fn decode(term: Term<'_>) -> Result<Self, Malformed> {
        match term.tagged(atom!("$otp_handed")) {
            Some([_, native, reference]) if native.is_atom() && reference.is_reference() => Ok(Self(Any::keep(term))),
            _ => Err(Malformed::expected("a connection")),
        }
    }

    fn erlang_type() -> String {
        "{'$otp_handed', module(), reference()}".into()
    }
}

crate::carry_as_data!(Handed);
