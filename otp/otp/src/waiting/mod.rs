//! What a callback can await: calls, tasks, timers, Erlang functions, mailboxes, jobs on dirty schedulers.
//!
//! A future is polled until it cannot go on. Then the native function returns, the Erlang half waits for what was ordered in a
//! selective receive, and the next turn polls the future again (`future.rs`, `order.rs`). This layer may use `process` and everything
//! below it. It knows nothing of the behaviours whose callbacks wait.

pub(crate) mod call;
pub mod erlang;
pub(crate) mod future;
pub(crate) mod mailbox;
pub(crate) mod order;
#[expect(unsafe_code, reason = "the VM's interface is C")]
pub(crate) mod poll;
pub(crate) mod scheduling;
pub(crate) mod task;
pub mod time;
pub(crate) mod unpack;
