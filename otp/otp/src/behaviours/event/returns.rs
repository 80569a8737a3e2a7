//! Return values of an event handler's callbacks.

use std::fmt;

use super::{EventHandler, TakesOver};
use crate::atom;
use crate::behaviours::child::Arguments;
use crate::behaviours::statem::NoReply;
use crate::data::{Data, Elements};
use crate::nif::{Env, Term};

/// What becomes of a handler after an event. `Handled<Self, R>` is that after a `#[call]`, which is answered at once.
#[must_use = "this is what a callback returns"]
pub struct Handled<H, R = NoReply> {
    what: What,
    pub(super) reply: Option<R>,
    _handler: std::marker::PhantomData<fn(H)>,
}

enum What {
    Keep,
    Hibernate,
    Remove,
    Swap(Swap),
}

/// The module of the handler that comes instead, and the arguments of its `#[take_over]`.
type Swap = Box<dyn for<'a> FnOnce(Env<'a>) -> [Term<'a>; 2] + Send>;

impl<H: EventHandler> Handled<H> {
    fn new(what: What) -> Self {
        Self { what, reply: None, _handler: std::marker::PhantomData }
    }

    /// It stays.
    pub fn keep() -> Self {
        Self::new(What::Keep)
    }

    /// It stays, and the manager with all its handlers lies in as little memory as can be until the next event.
    pub fn hibernate() -> Self {
        Self::new(What::Hibernate)
    }

    /// It is removed, after its `#[terminate]`.
    pub fn remove() -> Self {
        Self::new(What::Remove)
    }

    /// `N` takes its place, with what its `#[terminate]` leaves and these arguments.
    pub fn swap<N: TakesOver<Option<H::Farewell>>>(
        argument: impl Arguments<<N as TakesOver<Option<H::Farewell>>>::Argument>,
    ) -> Self {
        let argument = argument.all();
        Self::new(What::Swap(Box::new(move |env| [N::module().term(env), tuple(env, &argument)])))
    }

    /// Answers the call.
    pub fn reply<R>(self, reply: R) -> Handled<H, R> {
        Handled { what: self.what, reply: Some(reply), _handler: self._handler }
    }
}

pub(super) fn tuple<'a>(env: Env<'a>, elements: &impl Elements) -> Term<'a> {
    env.tuple(&elements.encode_all(env))
}

impl<H, R> Handled<H, R> {
    /// `keep`, `hibernate`, `remove` or `{swap, Module, Arguments}`.
    pub(super) fn encode_what<'a>(self, env: Env<'a>) -> Term<'a> {
        match self.what {
            What::Keep => atom!("keep").term(env),
            What::Hibernate => atom!("hibernate").term(env),
            What::Remove => atom!("remove").term(env),
            What::Swap(swap) => {
                let [module, arguments] = swap(env);
                env.tuple(&[atom!("swap").raw(env), module.raw(), arguments.raw()])
            }
        }
    }
}

impl<H, R: Data> Handled<H, R> {
    /// `{reply, Reply, What}`.
    pub(super) fn encode_reply<'a>(self, env: Env<'a>) -> Term<'a> {
        let reply = self.reply.as_ref().map_or_else(|| atom!("ok").term(env), |reply| reply.encode(env));
        let what = self.encode_what(env);
        env.tuple(&[atom!("reply").raw(env), reply.raw(), what.raw()])
    }
}

impl<H, R> fmt::Debug for Handled<H, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.what {
            What::Keep => "Handled::keep",
            What::Hibernate => "Handled::hibernate",
            What::Remove => "Handled::remove",
            What::Swap(_) => "Handled::swap",
        })
    }
}

/// What a callback may return that nobody waits for: nothing, or a [`Handled`].
#[diagnostic::on_unimplemented(
    message = "nobody waits for what this callback returns: it returns nothing, or `Handled<Self>`",
    label = "`{Self}` is neither"
)]
pub trait IntoHandled<H: EventHandler> {
    fn into_handled(self) -> Handled<H>;
}

impl<H: EventHandler> IntoHandled<H> for () {
    fn into_handled(self) -> Handled<H> {
        Handled::keep()
    }
}

impl<H: EventHandler> IntoHandled<H> for Handled<H> {
    fn into_handled(self) -> Handled<H> {
        self
    }
}

/// What a `#[call]` may return: the reply, or a [`Handled`] with one.
#[diagnostic::on_unimplemented(
    message = "a #[call] cannot return `{Self}`, because it has no form in Erlang",
    label = "this is neither `Data` nor a `Handled<Self, Reply>`",
    note = "`#[derive(otp::Data)]` gives a type of yours a form"
)]
pub trait IntoHandledReply<H: EventHandler> {
    type Value: Data;
    fn into_handled(self) -> Handled<H, Self::Value>;
}

impl<H: EventHandler, T: Data> IntoHandledReply<H> for T {
    type Value = T;

    fn into_handled(self) -> Handled<H, T> {
        Handled::keep().reply(self)
    }
}

impl<H: EventHandler, R: Data> IntoHandledReply<H> for Handled<H, R> {
    type Value = R;

    fn into_handled(self) -> Self {
        self
    }
}
