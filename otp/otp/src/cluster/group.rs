//! Process groups on any number of nodes: OTP's `pg`.
//!
//! A group has a name and members of one kind, and exists without being created. Each node keeps the members on all nodes that it is
//! connected with, so looking them up asks no other node. A change on another node arrives a moment later; while a link is cut, the
//! nodes on each side see only their own members.
//!
//! Groups are those of OTP's default scope, `pg`, so Erlang and Elixir see them. The scope's process is started by the first use of a
//! group on a node, under a supervisor of `kernel`. Nodes on which no group was used have no members, and hear of none. Should the
//! scope's process fail, which has not been seen, it is restarted without the members of its node.

use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;
use std::task::Poll;

use crate::atom;
use crate::behaviours::server::Server;
use crate::data::{Any, Carry, Data, Malformed, Name};
use crate::nif::{Env, Term};
use crate::process::address::Pid;
use crate::process::reason::CallError;
use crate::waiting::call::Call;
use crate::waiting::erlang::{Raised, apply};

/// A group of processes of the kind `S`.
///
/// ```
/// use otp::{Group, Init, gen_server};
///
/// pub struct Lamp { on: bool }
///
/// #[gen_server]
/// impl Lamp {
///     async fn init() -> Init<Self> {
///         Group::<Lamp>::named("hall").join().await.map_err(|why| why.to_string())?;
///         Ok(Lamp { on: false })
///     }
///
///     #[cast]
///     fn switch(&mut self, on: bool) {
///         self.on = on;
///     }
/// }
///
/// // In a callback, on whatever node.
/// async fn lights_on() -> Result<usize, otp::erlang::Raised> {
///     Group::<Lamp>::named("hall").broadcast(|lamp| lamp.switch(true)).await
/// }
/// ```
pub struct Group<S> {
    name: Name,
    _kind: PhantomData<fn(S)>,
}

impl<S> Clone for Group<S> {
    fn clone(&self) -> Self {
        Self { name: self.name.clone(), _kind: PhantomData }
    }
}

impl<S> fmt::Debug for Group<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Group").field(&self.name).finish()
    }
}

impl<S> Carry for Group<S> {
    fn carry<'a>(&self, env: Env<'a>) -> Term<'a> {
        self.name.carry(env)
    }

    fn carried(term: Term<'_>) -> Result<Self, Malformed> {
        Name::carried(term).map(|name| Self { name, _kind: PhantomData })
    }
}

impl<S: 'static> Group<S> {
    /// The group of this name.
    ///
    /// # Panics
    /// When the name has more than 255 characters.
    pub fn named(name: &str) -> Self {
        let name = Name::new(name).unwrap_or_else(|wrong| panic!("{wrong}"));
        Self { name, _kind: PhantomData }
    }

    pub fn name(&self) -> &Name {
        &self.name
    }

    /// Makes this process a member, until it leaves or ends. One that joins twice is a member twice.
    ///
    /// # Errors
    /// When the scope of groups cannot be started.
    pub async fn join(&self) -> Result<(), Raised> {
        ready().await?;
        apply::<()>("pg", "join", (self.name.clone(), Pid::own())).await
    }

    /// Takes one membership of this process away; `false` when it had none.
    ///
    /// # Errors
    /// When the scope of groups cannot be started.
    pub async fn leave(&self) -> Result<bool, Raised> {
        ready().await?;
        let answer: Name = apply("pg", "leave", (self.name.clone(), Pid::own())).await?;
        Ok(answer == "ok")
    }

    /// All members that this node knows of.
    ///
    /// # Errors
    /// When the scope of groups cannot be started.
    pub async fn members(&self) -> Result<Vec<Server<S>>, Raised> {
        ready().await?;
        apply("pg", "get_members", (self.name.clone(),)).await
    }

    /// The members on this node.
    ///
    /// # Errors
    /// When the scope of groups cannot be started.
    pub async fn local_members(&self) -> Result<Vec<Server<S>>, Raised> {
        ready().await?;
        apply("pg", "get_local_members", (self.name.clone(),)).await
    }

    /// Does `cast` with each member, this process too if it is one; how many there were.
    ///
    /// # Errors
    /// When the scope of groups cannot be started.
    pub async fn broadcast(&self, cast: impl Fn(&Server<S>)) -> Result<usize, Raised> {
        let members = self.members().await?;
        members.iter().for_each(cast);
        Ok(members.len())
    }

    /// Asks all members at the same time, but for this process, which could not answer; what each said, or why it did not.
    /// It takes as long as the slowest, and no longer than one call.
    ///
    /// # Errors
    /// When the scope of groups cannot be started.
    pub async fn ask<R: Data + Send + 'static>(
        &self,
        call: impl Fn(&Server<S>) -> Call<R>,
    ) -> Result<Vec<(Server<S>, Result<R, CallError>)>, Raised> {
        let mut members = self.members().await?;
        let own = Server::own();
        members.retain(|member| *member != own);
        let answers = all(members.iter().map(call).collect()).await;
        Ok(members.into_iter().zip(answers).collect())
    }

    /// The members that there are now; each change after that is sent to this process as a [`GroupChange`].
    ///
    /// # Errors
    /// When the scope of groups cannot be started, or in OTP 25.0, which does not have this.
    pub async fn monitor(&self) -> Result<(GroupMonitor, Vec<Server<S>>), Raised> {
        ready().await?;
        let (monitor, members) = apply("pg", "monitor", (self.name.clone(),)).await?;
        Ok((GroupMonitor(monitor), members))
    }
}

