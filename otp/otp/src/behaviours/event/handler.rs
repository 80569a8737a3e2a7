//! The address of one event handler in its manager: calls, deletion, and moving it to another manager.

use std::fmt;
use std::marker::PhantomData;

use super::names::reason_of;
use super::returns::tuple;
use super::{EventHandler, HandlerName, TakesOver};
use crate::atom;
use crate::behaviours::child::Arguments;
use crate::data::{Any, Carry, Data, Elements, Malformed};
use crate::nif::{Env, Term};
use crate::process::address::{Pid, To};
use crate::process::reason::{CallError, Reason};
use crate::waiting::call::{Call, replied};

/// A handler of the kind `H` in a manager. It may not be there: a call is an error then. What it can be asked is in the trait
/// `HApi`, which its attribute writes.
pub struct Handler<H> {
    pub(super) manager: To,
    pub(super) id: Option<Any>,
    pub(super) _kind: PhantomData<fn(H)>,
}

impl<H> Clone for Handler<H> {
    fn clone(&self) -> Self {
        Self { manager: self.manager.clone(), id: self.id.clone(), _kind: PhantomData }
    }
}

impl<H> fmt::Debug for Handler<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handler").field("manager", &self.manager).field("id", &self.id).finish()
    }
}

impl<H> Carry for Handler<H> {
    fn carry<'a>(&self, env: Env<'a>) -> Term<'a> {
        let manager = self.manager.encode(env);
        env.tuple(&[manager.raw(), self.id.carry(env).raw()])
    }

    fn carried(term: Term<'_>) -> Result<Self, Malformed> {
        let malformed = || Malformed::expected("a handler in its manager");
        let [manager, id] = term.tuple().and_then(|tuple| tuple.array()).ok_or_else(malformed)?;
        Ok(Self { manager: To::decode(manager)?, id: Option::carried(id)?, _kind: PhantomData })
    }
}

/// What was to be done with a handler was not.
#[derive(Clone, Debug, PartialEq)]
pub enum HandlerError {
    /// There is no such handler.
    NotThere,
    /// It said that it is not needed.
    Ignored,
    /// Its callback refused or panicked.
    Failed(Reason),
    /// What it left is of another form.
    Malformed(Malformed),
    /// The manager did not answer.
    Call(CallError),
}

impl From<CallError> for HandlerError {
    fn from(error: CallError) -> Self {
        Self::Call(error)
    }
}

impl fmt::Display for HandlerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotThere => f.write_str("there is no such handler"),
            Self::Ignored => f.write_str("the handler said that it is not needed"),
            Self::Failed(reason) => write!(f, "the handler failed: {reason}"),
            Self::Malformed(wrong) => write!(f, "what the handler left is not of its type: {wrong}"),
            Self::Call(error) => write!(f, "the manager of the handler: {error}"),
        }
    }
}

impl std::error::Error for HandlerError {}

impl<H: EventHandler> Handler<H> {
    /// What it is called in its manager.
    pub fn name(&self) -> HandlerName {
        HandlerName { module: H::module().name().to_owned(), id: self.id.clone() }
    }

    #[doc(hidden)]
    pub fn call_with<R: Data>(&self, request: impl for<'a> FnOnce(Env<'a>) -> Term<'a> + Send + 'static) -> Call<R> {
        let name = self.name();
        Call::reading(self.manager.clone(), move |env| call(env, &name, request), |event| answer(replied(event)?))
    }

    /// Removes it, after its `#[terminate]`, and gives what that returns.
    ///
    /// # Errors
    /// When it was not there, or its `#[terminate]` failed.
    pub async fn delete(self) -> Result<H::Farewell, HandlerError> {
        let name = self.name();
        let call = Call::reading(
            self.manager,
            move |env| env.tuple(&[atom!("delete_handler").raw(env), name.encode(env).raw(), atom!("delete").raw(env)]),
            |event| left::<H::Farewell>(replied(event)?),
        );
        call.without_limit().await?
    }

    /// Puts `N` in its place, with what its `#[terminate]` leaves.
    ///
    /// # Errors
    /// When the new one does not start; there is none of both then.
    pub async fn swap<N: TakesOver<Option<H::Farewell>>>(
        self,
        argument: impl Arguments<<N as TakesOver<Option<H::Farewell>>>::Argument>,
    ) -> Result<Handler<N>, HandlerError> {
        self.swap_for(argument, None).await
    }

    /// The same, where the new one is removed when this process ends, and this is told when the new one is removed: see
    /// [`EventManager::add_sup_handler`](super::EventManager::add_sup_handler).
    ///
    /// # Errors
    /// As for [`Handler::swap`].
    pub async fn swap_sup<N: TakesOver<Option<H::Farewell>>>(
        self,
        argument: impl Arguments<<N as TakesOver<Option<H::Farewell>>>::Argument>,
    ) -> Result<Handler<N>, HandlerError> {
        self.swap_for(argument, Some(Pid::own())).await
    }

    async fn swap_for<N: TakesOver<Option<H::Farewell>>>(
        self,
        argument: impl Arguments<<N as TakesOver<Option<H::Farewell>>>::Argument>,
        owner: Option<Pid>,
    ) -> Result<Handler<N>, HandlerError> {
        let (old, argument) = (self.name(), argument.all());
        let new = Handler::<N> { manager: self.manager.clone(), id: self.id.clone(), _kind: PhantomData };
        let name = new.name();
        let call = Call::reading(
            self.manager,
            move |env| swap(env, &old, &name, &argument, owner.as_ref()),
            |event| added(replied(event)?),
        );
        call.without_limit().await?.map(|()| new)
    }
}

