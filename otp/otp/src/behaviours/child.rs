//! Child specifications: which process a supervisor starts, how it is started and ended, and when it is restarted.

use std::fmt;
use std::time::Duration;

use crate::atom;
use crate::behaviours::start::Named;
use crate::data::{Data, Elements};
use crate::nif::abi::RawTerm;
use crate::nif::{Atom, Env, Term};
use crate::process::reason::milliseconds;

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
    Pool { name: Option<Named>, settings: PoolSettings },
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
            Self::Pool { name, settings } => {
                let name = name.as_ref().map_or_else(|| atom!("undefined").raw(env), |name| name.long(env));
                vec![name, settings.encode(env)]
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

/// What a pool does with its children.
#[derive(Debug)]
pub(crate) struct PoolSettings {
    pub(crate) restart: &'static Atom,
    pub(crate) intensity: u32,
    pub(crate) period: Duration,
    pub(crate) shutdown: Option<Duration>,
    pub(crate) most: Option<usize>,
}

impl PoolSettings {
    pub(crate) fn encode(&self, env: Env<'_>) -> RawTerm {
        let infinity = || atom!("infinity").raw(env);
        let entries = [
            (atom!("restart"), self.restart.raw(env)),
            (atom!("intensity"), self.intensity.encode(env).raw()),
            (atom!("period"), milliseconds(self.period).encode(env).raw()),
            (atom!("shutdown"), shutdown_time(env, self.shutdown)),
            (atom!("most"), self.most.map_or_else(infinity, |most| most.encode(env).raw())),
        ];
        map(env, &entries).raw()
    }
}

impl Child {
    pub(super) fn one(
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

    pub(super) fn encode<'a>(&self, env: Env<'a>) -> Term<'a> {
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
