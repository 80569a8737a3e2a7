//! The frame of a service, and dispatching: what every service begins and ends with.
//!
//! A service locks, checks, changes what the kernel keeps, and gives way to a task that has become the highest
//! ([`frame::Service`]). Giving way is dispatching (`dispatch.rs`), at which the processor time of tasks is accounted
//! (`accounting.rs`). `refusal.rs` has the order in which
//! arguments and contexts are refused. This layer may use `state` and `base`; it knows no kind of object.

pub(crate) mod accounting;
pub(crate) mod dispatch;
pub(crate) mod frame;
pub(crate) mod refusal;
