//! Tasks: the handle of one, and its services.
//!
//! - [`setup`]: the description from which `kernel!` makes one
//! - [`activate`]: activation, state, priority
//! - [`sync`]: wake-up, release, suspension
//! - [`current`]: what the calling task does with itself
//! - [`terminate`]: the end of a task
//! - [`migrate`]: tasks that change their processor
//! - [`priority`]: what a change of priority does
//!
//! A task that is dormant is always ready to begin: its fields have their first values and its stack is prepared. That
//! work is done when it ends, so that its activation has only to put it in a queue.

pub(crate) mod activate;
pub(crate) mod current;
mod handle;
pub(crate) mod migrate;
pub(crate) mod priority;
pub(crate) mod setup;
pub(crate) mod sync;
pub(crate) mod terminate;

pub use handle::Task;
