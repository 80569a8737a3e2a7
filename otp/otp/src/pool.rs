//! Pools: dynamic supervision of any number of processes of one kind, started and ended as the program runs.
//!
//! The supervisor of a pool is `otp_pool.erl`. OTP's own supervisor waits for the `init` of each child before it takes the next request;
//! that of a pool does not. Callers in Erlang use it as a simple_one_for_one supervisor.

use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use crate::atom;
use crate::behaviours::child::{Arguments, Child, How, PoolSettings};
use crate::behaviours::server::Server;
use crate::behaviours::start::{Named, StartError, Startable, outcome, read};
use crate::data::{Any, Data, Elements, Malformed};
use crate::nif::abi::RawTerm;
use crate::nif::{Atom, Env, Term};
use crate::process::address::{Pid, To, addressed};
use crate::process::reason::{CallError, Reason};
use crate::waiting::call::Call;
use crate::waiting::order::Wait;

/// A pool as a child of a tree: a supervisor of any number of `S`. A child that ends with an error is started anew with the same
/// argument, and one that ends in order is not, unless said otherwise.
pub fn pool<S: Startable>() -> PoolChild<S> {
    PoolChild {
        name: None,
        settings: PoolSettings {
            restart: atom!("transient"),
            intensity: 1,
            period: Duration::from_secs(5),
            shutdown: Some(Duration::from_secs(5)),
            most: None,
        },
        _kind: PhantomData,
    }
}

/// What [`pool`] gives, to be given to a tree.
#[derive(Debug)]
#[must_use = "a pool is one when it is given to a tree"]
pub struct PoolChild<S> {
    name: Option<Named>,
    settings: PoolSettings,
    _kind: PhantomData<fn(S)>,
}

impl<S> PoolChild<S> {
    /// Registers the pool under this name on its node, by which [`Pool::named`] finds it.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(Named::Local(name.into()));
        self
    }

    /// Registers the pool under this name among all connected nodes, by which [`Pool::global`] finds it. Another one of this name
    /// does not start.
    pub fn global_name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(Named::Global(name.into()));
        self
    }

    /// Children are started anew however they ended.
    pub fn permanent(mut self) -> Self {
        self.settings.restart = atom!("permanent");
        self
    }

    /// Children are never started anew.
    pub fn temporary(mut self) -> Self {
        self.settings.restart = atom!("temporary");
        self
    }

    /// Gives up, and ends with all children, after more than `restarts` within `period`.
    pub fn intensity(mut self, restarts: u32, period: Duration) -> Self {
        (self.settings.intensity, self.settings.period) = (restarts, period);
        self
    }

    /// How long a child may take to end before it is killed; 5 seconds unless said.
    pub fn shutdown(mut self, time: Duration) -> Self {
        self.settings.shutdown = Some(time);
        self
    }

    /// No more than `most` children at a time.
    pub fn at_most(mut self, most: usize) -> Self {
        self.settings.most = Some(most);
        self
    }
}

impl<S: Startable> From<PoolChild<S>> for Child {
    fn from(pool: PoolChild<S>) -> Self {
        let id =
            pool.name.as_ref().map_or_else(|| format!("{}_pool", S::module().name()), |name| name.text().to_owned());
        Child::new(S::module().name(), true, None, How::Pool { name: pool.name, settings: pool.settings }).id(id)
    }
}

/// How many a pool is asked for in one message: it starts them while the next ones are written, and its heap need not hold the arguments
/// of all.
const AT_ONCE: usize = 1000;

/// A running pool of `S`, or the name of one. Its children run where it does.
pub struct Pool<S> {
    to: To,
    _kind: PhantomData<fn(S)>,
}

addressed!(Pool);