/// Starts the scope of groups where it does not run.
async fn ready() -> Result<(), Raised> {
    if Pid::registered("pg").is_some() {
        return Ok(());
    }
    // As the applications of OTP do that start a process of kernel's when it is first needed. Who comes second is told that it
    // is there.
    apply::<Any>("supervisor", "start_child", (Name::from(atom!("kernel_safe_sup")), Scope)).await.map(|_| ())
}

/// The scope as a child of a supervisor.
struct Scope;

impl Data for Scope {
    fn encode<'a>(&self, env: Env<'a>) -> Term<'a> {
        let pg = env.atom("pg").raw();
        let start = env.tuple(&[pg, atom!("start_link").raw(env), env.list(&[]).raw()]);
        crate::behaviours::child::map(env, &[(atom!("id"), pg), (atom!("start"), start.raw())])
    }

    fn decode(_: Term<'_>) -> Result<Self, Malformed> {
        Err(Malformed::expected("a child that is given, not read"))
    }

    fn erlang_type() -> String {
        "supervisor:child_spec()".into()
    }
}

/// Awaits all calls side by side.
async fn all<R: Data + Send + 'static>(mut calls: Vec<Call<R>>) -> Vec<Result<R, CallError>> {
    let mut answers: Vec<Option<Result<R, CallError>>> = calls.iter().map(|_| None).collect();
    std::future::poll_fn(|context| {
        for (call, answer) in calls.iter_mut().zip(&mut answers) {
            if answer.is_none()
                && let Poll::Ready(value) = Pin::new(call).poll(context)
            {
                *answer = Some(value);
            }
        }
        if answers.iter().all(Option::is_some) {
            Poll::Ready(answers.iter_mut().filter_map(Option::take).collect())
        } else {
            Poll::Pending
        }
    })
    .await
}

/// A watch over a group.
#[derive(Clone, Debug, PartialEq)]
pub struct GroupMonitor(Any);

impl Carry for GroupMonitor {
    fn carry<'a>(&self, env: Env<'a>) -> Term<'a> {
        self.0.carry(env)
    }

    fn carried(term: Term<'_>) -> Result<Self, Malformed> {
        Any::carried(term).map(Self)
    }
}

impl GroupMonitor {
    /// Watches no longer; no [`GroupChange`] of it comes after this.
    ///
    /// # Errors
    /// None that is known.
    pub async fn cancel(self) -> Result<(), Raised> {
        apply::<Any>("pg", "demonitor", (self.0,)).await.map(|_| ())
    }
}

/// What became of members of a group.
#[derive(Clone, Debug, PartialEq)]
pub enum Membership<S> {
    Joined(Vec<Server<S>>),
    /// They left or ended, or their node cannot be reached.
    Left(Vec<Server<S>>),
}

/// A group that is watched has changed: for an `#[info]`.
#[derive(Clone, Debug, PartialEq)]
pub struct GroupChange<S> {
    pub group: Name,
    pub monitor: GroupMonitor,
    pub change: Membership<S>,
}

/// `{Monitor, join | leave, Group, [Pid]}`.
impl<S> Data for GroupChange<S> {
    fn encode<'a>(&self, env: Env<'a>) -> Term<'a> {
        let (what, members) = match &self.change {
            Membership::Joined(members) => (atom!("join"), members),
            Membership::Left(members) => (atom!("leave"), members),
        };
        let monitor = self.monitor.0.encode(env);
        env.tuple(&[monitor.raw(), what.raw(env), self.group.encode(env).raw(), members.encode(env).raw()])
    }

    fn decode(term: Term<'_>) -> Result<Self, Malformed> {
        let malformed = || Malformed::expected("a change of a group");
        let [monitor, what, group, members] = term.tuple().and_then(|tuple| tuple.array()).ok_or_else(malformed)?;
        if !monitor.is_reference() {
            return Err(malformed());
        }
        let members = Vec::decode(members)?;
        let change = if what.is(atom!("join")) {
            Membership::Joined(members)
        } else if what.is(atom!("leave")) {
            Membership::Left(members)
        } else {
            return Err(malformed());
        };
        Ok(Self { group: Name::decode(group)?, monitor: GroupMonitor(Any::keep(monitor)), change })
    }

    fn erlang_type() -> String {
        "{reference(), join | leave, atom(), [pid()]}".into()
    }
}
