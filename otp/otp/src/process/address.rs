//! Addresses: a process, or a registered name of one, on this node or another.

use std::any::type_name;
use std::fmt;

use crate::atom;
use crate::data::{Any, Data, Malformed, types};
use crate::nif::abi::{RawPid, RawTerm};
use crate::nif::{Env, Term};
use crate::process::send::{registered, send_by_courier, send_from_anywhere};
use crate::process::turn::{Form, Turn, Within, anywhere, current, try_turn, within};

/// A process, or the name of one.
#[derive(Clone, PartialEq)]
pub(crate) enum To {
    Local(RawPid),
    /// A name on this node: an atom.
    Name(RawTerm),
    /// A process of another node, `{Name, Node}`, `{global, Name}` or `{via, Module, Name}`.
    Far(Any),
}

impl To {
    pub(crate) fn name(name: &str) -> Self {
        Self::Name(atom(name))
    }

    pub(crate) fn name_on(name: &str, node: &str) -> Self {
        Self::Far(Any::made(|env| env.tuple(&[env.atom(name).raw(), env.atom(node).raw()])))
    }

    pub(crate) fn global(name: &str) -> Self {
        Self::Far(Any::made(|env| env.tuple(&[atom!("global").raw(env), env.atom(name).raw()])))
    }

    /// The process of this node, if it is one now.
    #[inline]
    fn local(&self, env: Env<'_>) -> Option<RawPid> {
        match self {
            Self::Local(pid) => Some(*pid),
            Self::Name(name) => env.adopt(*name).registered(),
            Self::Far(_) => None,
        }
    }

    /// Sends it the message that `make` makes; to nobody when there is nobody.
    #[inline]
    pub(crate) fn send(&self, make: impl for<'a> FnOnce(Env<'a>) -> Term<'a>) {
        self.post(Form::Bare, make);
    }

    /// The same, as a cast.
    #[inline]
    pub(crate) fn cast(&self, make: impl for<'a> FnOnce(Env<'a>) -> Term<'a>) {
        self.post(Form::Cast, make);
    }

    #[inline(always)]
    fn post(&self, form: Form, make: impl for<'a> FnOnce(Env<'a>) -> Term<'a>) {
        within(Post { to: self, form, make }, Post::on_a_thread);
    }
}

/// Sends what `make` makes.
struct Post<'t, F> {
    to: &'t To,
    form: Form,
    make: F,
}

impl<F: for<'a> FnOnce(Env<'a>) -> Term<'a>> Post<'_, F> {
    /// A thread of the user's sends for itself; what it sends to one address arrives in order.
    #[cold]
    #[inline(never)]
    fn on_a_thread(self) {
        let Self { to, form, make } = self;
        let local = match to {
            To::Local(pid) => Some(*pid),
            To::Name(name) => registered(*name),
            To::Far(_) => return send_by_courier(|env| [to.encode(env), form.message(make(env))]),
        };
        if let Some(pid) = local {
            send_from_anywhere(pid, |env| form.message(make(env)));
        }
    }
}

impl<F: for<'a> FnOnce(Env<'a>) -> Term<'a>> Within<()> for Post<'_, F> {
    #[inline(always)]
    fn run<'a>(self, env: Env<'a>, turn: &'a Turn) {
        let Self { to, form, make } = self;
        if let Some(pid) = to.local(env) {
            turn.send(env, pid, |env| form.message(make(env)));
        } else if let To::Far(_) = to {
            let message = form.message(make(env));
            turn.order(env, atom!("send"), &[to.encode(env), message]);
        }
    }
}

impl Data for To {
    #[inline]
    fn encode<'a>(&self, env: Env<'a>) -> Term<'a> {
        match self {
            Self::Local(pid) => env.adopt(pid.pid),
            Self::Name(name) => env.adopt(*name),
            Self::Far(far) => far.encode(env),
        }
    }

    #[inline]
    fn decode(term: Term<'_>) -> Result<Self, Malformed> {
        if let Some(pid) = term.local_pid() {
            return Ok(Self::Local(pid));
        }
        if term.is_atom() {
            return Ok(Self::Name(term.raw()));
        }
        let named = || {
            let tuple = term.tuple()?;
            let first = tuple.get(0)?;
            let pair = tuple.len() == 2 && first.is_atom() && (tuple.get(1)?.is_atom() || first.is(atom!("global")));
            let via = tuple.len() == 3 && first.is(atom!("via")) && tuple.get(1)?.is_atom();
            Some(pair || via)
        };
        if term.is_pid() || named().unwrap_or(false) {
            return Ok(Self::Far(Any::keep(term)));
        }
        Err(Malformed::expected("a process or the name of one"))
    }

    fn erlang_type() -> String {
        types::named(
            type_name::<Self>(),
            "process",
            "A process, or its name on this node, on another or elsewhere.",
            || "pid() | atom() | {atom(), node()} | {global, term()} | {via, module(), term()}".into(),
        )
    }
}