/// `{swap_handler, Old, '$swap', New, {'$swap', Arguments}}`, or `swap_sup_handler` with the owner.
fn swap<'a>(
    env: Env<'a>,
    old: &HandlerName,
    new: &HandlerName,
    argument: &impl Elements,
    owner: Option<&Pid>,
) -> Term<'a> {
    let what = if owner.is_some() { atom!("swap_sup_handler") } else { atom!("swap_handler") };
    let swapped = atom!("$swap").raw(env);
    let arguments = env.tuple(&[swapped, tuple(env, argument).raw()]).raw();
    let mut parts = vec![what.raw(env), old.encode(env).raw(), swapped, new.encode(env).raw(), arguments];
    parts.extend(owner.map(|owner| owner.encode(env).raw()));
    env.tuple(&parts)
}

/// `{call, Handler, Request}`.
fn call<'a>(env: Env<'a>, name: &HandlerName, request: impl FnOnce(Env<'a>) -> Term<'a>) -> Term<'a> {
    env.tuple(&[atom!("call").raw(env), name.encode(env).raw(), request(env).raw()])
}

/// The reply of a handler; `{error, bad_module}` or `{error, {'EXIT', Reason}}` is that of its manager.
fn answer<R: Data>(reply: Term<'_>) -> Result<R, CallError> {
    if let Some([tag, why]) = reply.tuple().and_then(|tuple| tuple.array())
        && tag.is(atom!("error"))
    {
        if why.is(atom!("bad_module")) {
            return Err(CallError::Refused("there is no such handler".to_owned()));
        }
        if failed(why) {
            return Err(CallError::Down(reason_of(why)));
        }
    }
    R::decode(reply).map_err(CallError::Malformed)
}

/// Whether it is `{'EXIT', Reason}`.
fn failed(term: Term<'_>) -> bool {
    let pair = term.tuple().filter(|tuple| tuple.len() == 2);
    pair.and_then(|pair| pair.get(0)).is_some_and(|tag| tag.is(atom!("EXIT")))
}

/// What a handler left, `{error, module_not_found}` or `{'EXIT', Reason}`.
fn left<T: Data>(reply: Term<'_>) -> Result<Result<T, HandlerError>, CallError> {
    if failed(reply) {
        return Ok(Err(HandlerError::Failed(reason_of(reply))));
    }
    match reply.tuple().and_then(|tuple| tuple.array()) {
        Some([tag, why]) if tag.is(atom!("error")) && why.is(atom!("module_not_found")) => {
            Ok(Err(HandlerError::NotThere))
        }
        _ => Ok(T::decode(reply).map_err(HandlerError::Malformed)),
    }
}

/// `ok`, `{error, Why}`, `{'EXIT', Reason}`, or one of these in `{error, …}`.
pub(super) fn added(reply: Term<'_>) -> Result<Result<(), HandlerError>, CallError> {
    if reply.is(atom!("ok")) {
        return Ok(Ok(()));
    }
    if failed(reply) {
        return Ok(Err(HandlerError::Failed(reason_of(reply))));
    }
    Ok(Err(match reply.tuple().and_then(|tuple| tuple.array()) {
        Some([tag, why]) if tag.is(atom!("error")) => {
            if why.is(atom!("ignore")) {
                HandlerError::Ignored
            } else if why.tuple().is_some_and(|tuple| tuple.get(0).is_some_and(|tag| tag.is(atom!("error")))) {
                return added(why);
            } else {
                HandlerError::Failed(reason_of(why))
            }
        }
        _ => HandlerError::Failed(Reason::Other(Any::keep(reply))),
    }))
}
