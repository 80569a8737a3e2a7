//! Starting a process from a callback, and waiting until its `init` has returned.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use crate::atom;
use crate::behaviours::handle::Server;
use crate::data::{Any, Data, Elements, Malformed};
use crate::nif::abi::RawTerm;
use crate::nif::{Atom, Env, Term};
use crate::process::address::{Pid, To};
use crate::process::reason::Reason;
use crate::waiting::order::Order;

/// What can be started: a gen_server, a gen_statem. The attributes write this.
pub trait Startable: 'static {
    /// The name of its module in Erlang.
    fn module() -> &'static Atom;
    type Argument: Elements + Send + 'static;
}

/// The name that a process is to bear from its start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Named {
    /// On its node.
    Local(String),
    /// Among all connected nodes.
    Global(String),
}

impl Named {
    pub(crate) fn text(&self) -> &str {
        let (Self::Local(name) | Self::Global(name)) = self;
        name
    }

    /// `Name` or `{global, Name}`, as our own modules take it.
    pub(crate) fn short(&self, env: Env<'_>) -> RawTerm {
        match self {
            Self::Local(name) => env.atom(name).raw(),
            Self::Global(_) => self.long(env),
        }
    }

    /// `{local, Name}` or `{global, Name}`, as OTP has it.
    pub(crate) fn long(&self, env: Env<'_>) -> RawTerm {
        let (kind, name) = match self {
            Self::Local(name) => (atom!("local"), name),
            Self::Global(name) => (atom!("global"), name),
        };
        env.tuple(&[kind.raw(env), env.atom(name).raw()]).raw()
    }
}

/// The start of a process of the kind `S`, linked to the one that awaits this.
#[must_use = "nothing is started until it is awaited"]
pub struct Start<S: Startable> {
    order: Order<Request<S>, Result<Server<S>, StartError>>,
}

struct Request<S: Startable> {
    argument: S::Argument,
    name: Option<Named>,
}

impl<S: Startable> Unpin for Start<S> {}

impl<S: Startable> fmt::Debug for Start<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Start").field(&S::module().name()).finish()
    }
}

impl<S: Startable> Start<S> {
    #[doc(hidden)]
    pub fn new(argument: S::Argument) -> Self {
        Self { order: Order::new(Request { argument, name: None }, started) }
    }

    /// Registers the process under this name on its node.
    pub fn named(self, name: impl Into<String>) -> Self {
        self.bearing(Named::Local(name.into()))
    }

    /// Registers the process under this name among all connected nodes, where [`Server::global`] finds it. What happens when
    /// both sides of a cut link have one is said in [`global`](crate::cluster::global).
    pub fn global_name(self, name: impl Into<String>) -> Self {
        self.bearing(Named::Global(name.into()))
    }

    fn bearing(mut self, name: Named) -> Self {
        if let Some(request) = self.order.request() {
            request.name = Some(name);
        }
        self
    }
}

impl<S: Startable> Future for Start<S> {
    type Output = Result<Server<S>, StartError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        self.order.poll(context, |Request { argument, name }, env, turn, number| {
            let mut arguments = argument.encode_all(env);
            let function = match name {
                Some(name) => {
                    arguments.insert(0, name.short(env));
                    atom!("start_link_as")
                }
                None => atom!("start_link"),
            };
            let (number, arguments) = (number.encode(env).raw(), env.list(&arguments).raw());
            let [what, module, function] = [atom!("apply"), S::module(), function].map(|word| word.raw(env));
            turn.order_tuple(env, &[what, number, module, function, arguments]);
        })
    }
}

/// Why there is no process.
#[derive(Clone, Debug, PartialEq)]
pub enum StartError {
    /// It said that it is not needed.
    Ignored,
    /// The name is taken.
    AlreadyStarted(Pid),
    /// Its `init` takes longer than was waited for it.
    Timeout,
    /// Its `init` failed.
    Failed(Reason),
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ignored => f.write_str("it said that it is not needed"),
            Self::AlreadyStarted(pid) => write!(f, "the name is that of {pid:?}"),
            Self::Timeout => f.write_str("it takes too long to start"),
            Self::Failed(reason) => write!(f, "it does not start: {reason}"),
        }
    }
}

impl std::error::Error for StartError {}

/// `ignore`, `{already_started, Pid}`, `timeout`, or the reason.
impl Data for StartError {
    fn encode<'a>(&self, env: Env<'a>) -> Term<'a> {
        match self {
            Self::Ignored => atom!("ignore").term(env),
            Self::AlreadyStarted(pid) => env.tuple(&[atom!("already_started").raw(env), pid.encode(env).raw()]),
            Self::Timeout => atom!("timeout").term(env),
            Self::Failed(reason) => reason.encode(env),
        }
    }

    fn decode(term: Term<'_>) -> Result<Self, Malformed> {
        if term.is(atom!("ignore")) {
            return Ok(Self::Ignored);
        }
        if term.is(atom!("timeout")) {
            return Ok(Self::Timeout);
        }
        if let Some([what, pid]) = term.tuple().and_then(|term| term.array())
            && what.is(atom!("already_started"))
            && let Ok(pid) = Data::decode(pid)
        {
            return Ok(Self::AlreadyStarted(pid));
        }
        Reason::decode(term).map(Self::Failed)
    }

    fn erlang_type() -> String {
        "term()".into()
    }
}

/// `{ok, Result}` of a start, or `{raised, Class, Reason}`.
fn started<S>(event: Term<'_>) -> Result<Server<S>, StartError> {
    match event.tuple().and_then(|event| event.array()) {
        Some([_, result]) => read(result),
        None => Err(failed(event)),
    }
}

/// `{ok, Pid}`, `ignore` or `{error, Reason}`.
pub(crate) fn outcome<S>(result: Any) -> Result<Server<S>, StartError> {
    result.read(read)
}

pub(crate) fn read<S>(result: Term<'_>) -> Result<Server<S>, StartError> {
    if result.is(atom!("ignore")) {
        return Err(StartError::Ignored);
    }
    match result.tuple().and_then(|result| result.array()) {
        Some([tag, pid]) if tag.is(atom!("ok")) => To::decode(pid).map(Server::at).map_err(|_| failed(result)),
        Some([_, reason]) => Err(StartError::decode(reason).unwrap_or_else(|_| failed(reason))),
        None => Err(failed(result)),
    }
}

fn failed(term: Term<'_>) -> StartError {
    StartError::Failed(Reason::Other(Any::keep(term)))
}
