//! supervisor: which processes there are, and what happens when one of them ends.
//!
//! The supervisor itself is OTP's; a tree says what it is told.

use std::fmt;
use std::time::Duration;

use crate::atom;
use crate::data::{Data, Elements, Malformed};
use crate::process::Started;
use crate::reason::milliseconds;
use crate::start::{Named, Startable};
use crate::vm::abi::RawTerm;
use crate::vm::{Atom, Env, Term, Turn};

/// What a supervisor supervises, and how.
#[derive(Debug)]
#[must_use = "a tree is what the function of a #[supervisor] returns"]
pub struct Tree {
    strategy: &'static Atom,
    intensity: u32,
    period: Duration,
    children: Vec<Child>,
}

/// Restarts a child that ended, and no other.
pub fn one_for_one() -> Tree {
    Tree::new(atom!("one_for_one"))
}

/// Restarts all children when one ended.
pub fn one_for_all() -> Tree {
    Tree::new(atom!("one_for_all"))
}

/// Restarts the child that ended and those that were started after it.
pub fn rest_for_one() -> Tree {
    Tree::new(atom!("rest_for_one"))
}

impl Tree {
    /// OTP's defaults: one restart in 5 seconds.
    fn new(strategy: &'static Atom) -> Self {
        Self { strategy, intensity: 1, period: Duration::from_secs(5), children: Vec::new() }
    }

    /// Gives up, and ends with all children, after more than `restarts` within `period`, which counts in whole seconds and is at
    /// least one.
    pub fn intensity(mut self, restarts: u32, period: Duration) -> Self {
        (self.intensity, self.period) = (restarts, period);
        self
    }

    /// One more child. They are started in this order, each when the one before has come out of its `init`, and ended in the
    /// opposite one.
    pub fn child(mut self, child: impl Into<Child>) -> Self {
        self.children.push(child.into());
        self
    }

    fn encode<'a>(&self, env: Env<'a>) -> Term<'a> {
        let flags = map(
            env,
            &[
                (atom!("strategy"), self.strategy.raw(env)),
                (atom!("intensity"), self.intensity.encode(env).raw()),
                (atom!("period"), self.period.as_secs().max(1).encode(env).raw()),
            ],
        );
        let children: Vec<RawTerm> = self.children.iter().map(|child| child.encode(env).raw()).collect();
        let ok = atom!("ok").raw(env);
        env.tuple(&[ok, env.tuple(&[flags.raw(), env.list(&children).raw()]).raw()])
    }
}

/// A process, or another supervisor, in a tree.
#[must_use = "a child is one when it is given to a tree"]
pub struct Child {
    id: String,
    module: &'static str,
    supervises: bool,
    restart: &'static Atom,
    /// How long it has to end; without one, as long as it takes.
    shutdown: Option<Duration>,
    start: How,
}

/// How a child is started, by a function of its module.
pub(crate) enum How {
    /// `start_link` or `start_link_as`.
    One { name: Option<Named>, arguments: Box<dyn for<'a> Fn(Env<'a>) -> Vec<RawTerm>> },
    /// `start_pool`.
    Pool { name: Option<Named>, config: crate::pool::Config },
    /// `gen_event:start_link`.
    Events { name: Named },
}

impl How {
    fn function(&self, env: Env<'_>) -> RawTerm {
        let function = match self {
            Self::One { name: Some(_), .. } => atom!("start_link_as"),
            Self::One { name: None, .. } | Self::Events { .. } => atom!("start_link"),
            Self::Pool { .. } => atom!("start_pool"),
        };
        function.raw(env)
    }

    fn arguments(&self, env: Env<'_>) -> RawTerm {
        let arguments = match self {
            Self::One { name, arguments } => {
                let name = name.iter().map(|name| name.short(env));
                name.chain(arguments(env)).collect()
            }
            Self::Pool { name, config } => {
                let name = name.as_ref().map_or_else(|| atom!("undefined").raw(env), |name| name.long(env));
                vec![name, config.encode(env)]
            }
            Self::Events { name } => vec![name.long(env)],
        };
        env.list(&arguments).raw()
    }

    /// The modules that run in the process; those of handlers come and go.
    fn modules(&self, env: Env<'_>, own: RawTerm) -> RawTerm {
        match self {
            Self::Events { .. } => atom!("dynamic").raw(env),
            _ => env.list(&[own]).raw(),
        }
    }
}

impl fmt::Debug for Child {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Child").field("id", &self.id).field("module", &self.module).finish_non_exhaustive()
    }
}

/// A gen_server as a child. `argument` is that of its `init`, a tuple where it has several, `()` where it has none.
pub fn worker<S: Startable>(argument: impl Arguments<S::Argument>) -> Child {
    Child::one(S::module().name(), false, Some(Duration::from_secs(5)), argument.all())
}

/// Another supervisor as a child: the function that `#[supervisor]` stands before, as a type.
pub fn supervisor<S: Supervisor>(argument: impl Arguments<S::Argument>) -> Child {
    Child::one(S::NAME, true, None, argument.all())
}

