//! Distributed Erlang: which nodes are connected, messages when one comes or goes, and calls that another node executes.
//!
//! This layer stands on `behaviours` beside `net` and `pool`, and uses none of them.
//!
//! Processes of other nodes are used without this module: a [`Server`](crate::Server), a [`Pid`](crate::Pid), a
//! [`Monitor`](crate::Monitor) or a [`Pool`](crate::Pool) is the same whether its process is here or there. A node is named
//! `shop@10.0.0.5`, and connected to when a process first speaks to it. Both nodes must have the same cookie, and then each may do
//! all that the other may. The connections promise what OTP promises: messages from one process to another arrive in order, and are
//! lost when the link is. A node that does not answer is taken for dead after the `net_ticktime` of `kernel`, 45 to 75 seconds unless set
//! otherwise; nothing distinguishes it from a node that cannot be reached.
//!
//! ```
//! use otp::cluster::{self, NodeEvent};
//! use otp::{Init, Name, gen_server};
//!
//! /// Knows which nodes are there.
//! pub struct Watch { there: Vec<Name> }
//!
//! #[gen_server]
//! impl Watch {
//!     async fn init() -> Init<Self> {
//!         cluster::monitor_nodes();
//!         Ok(Watch { there: cluster::nodes().await })
//!     }
//!
//!     #[info]
//!     fn changed(&mut self, event: NodeEvent) {
//!         match event {
//!             NodeEvent::Up(node) => self.there.push(node),
//!             NodeEvent::Down(node) => self.there.retain(|other| *other != node),
//!         }
//!     }
//! }
//! ```

pub mod global;
mod group;

use std::fmt;
use std::time::Duration;

pub use group::{Group, GroupChange, GroupMonitor, Membership};

use crate::atom;
use crate::data::{Any, Data, Elements, Malformed, Name};
use crate::nif::abi::RawTerm;
use crate::nif::{Env, Term};
use crate::process::reason::milliseconds;
use crate::process::turn::{current, turn};
use crate::waiting::erlang::{Raised, apply};

/// The name of this node: `nonode@nohost` when it has none.
pub fn node() -> Name {
    let name = current(|env| env.adopt(env.own_pid().pid).node_name());
    name.and_then(|name| Name::new(name).ok()).unwrap_or_else(|| Name::from(atom!("nonode@nohost")))
}

/// The node of what stands for a process: a [`Pid`](crate::Pid), a [`Server`](crate::Server), or another. `None` for a name
/// that is borne among all nodes, which [`global::whereis`] can tell.
pub fn node_of(process: &impl Data) -> Option<Name> {
    current(|env| {
        let term = process.encode(env);
        if term.is_atom() {
            return Some(node());
        }
        if let Some([first, node]) = term.tuple().and_then(|tuple| tuple.array()) {
            return if first.is(atom!("global")) { None } else { Name::decode(node).ok() };
        }
        Name::new(term.node_name()?).ok()
    })
}

/// The nodes that this one is connected with, itself not among them, nor hidden ones such as consoles.
pub async fn nodes() -> Vec<Name> {
    // It raises nothing, and nodes have names.
    apply("erlang", "nodes", ()).await.unwrap_or_default()
}

/// Why a node cannot be reached.
#[derive(Clone, Debug, PartialEq, Eq, crate::Data)]
pub enum NotConnected {
    /// This node has no name, so no other can talk to it.
    NotDistributed,
    /// This node is not there, or does not let this one in.
    Unreachable(String),
}

impl fmt::Display for NotConnected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotDistributed => {
                f.write_str("this node has no name, without which it reaches no other: start it with one")
            }
            Self::Unreachable(node) => write!(
                f,
                "the node {node} cannot be reached: it does not run, its host does not answer, or its cookie is another"
            ),
        }
    }
}

impl std::error::Error for NotConnected {}

