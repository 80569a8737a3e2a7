//! A process of the VM whose state is in Rust: the state, the call from the VM that works on it, and what leaves it.
//!
//! The VM calls a native function, which is a *turn* of the process ([`turn::Turn`], as in the actor literature: the handling of one
//! message). The state is found in a slab (`slab.rs`) and does its callback ([`Process`]). What native code cannot do itself
//! (call another process, link, start a timer) it *orders*: the Erlang half does it when the function has returned. This layer may
//! use `data` and `nif`. It knows nothing of futures, of behaviours, or of what they send.

pub(crate) mod address;
mod behaviour;
mod callbacks;
pub(crate) mod description;
pub(crate) mod drops;
pub(crate) mod events;
pub(crate) mod links;
mod module;
pub(crate) mod number;
pub(crate) mod panic;
pub(crate) mod rate;
pub(crate) mod reason;
pub(crate) mod resource;
pub(crate) mod send;
pub(crate) mod slab;
pub(crate) mod slot;
pub(crate) mod turn;
pub(crate) mod waits;

pub use behaviour::{Behaviour, NotRestored, Restore, Started, behaviours};
pub use callbacks::Process;
pub use module::{Module, in_application};
