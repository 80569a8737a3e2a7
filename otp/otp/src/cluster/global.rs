//! Global names: names that are registered among all connected nodes, as with OTP's `global`.
//!
//! A process is given such a name as it starts ([`Start::global_name`](crate::Start::global_name),
//! [`Child::global_name`](crate::Child::global_name)) or here, and is found by it from any node
//! ([`Server::global`](crate::Server::global)). Giving one asks all nodes; finding one asks none.
//!
//! **A name is borne once among nodes that see each other.** While a link is cut, both sides can give the same name. When it
//! heals, one bearer has to lose it, and [`Conflict`] says what becomes of it; one that got its name by its start is killed.

use crate::atom;
use crate::data::{Any, Data, Malformed, Name};
use crate::nif::{Env, Term};
use crate::process::address::Pid;
use crate::waiting::erlang::{Raised, apply};

/// What happens when two parts of a cluster that meet again both have the name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Conflict {
    /// One of both processes, by chance, is killed.
    #[default]
    KillOne,
    /// One of both, by chance, loses the name, and is told by a [`NameConflict`].
    TellOne,
    /// Both lose the name, and are told by a [`NameConflict`].
    TellBoth,
}

/// This process bears the name no longer, because another does: for an `#[info]`.
#[derive(Clone, Debug, PartialEq)]
pub struct NameConflict {
    pub name: Any,
    /// The other one, where both were told.
    pub other: Option<Pid>,
}

/// `{global_name_conflict, Name}`, or with the other process as a third.
impl Data for NameConflict {
    fn encode<'a>(&self, env: Env<'a>) -> Term<'a> {
        let mut parts = vec![atom!("global_name_conflict").raw(env), self.name.encode(env).raw()];
        parts.extend(self.other.as_ref().map(|other| other.encode(env).raw()));
        env.tuple(&parts)
    }

    fn decode(term: Term<'_>) -> Result<Self, Malformed> {
        let malformed = || Malformed::expected("the conflict of a global name");
        let parts = term.tuple().filter(|parts| parts.get(0).is_some_and(|tag| tag.is(atom!("global_name_conflict"))));
        let parts = parts.ok_or_else(malformed)?;
        match parts.len() {
            2 => Ok(Self { name: parts.element(1)?, other: None }),
            3 => Ok(Self { name: parts.element(1)?, other: Some(parts.element(2)?) }),
            _ => Err(malformed()),
        }
    }

    fn erlang_type() -> String {
        "{global_name_conflict, term()} | {global_name_conflict, term(), pid()}".into()
    }
}

/// Gives this process a name among all connected nodes; `false` when another has it. It bears it until it ends.
///
/// # Errors
/// When `name` can be no name.
pub async fn register(name: &str, conflict: Conflict) -> Result<bool, Raised> {
    let resolve = match conflict {
        Conflict::KillOne => atom!("random_exit_name"),
        Conflict::TellOne => atom!("random_notify_name"),
        Conflict::TellBoth => atom!("notify_all_name"),
    };
    let resolve: Any = apply("erlang", "make_fun", (Name::from(atom!("global")), Name::from(resolve), 3)).await?;
    let answer: Name = apply("global", "register_name", (named(name)?, Pid::own(), resolve)).await?;
    Ok(answer == "yes")
}

/// Takes the name away from whoever bears it.
///
/// # Errors
/// When `name` can be no name.
pub async fn unregister(name: &str) -> Result<(), Raised> {
    apply::<Any>("global", "unregister_name", (named(name)?,)).await.map(|_| ())
}

/// The process that bears the name.
///
/// # Errors
/// When `name` can be no name.
pub async fn whereis(name: &str) -> Result<Option<Pid>, Raised> {
    apply("global", "whereis_name", (named(name)?,)).await
}

/// Waits until this node knows the names of all that it is connected with, which takes a moment after a connection is made.
///
/// # Errors
/// When the nodes do not agree.
pub async fn sync() -> Result<(), Raised> {
    apply::<Result<(), Any>>("global", "sync", ())
        .await?
        .map_err(|why| Raised::Raised { class: "error".into(), reason: why })
}

fn named(name: &str) -> Result<Name, Raised> {
    Name::new(name).map_err(|wrong| Raised::Malformed(Malformed::expected(wrong.to_string())))
}