impl<S: Startable> Pool<S> {
    fn ask<R: Data>(
        &self,
        what: &'static Atom,
        content: impl for<'a> FnOnce(Env<'a>) -> Term<'a> + Send + 'static,
    ) -> Call<R> {
        Call::new(self.to.clone(), move |env| env.tuple(&[what.raw(env), content(env).raw()])).without_limit()
    }

    /// Starts one more, and waits for the end of its `init`. `argument` is that of its `init`, a tuple where it has several, `()` where
    /// it has none.
    ///
    /// # Errors
    /// When its `init` fails or takes longer than [`PoolStart::within`] says, or the pool is full or not there.
    pub fn start(&self, argument: impl Arguments<S::Argument>) -> PoolStart<S> {
        let argument = argument.all();
        let call =
            self.ask::<Any>(atom!("start_child"), move |env| env.list(&[env.tuple(&argument.encode_all(env)).raw()]));
        PoolStart { call, _kind: PhantomData }
    }

    /// Has one more started and does not wait for it. If it does not start, that is told in the log and nowhere else.
    pub fn spawn(&self, argument: impl Arguments<S::Argument>) {
        let argument = argument.all();
        self.cast(atom!("start_child"), |env| env.tuple(&argument.encode_all(env)));
    }

    /// The same for each argument. Nothing is faster when the processes announce themselves, or nobody needs to know them.
    pub fn spawn_all<A: Arguments<S::Argument>>(&self, arguments: impl IntoIterator<Item = A>) {
        let mut arguments = arguments.into_iter().peekable();
        while arguments.peek().is_some() {
            self.cast(atom!("start_children"), |env| {
                let some = arguments.by_ref().take(AT_ONCE);
                let some = some.map(|argument| env.tuple(&argument.all().encode_all(env)).raw());
                env.list(&some.collect::<Vec<_>>())
            });
        }
    }

    fn cast(&self, what: &Atom, content: impl for<'a> FnOnce(Env<'a>) -> Term<'a>) {
        self.to.send(|env| {
            let request = env.tuple(&[what.raw(env), content(env).raw()]);
            env.tuple(&[atom!("$gen_cast").raw(env), request.raw()])
        });
    }

    /// Starts one for each argument, all of them side by side; what came of each stands in the order of the arguments. This is
    /// much faster than one after the other.
    ///
    /// # Errors
    /// When the pool is not there, or ends meanwhile.
    pub async fn start_all<A: Arguments<S::Argument>>(
        &self,
        arguments: impl IntoIterator<Item = A>,
    ) -> Result<Vec<Result<Server<S>, StartError>>, StartError> {
        let arguments: Vec<S::Argument> = arguments.into_iter().map(Arguments::all).collect();
        let to = self.to.clone();
        let wait = Wait::new(
            move |env, turn, number| {
                let arguments: Vec<RawTerm> =
                    arguments.iter().map(|argument| env.tuple(&argument.encode_all(env)).raw()).collect();
                turn.order(env, atom!("start_all"), &[number.encode(env), to.encode(env), env.list(&arguments)]);
            },
            all_started::<S>,
        );
        wait.await
    }

    /// Ends one and does not start it anew; `false` when it was not there.
    ///
    /// # Errors
    /// When the pool is not there.
    pub async fn stop(&self, child: &Server<S>) -> Result<bool, CallError> {
        let child = child.clone();
        let answer = self.ask::<Any>(atom!("terminate_child"), move |env| child.encode(env)).await?;
        Ok(answer.get::<()>().is_ok())
    }

    /// All that are running now.
    ///
    /// # Errors
    /// When the pool is not there.
    pub async fn children(&self) -> Result<Vec<Server<S>>, CallError> {
        type Child = (Any, Pid, Any, Any);
        let call = Call::<Vec<Child>>::new(self.to.clone(), |env| atom!("which_children").term(env));
        Ok(call.without_limit().await?.into_iter().map(|(_, pid, _, _)| Server::of(pid)).collect())
    }

    /// How many are running now.
    ///
    /// # Errors
    /// When the pool is not there.
    pub async fn count(&self) -> Result<usize, CallError> {
        type Count = (Any, usize);
        let call = Call::<Vec<Count>>::new(self.to.clone(), |env| atom!("count_children").term(env));
        let counts = call.without_limit().await?;
        counts.get(1).map(|(_, active)| *active).ok_or_else(|| CallError::Malformed(Malformed::expected("four counts")))
    }
}

/// The start of one process in a pool.
#[derive(Debug)]
#[must_use = "nothing is started until it is awaited"]
pub struct PoolStart<S> {
    call: Call<Any>,
    _kind: PhantomData<fn(S)>,
}

impl<S> PoolStart<S> {
    /// How long to wait, which is as long as it takes unless said. A process that comes out of its `init` later is one of the pool.
    pub fn within(mut self, limit: Duration) -> Self {
        self.call = self.call.within(limit);
        self
    }
}

impl<S> Future for PoolStart<S> {
    type Output = Result<Server<S>, StartError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.call).poll(context).map(|answer| outcome(answer.map_err(not_there)?))
    }
}

/// `{started, [{Place, Result}]}`, in any order, or `{down, Reason}`.
fn all_started<S>(event: Term<'_>) -> Result<Vec<Result<Server<S>, StartError>>, StartError> {
    let lost = || StartError::Failed(Reason::from("the pool gave no answer".to_owned()));
    let [what, content] = event.tuple().and_then(|event| event.array()).ok_or_else(lost)?;
    if what.is(atom!("down")) {
        return Err(StartError::Failed(Reason::decode(content).map_err(|_| lost())?));
    }
    let mut all: Vec<_> = (0..content.list_length().unwrap_or(0)).map(|_| Err(lost())).collect();
    let mut rest = content;
    while let Some((one, others)) = rest.cell() {
        rest = others;
        let Some([place, result]) = one.tuple().and_then(|one| one.array()) else { continue };
        if let Some(slot) = usize::decode(place).ok().and_then(|place| all.get_mut(place)) {
            *slot = read(result);
        }
    }
    Ok(all)
}

fn not_there(error: CallError) -> StartError {
    StartError::Failed(match error {
        CallError::Timeout(_) => return StartError::Timeout,
        CallError::Down(reason) => reason,
        other => Reason::from(other.to_string()),
    })
}
