//! What a kernel keeps: processors, tasks, their waits and deadlines, the clock.
//!
//! A task refers to its processor, and a processor to its tasks. [`config::Config`] names the type of the processor, so
//! that only `processor.rs` knows the other; mutexes and messages, which tasks refer to while they hold or wait for
//! them, are generic over the task. [`storage::Storage`] is where all of it is. This layer may use `base`; it has no
//! services.

pub(crate) mod account;
pub(crate) mod clock;
pub(crate) mod config;
pub(crate) mod messages;
pub(crate) mod ownership;
pub(crate) mod processor;
pub(crate) mod queue;
pub(crate) mod spin;
pub(crate) mod storage;
pub(crate) mod tcb;
pub(crate) mod timer;
pub(crate) mod waiting;