impl fmt::Debug for To {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Any::of(self).fmt(f)
    }
}

/// The atom of this name, on whatever thread: an atom is a word that belongs to no environment.
fn atom(name: &str) -> RawTerm {
    anywhere(|env| env.atom(name).raw())
}

/// What the typed addresses have in common, each a `struct Name<S> { to: To, _kind: PhantomData<…> }`: the names that they are made of, copies
/// that go to the same process, and the form in Erlang, which is that of what they go to.
macro_rules! addressed {
    ($name:ident) => {
        impl<S> $name<S> {
            pub(crate) fn at(to: $crate::process::address::To) -> Self {
                Self { to, _kind: ::core::marker::PhantomData }
            }

            /// Whoever bears this name on this node when it is used.
            pub fn named(name: &str) -> Self {
                Self::at($crate::process::address::To::name(name))
            }

            /// Whoever bears this name on another node.
            pub fn named_on(name: &str, node: &str) -> Self {
                Self::at($crate::process::address::To::name_on(name, node))
            }

            /// Whoever bears this name among all connected nodes.
            pub fn global(name: &str) -> Self {
                Self::at($crate::process::address::To::global(name))
            }
        }

        impl<S> Clone for $name<S> {
            fn clone(&self) -> Self {
                Self::at(self.to.clone())
            }
        }

        impl<S> PartialEq for $name<S> {
            fn eq(&self, other: &Self) -> bool {
                self.to == other.to
            }
        }

        impl<S> ::core::fmt::Debug for $name<S> {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                f.debug_tuple(stringify!($name)).field(&self.to).finish()
            }
        }

        impl<S> $crate::Data for $name<S> {
            fn encode<'a>(&self, env: $crate::vm::Env<'a>) -> $crate::vm::Term<'a> {
                self.to.encode(env)
            }

            #[inline]
            fn decode(term: $crate::vm::Term<'_>) -> Result<Self, $crate::Malformed> {
                <$crate::process::address::To as $crate::Data>::decode(term).map(Self::at)
            }

            fn erlang_type() -> String {
                <$crate::process::address::To as $crate::Data>::erlang_type()
            }
        }

        impl<S> $crate::Carry for $name<S> {
            fn carry<'a>(&self, env: $crate::vm::Env<'a>) -> $crate::vm::Term<'a> {
                $crate::Data::encode(self, env)
            }

            fn carried(term: $crate::vm::Term<'_>) -> Result<Self, $crate::Malformed> {
                $crate::Data::decode(term)
            }
        }
    };
}

pub(crate) use addressed;

crate::carry_as_data!(Pid);

/// A process of whatever kind, of this node or another.
#[derive(Clone, PartialEq)]
pub struct Pid(pub(crate) To);

impl Pid {
    /// The process that runs this.
    pub fn own() -> Self {
        Self(To::Local(current(|env| env.own_pid())))
    }

    /// The process of this node that bears the name now.
    pub fn registered(name: &str) -> Option<Self> {
        let found = match try_turn(|env, _| env.atom(name).registered()) {
            Some(found) => found,
            None => registered(atom(name)),
        };
        found.map(|pid| Self(To::Local(pid)))
    }

    /// Sends it a message: what its `#[info]` takes, or any process of Erlang's. Any thread may do this, also one of your own:
    /// what one thread sends to one address arrives in the order in which it was sent.
    pub fn send<T: Data>(&self, message: &T) {
        self.0.send(|env| message.encode(env));
    }
}

impl fmt::Debug for Pid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Data for Pid {
    fn encode<'a>(&self, env: Env<'a>) -> Term<'a> {
        self.0.encode(env)
    }

    fn decode(term: Term<'_>) -> Result<Self, Malformed> {
        if term.is_pid() { To::decode(term).map(Self) } else { Err(Malformed::expected("a process")) }
    }

    fn erlang_type() -> String {
        "pid()".into()
    }
}
