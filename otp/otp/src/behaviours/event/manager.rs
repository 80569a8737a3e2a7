//! The address of an event manager: notifications, calls, and adding and listing handlers.

use std::fmt;
use std::future::{Future, IntoFuture};
use std::marker::PhantomData;
use std::pin::Pin;
use std::time::Duration;

use super::handler::added;
use super::returns::tuple;
use super::{EventHandler, Handler, HandlerError, HandlerName, Handles};
use crate::atom;
use crate::behaviours::child::{Arguments, Child, How};
use crate::behaviours::start::{Named, StartError};
use crate::data::{Any, Data, Malformed};
use crate::nif::{Env, Term};
use crate::process::address::{Pid, To, addressed};
use crate::process::reason::Reason;
use crate::waiting::call::{Call, replied};
use crate::waiting::erlang::{self, Raised};

/// A process that hands events of the type `E` to its handlers, or the name of one.
pub struct EventManager<E> {
    to: To,
    _kind: PhantomData<fn(E)>,
}

addressed!(EventManager);

impl<E> EventManager<E> {
    /// Starts one, linked to the process that awaits this; it may be given a name first.
    pub fn start_link() -> StartManager<E> {
        StartManager { name: None, _event: PhantomData }
    }

    /// The process, taken for a manager of such events.
    pub fn of(pid: Pid) -> Self {
        Self::at(pid.0)
    }

    /// The handler of the kind `H` that was added without a name.
    pub fn handler<H: Handles<E>>(&self) -> Handler<H> {
        Handler { manager: self.to.clone(), id: None, _kind: PhantomData }
    }

    /// The one that was added under this name.
    pub fn handler_as<H: Handles<E>>(&self, id: &impl Data) -> Handler<H> {
        Handler { manager: self.to.clone(), id: Some(Any::of(id)), _kind: PhantomData }
    }

    /// Ends it, after the `#[terminate]` of each handler.
    ///
    /// # Errors
    /// When there is none.
    pub async fn stop(self) -> Result<(), Raised> {
        erlang::apply::<()>("gen_event", "stop", (Pid(self.to),)).await
    }
}

impl<E: Data> EventManager<E> {
    /// Hands an event to all handlers, some time; nobody waits for that.
    pub fn notify(&self, event: E) {
        self.to.send(|env| env.tuple(&[atom!("notify").raw(env), event.encode(env).raw()]));
    }

    /// Hands an event to all handlers; its answer comes when all of them are through with it.
    pub fn sync_notify(&self, event: E) -> Call<()>
    where
        E: Send + 'static,
    {
        let call =
            Call::new(self.to.clone(), move |env| env.tuple(&[atom!("sync_notify").raw(env), event.encode(env).raw()]));
        call.without_limit()
    }

    /// The handlers there are, the last one that was added first.
    pub fn which_handlers(&self) -> Call<Vec<HandlerName>> {
        Call::new(self.to.clone(), |env| atom!("which_handlers").term(env)).without_limit()
    }

    /// Adds a handler, with the arguments of its `init`.
    ///
    /// # Errors
    /// When its `init` refuses or panics, or the manager is not there.
    pub async fn add_handler<H: Handles<E>>(
        &self,
        argument: impl Arguments<<H as EventHandler>::Argument>,
    ) -> Result<Handler<H>, HandlerError> {
        self.add(self.handler(), argument.all(), None).await
    }

    /// The same under a name, where several are of one kind.
    ///
    /// # Errors
    /// As for [`EventManager::add_handler`].
    pub async fn add_handler_as<H: Handles<E>>(
        &self,
        id: &impl Data,
        argument: impl Arguments<<H as EventHandler>::Argument>,
    ) -> Result<Handler<H>, HandlerError> {
        self.add(self.handler_as(id), argument.all(), None).await
    }

    /// Adds a handler for this process: it is removed when this process ends, and when it is removed, this process is sent a
    /// [`HandlerExit`](super::HandlerExit). Both are linked: when the manager ends, so does this process, unless it has an
    /// `#[info]` for an [`Exit`](crate::Exit).
    ///
    /// # Errors
    /// As for [`EventManager::add_handler`].
    pub async fn add_sup_handler<H: Handles<E>>(
        &self,
        argument: impl Arguments<<H as EventHandler>::Argument>,
    ) -> Result<Handler<H>, HandlerError> {
        self.add(self.handler(), argument.all(), Some(Pid::own())).await
    }

