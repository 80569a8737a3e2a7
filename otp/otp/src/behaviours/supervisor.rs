//! supervisor: the tree of processes of an application, and what happens when one of them ends.
//!
//! The supervisor process is OTP's. A [`Tree`] is what its `init/1` returns.

use std::time::Duration;

use crate::atom;
pub use crate::behaviours::child::{Arguments, Child};

use crate::behaviours::child::map;
use crate::behaviours::start::Startable;
use crate::data::{Data, Elements, Malformed};
use crate::nif::abi::RawTerm;
use crate::nif::{Atom, Env, Term};
use crate::process::Started;
use crate::process::turn::Turn;

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

/// A gen_server as a child. `argument` is that of its `init`, a tuple where it has several, `()` where it has none.
pub fn worker<S: Startable>(argument: impl Arguments<S::Argument>) -> Child {
    Child::one(S::module().name(), false, Some(Duration::from_secs(5)), argument.all())
}

/// Another supervisor as a child: the function that `#[supervisor]` stands before, as a type.
pub fn supervisor<S: Supervisor>(argument: impl Arguments<S::Argument>) -> Child {
    Child::one(S::module().name(), true, None, argument.all())
}

/// A supervisor. The attribute `#[supervisor]` writes this.
pub trait Supervisor: 'static {
    /// The name of its module in Erlang.
    fn module() -> &'static Atom;
    type Argument: Elements + 'static;

    fn tree(argument: Self::Argument) -> Tree;
}

/// What OTP's supervisor gets from its `init/1`.
#[doc(hidden)]
pub fn init<'a, S: Supervisor>(env: Env<'a>, _: &Turn, argument: Term<'a>) -> Started<'a> {
    Started::Else(match S::Argument::decode_all(argument) {
        Ok(argument) => S::tree(argument).encode(env),
        Err(wrong) => wrong_argument(env, S::module().name(), &wrong),
    })
}

fn wrong_argument<'a>(env: Env<'a>, name: &str, wrong: &Malformed) -> Term<'a> {
    let why = format!("the argument of {name} is wrong: {wrong}");
    env.tuple(&[atom!("stop").raw(env), env.binary(why.as_bytes()).raw()])
}

/// The arguments of the command line, as the root of an application gets them: what stands after `--` of `cargo otp run` or of a
/// release's `foreground`.
///
/// Another program whose VM this application is started in (`mix run`, a release of Elixir's) has a command line of its own. There the
/// arguments are those of the application's parameter `arguments`, a list of texts, which comes before the command line everywhere;
/// without one there are none.
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
