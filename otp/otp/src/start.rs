//! Starting a process from a callback.

use std::fmt;
use std::future::Future;
use std::mem;
use std::pin::Pin;
use std::task::{Context, Poll};

use crate::address::To;
use crate::atom;
use crate::data::{Any, Data, Elements};
use crate::reason::Reason;
use crate::server::Server;
use crate::vm::{Env, Term, Turn};
use crate::waiting::Wait;

/// What can be started: a gen_server, a gen_statem. The attributes write this.
pub trait Startable: 'static {
    /// The name of its module in Erlang.
    const MODULE: &'static str;
    type Argument: Elements + Send + 'static;
}

/// The start of a process of the kind `S`, linked to the one that awaits this.
#[must_use = "nothing is started until it is awaited"]
pub struct Start<S: Startable> {
    state: State<S>,
}

enum State<S: Startable> {
    New { argument: S::Argument, name: Option<String> },
    Begun(Wait<Result<Server<S>, StartError>>),
    Over,
}

impl<S: Startable> Unpin for Start<S> {}

impl<S: Startable> fmt::Debug for Start<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Start").field(&S::MODULE).finish()
    }
}

impl<S: Startable> Start<S> {
    #[doc(hidden)]
    pub fn new(argument: S::Argument) -> Self {
        Self { state: State::New { argument, name: None } }
    }

    /// Registers the process under this name on its node.
    pub fn named(mut self, name: impl Into<String>) -> Self {
        if let State::New { name: named, .. } = &mut self.state {
            *named = Some(name.into());
        }
        self
    }
}

impl<S: Startable> Future for Start<S> {
    type Output = Result<Server<S>, StartError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        self.state = match mem::replace(&mut self.state, State::Over) {
            State::New { argument, name } => {
                let ask = move |env: Env<'_>, turn: &Turn, number: u64| {
                    let mut arguments = argument.encode_all(env);
                    let function = match name {
                        Some(name) => {
                            arguments.insert(0, env.atom(&name).raw());
                            atom!("start_link_as")
                        }
                        None => atom!("start_link"),
                    };
                    let parts = [number.encode(env), env.atom(S::MODULE), function.term(env), env.list(&arguments)];
                    turn.order(env, atom!("apply"), &parts);
                };
                State::Begun(Wait::new(ask, started))
            }
            other => other,
        };
        let State::Begun(wait) = &mut self.state else { panic!("this start was polled after it had come to its end") };
        Pin::new(wait).poll(context)
    }
}

/// Why there is no process.
#[derive(Clone, Debug, PartialEq)]
pub enum StartError {
    /// It said that it is not needed.
    Ignored,
    /// The name is taken.
    AlreadyStarted(crate::Pid),
    /// Its `init` failed.
    Failed(Reason),
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ignored => f.write_str("it said that it is not needed"),
            Self::AlreadyStarted(pid) => write!(f, "the name is that of {pid:?}"),
            Self::Failed(reason) => write!(f, "it does not start: {reason}"),
        }
    }
}

impl std::error::Error for StartError {}

/// `{ok, {ok, Pid}}`, `{ok, ignore}`, `{ok, {error, Reason}}`, or `{raised, Class, Reason}`.
pub(crate) fn started<S>(event: Term<'_>) -> Result<Server<S>, StartError> {
    let failed = |term: Term<'_>| StartError::Failed(Reason::Other(Any::keep(term)));
    let Some([_, result]) = event.tuple().and_then(|event| event.array()) else { return Err(failed(event)) };
    if result.is(atom!("ignore")) {
        return Err(StartError::Ignored);
    }
    match result.tuple().and_then(|result| result.array()) {
        Some([tag, pid]) if tag.is(atom!("ok")) => To::decode(pid).map(Server::at).map_err(|_| failed(result)),
        Some([_, reason]) => {
            if let Some([what, pid]) = reason.tuple().and_then(|reason| reason.array())
                && what.is(atom!("already_started"))
                && let Ok(pid) = Data::decode(pid)
            {
                return Err(StartError::AlreadyStarted(pid));
            }
            Err(StartError::Failed(Reason::decode(reason).unwrap_or(Reason::Normal)))
        }
        None => Err(failed(result)),
    }
}