    /// The same under a name.
    ///
    /// # Errors
    /// As for [`EventManager::add_handler`].
    pub async fn add_sup_handler_as<H: Handles<E>>(
        &self,
        id: &impl Data,
        argument: impl Arguments<<H as EventHandler>::Argument>,
    ) -> Result<Handler<H>, HandlerError> {
        self.add(self.handler_as(id), argument.all(), Some(Pid::own())).await
    }

    async fn add<H: Handles<E>>(
        &self,
        handler: Handler<H>,
        argument: H::Argument,
        owner: Option<Pid>,
    ) -> Result<Handler<H>, HandlerError> {
        let name = handler.name();
        let call = Call::reading(
            self.to.clone(),
            move |env| {
                let what = if owner.is_some() { atom!("add_sup_handler") } else { atom!("add_handler") };
                let arguments = env.tuple(&[atom!("$start").raw(env), tuple(env, &argument).raw()]).raw();
                let mut parts = vec![what.raw(env), name.encode(env).raw(), arguments];
                parts.extend(owner.as_ref().map(|owner| owner.encode(env).raw()));
                env.tuple(&parts)
            },
            |event| added(replied(event)?),
        );
        call.without_limit().await?.map(|()| handler)
    }
}

/// The start of a manager.
#[must_use = "nothing is started until it is awaited"]
pub struct StartManager<E> {
    name: Option<Named>,
    _event: PhantomData<fn(E)>,
}

impl<E> fmt::Debug for StartManager<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StartManager").field("name", &self.name).finish()
    }
}

impl<E> StartManager<E> {
    /// Registers the process under this name on its node.
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = Some(Named::Local(name.into()));
        self
    }

    /// Registers the process under this name among all connected nodes.
    pub fn global_name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(Named::Global(name.into()));
        self
    }
}

impl<E: 'static> IntoFuture for StartManager<E> {
    type Output = Result<EventManager<E>, StartError>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        let name = self.name;
        Box::pin(async move {
            type Started = Result<Result<Pid, Any>, Raised>;
            let started: Started = match name {
                Some(name) => erlang::apply("gen_event", "start_link", (Long(name),)).await,
                None => erlang::apply("gen_event", "start_link", ()).await,
            };
            match started {
                Ok(Ok(pid)) => Ok(EventManager::of(pid)),
                Ok(Err(reason)) => Err(reason.get::<AlreadyStarted>().map_or_else(
                    |_| StartError::Failed(Reason::Other(reason)),
                    |AlreadyStarted(pid)| StartError::AlreadyStarted(pid),
                )),
                Err(raised) => Err(StartError::Failed(Reason::from(raised.to_string()))),
            }
        })
    }
}

/// A manager of events of the type `E` as a child of a supervisor, under this name.
pub fn events<E: Data>(name: impl Into<String>) -> Child {
    let name = name.into();
    let start = How::Events { name: Named::Local(name.clone()) };
    Child::new("gen_event", false, Some(Duration::from_secs(5)), start).id(name)
}

/// `{local, Name}` or `{global, Name}`.
struct Long(Named);

impl Data for Long {
    fn encode<'a>(&self, env: Env<'a>) -> Term<'a> {
        env.adopt(self.0.long(env))
    }

    fn decode(_: Term<'_>) -> Result<Self, Malformed> {
        Err(Malformed::expected("a name that is given, not read"))
    }

    fn erlang_type() -> String {
        "{local | global, atom()}".into()
    }
}

/// `{already_started, Pid}`.
struct AlreadyStarted(Pid);

impl Data for AlreadyStarted {
    fn encode<'a>(&self, env: Env<'a>) -> Term<'a> {
        env.tuple(&[atom!("already_started").raw(env), self.0.encode(env).raw()])
    }

    fn decode(term: Term<'_>) -> Result<Self, Malformed> {
        match term.tuple().and_then(|tuple| tuple.array()) {
            Some([tag, pid]) if tag.is(atom!("already_started")) => Pid::decode(pid).map(Self),
            _ => Err(Malformed::expected("{already_started, Pid}")),
        }
    }

    fn erlang_type() -> String {
        "{already_started, pid()}".into()
    }
}