/// Connects with a node. What speaks to a process there does it as well; this tells whether it went. The process waits and does
/// nothing else; where a host does not answer, that takes as long as `net_setuptime` of `kernel` says, seven seconds.
///
/// # Errors
/// When there is no connection.
pub async fn connect(node: &str) -> Result<(), NotConnected> {
    let unreachable = || NotConnected::Unreachable(node.to_owned());
    let name = Name::new(node).map_err(|_| unreachable())?;
    match apply::<Name>("net_kernel", "connect_node", (name,)).await {
        Ok(answer) if answer == "true" => Ok(()),
        Ok(answer) if answer == "ignored" => Err(NotConnected::NotDistributed),
        _ => Err(unreachable()),
    }
}

/// Takes the connection with a node away; `false` when there was none. Whoever speaks to a process there next connects again.
///
/// `global`, in any node, takes further connections away then, unless `kernel` is told `prevent_overlapping_partitions = false`:
/// nodes that see each other are to see the same others.
pub async fn disconnect(node: &str) -> bool {
    let Ok(name) = Name::new(node) else { return false };
    apply::<Name>("erlang", "disconnect_node", (name,)).await.is_ok_and(|answer| answer == "true")
}

/// Says which secret is shared with this one node, if it is another than with all others. For the connections that come.
///
/// # Errors
/// When this node has no name.
pub async fn set_cookie(node: &Name, cookie: &Name) -> Result<(), Raised> {
    apply::<bool>("erlang", "set_cookie", (node.clone(), cookie.clone())).await.map(|_| ())
}

/// A node came or went: for an `#[info]`.
#[derive(Clone, Debug, PartialEq, Eq, crate::Data)]
pub enum NodeEvent {
    /// There is a connection with it.
    #[otp(rename = "nodeup")]
    Up(Name),
    /// There is none any more: it ended, it does not answer, or the link to it is cut.
    #[otp(rename = "nodedown")]
    Down(Name),
}

/// Sends this process a [`NodeEvent`] for each node that comes or goes. Those that are there already are not told of: ask
/// [`nodes`] after this. Asked for twice, everything is told twice.
pub fn monitor_nodes() {
    monitoring(true);
}

/// Takes one [`monitor_nodes`] back. What was sent before may still come.
pub fn demonitor_nodes() {
    monitoring(false);
}

fn monitoring(on: bool) {
    turn(|env, turn| {
        let arguments = env.list(&[on.encode(env).raw()]);
        let call = [env.atom("net_kernel").raw(), env.atom("monitor_nodes").raw(), arguments.raw()];
        turn.order(env, atom!("do"), &[atom!("apply").term(env), env.list(&call)]);
    });
}

/// Calls `module:function(arguments…)` on another node, and waits for what it returns, no longer than `limit`.
/// As with [`apply`], the process waits and does nothing else.
///
/// # Errors
/// As for [`apply`]. When the node cannot be reached, or does not answer in time, it is `error:{erpc, noconnection}` or
/// `error:{erpc, timeout}`; whether the function was called is not known then.
pub async fn apply_on<R: Data + Send + 'static>(
    node: &Name,
    limit: Duration,
    module: &str,
    function: &str,
    arguments: impl Elements + Send + 'static,
) -> Result<R, Raised> {
    let names = [module, function].map(Name::new);
    let [Ok(module), Ok(function)] = names else {
        return Err(Raised::Malformed(Malformed::expected("names of at most 255 characters")));
    };
    apply("erpc", "call", (node.clone(), module, function, Listed(arguments), milliseconds(limit))).await
}

/// Arguments as a list.
struct Listed<E>(E);

impl<E: Elements> Data for Listed<E> {
    fn encode<'a>(&self, env: Env<'a>) -> Term<'a> {
        let arguments: Vec<RawTerm> = self.0.encode_all(env);
        env.list(&arguments)
    }

    fn decode(_: Term<'_>) -> Result<Self, Malformed> {
        Err(Malformed::expected("arguments that are given, not read"))
    }

    fn erlang_type() -> String {
        Vec::<Any>::erlang_type()
    }
}