impl Child {
    fn one(
        module: &'static str,
        supervises: bool,
        shutdown: Option<Duration>,
        argument: impl Elements + 'static,
    ) -> Self {
        let arguments = Box::new(move |env: Env<'_>| argument.encode_all(env));
        Self::new(module, supervises, shutdown, How::One { name: None, arguments })
    }

    pub(crate) fn new(module: &'static str, supervises: bool, shutdown: Option<Duration>, start: How) -> Self {
        Self { id: module.to_owned(), module, supervises, restart: atom!("permanent"), shutdown, start }
    }

    /// Registers the process under this name on its node; it is its name in the tree too.
    pub fn name(self, name: impl Into<String>) -> Self {
        self.named(Named::Local(name.into()))
    }

    /// Registers the process under this name among all connected nodes, where [`Server::global`](crate::Server::global) finds
    /// it; it is its name in the tree too. Where another node has one already, the start fails, and with it that of the tree.
    /// What happens when both sides of a cut link have one is said in [`global`](crate::cluster::global).
    pub fn global_name(self, name: impl Into<String>) -> Self {
        self.named(Named::Global(name.into()))
    }

    fn named(mut self, name: Named) -> Self {
        name.text().clone_into(&mut self.id);
        match &mut self.start {
            How::One { name: own, .. } | How::Pool { name: own, .. } => *own = Some(name),
            How::Events { name: own } => *own = name,
        }
        self
    }

    /// Its name in the tree, where several are of the same kind.
    pub fn id(mut self, id: impl Into<String>) -> Self {
        self.id = id.into();
        self
    }

    /// Restarted only when it ended with an error.
    pub fn transient(mut self) -> Self {
        self.restart = atom!("transient");
        self
    }

    /// Never restarted.
    pub fn temporary(mut self) -> Self {
        self.restart = atom!("temporary");
        self
    }

    /// How long it may take to end before it is killed; 5 seconds unless said, and any time for a supervisor.
    pub fn shutdown(mut self, time: Duration) -> Self {
        self.shutdown = Some(time);
        self
    }

    fn encode<'a>(&self, env: Env<'a>) -> Term<'a> {
        let module = env.atom(self.module).raw();
        let start = env.tuple(&[module, self.start.function(env), self.start.arguments(env)]);
        let shutdown = shutdown_time(env, self.shutdown);
        let kind = if self.supervises { atom!("supervisor") } else { atom!("worker") };
        map(
            env,
            &[
                (atom!("id"), env.atom(&self.id).raw()),
                (atom!("start"), start.raw()),
                (atom!("restart"), self.restart.raw(env)),
                (atom!("shutdown"), shutdown),
                (atom!("type"), kind.raw(env)),
                (atom!("modules"), self.start.modules(env, module)),
            ],
        )
    }
}

/// In milliseconds, or as long as it takes.
pub(crate) fn shutdown_time(env: Env<'_>, time: Option<Duration>) -> RawTerm {
    time.map_or_else(|| atom!("infinity").raw(env), |time| milliseconds(time).encode(env).raw())
}

/// A map from different atoms.
pub(crate) fn map<'a>(env: Env<'a>, entries: &[(&Atom, RawTerm)]) -> Term<'a> {
    let (keys, values): (Vec<_>, Vec<_>) = entries.iter().map(|(key, value)| (key.raw(env), *value)).unzip();
    env.map(&keys, &values).expect("no key stands twice in the code")
}

/// What the arguments of a start may be written as: one as itself, several as a tuple, none as `()`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not what the `init` of this process takes: that is `{All}`",
    label = "give what `init` takes: one argument as it is, several as a tuple, none as `()`"
)]
pub trait Arguments<All> {
    fn all(self) -> All;
}

impl<A: Data> Arguments<(A,)> for A {
    fn all(self) -> (A,) {
        (self,)
    }
}

macro_rules! arguments {
    ($(($($name:ident)*))*) => {$(
        impl<$($name: Data),*> Arguments<($($name,)*)> for ($($name,)*) {
            fn all(self) -> Self {
                self
            }
        }
    )*};
}

arguments! { () (A B) (A B C) (A B C D) (A B C D E) (A B C D E F) }

/// A supervisor. The attribute `#[supervisor]` writes this.
pub trait Supervisor: 'static {
    /// The name of its module in Erlang.
    const NAME: &'static str;
    type Argument: Elements + 'static;

    fn tree(argument: Self::Argument) -> Tree;
}

/// What OTP's supervisor gets from its `init/1`.
#[doc(hidden)]
pub fn init<'a, S: Supervisor>(env: Env<'a>, _: &Turn, argument: Term<'a>) -> Started<'a> {
    Started::Else(match S::Argument::decode_all(argument) {
        Ok(argument) => S::tree(argument).encode(env),
        Err(wrong) => wrong_argument(env, S::NAME, &wrong),
    })
}

fn wrong_argument<'a>(env: Env<'a>, name: &str, wrong: &Malformed) -> Term<'a> {
    let why = format!("the argument of {name} is wrong: {wrong}");
    env.tuple(&[atom!("stop").raw(env), env.binary(why.as_bytes()).raw()])
}

/// The arguments of the command line, as the root of an application gets them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Args(pub Vec<String>);

impl Data for Args {
    fn encode<'a>(&self, env: Env<'a>) -> Term<'a> {
        self.0.encode(env)
    }

    fn decode(term: Term<'_>) -> Result<Self, Malformed> {
        Vec::decode(term).map(Self)
    }

    fn erlang_type() -> String {
        Vec::<String>::erlang_type()
    }
}

/// What the root of an application may take: nothing, or the arguments of the command line.
#[diagnostic::on_unimplemented(
    message = "the root of an application takes nothing, or `otp::Args`",
    label = "this root takes something else"
)]
pub trait RootArgument {
    const TAKES_ARGUMENTS: bool;
}

impl RootArgument for () {
    const TAKES_ARGUMENTS: bool = false;
}

impl RootArgument for (Args,) {
    const TAKES_ARGUMENTS: bool = true;
}

/// Whether a root takes the arguments of the command line.
#[doc(hidden)]
pub const fn takes_arguments<S: Supervisor>() -> bool
where
    S::Argument: RootArgument,
{
    S::Argument::TAKES_ARGUMENTS
}
