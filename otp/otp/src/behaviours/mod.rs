//! OTP's behaviours: gen_server, gen_statem, gen_event and supervisor.
//!
//! A behaviour here is a trait that an attribute (`#[gen_server]`, …) implements, and a process that calls it. All of them keep
//! their state in a [`host::Host`], which lends it to a callback, and return what `returns.rs` lists. This layer may use
//! `waiting` and everything below it. It knows nothing of what is built of behaviours: pools, clusters, sockets, tests.

pub(crate) mod carried_state;
pub(crate) mod child;
pub mod event;
mod handle;
pub mod host;
pub(crate) mod returns;
pub mod server;
pub(crate) mod shown_state;
pub mod start;
pub mod statem;
pub mod supervisor;
