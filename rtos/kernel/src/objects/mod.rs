//! The kinds of objects, with the services of each: one file for a kind.
//!
//! A file has the handle of its kind (made by `handle!`), what the kernel keeps of an object (its block), and the
//! services. An object may use the frame of a service and the state below it. It knows of other kinds only what its
//! services do to them: the end of a task, for instance, unlocks its mutexes.

pub(crate) mod alarm;
pub(crate) mod cyclic;
pub(crate) mod data_queue;
pub(crate) mod event_flag;
pub(crate) mod exception;
pub(crate) mod handle;
pub(crate) mod interrupt;
pub(crate) mod memory_pool;
pub(crate) mod message_buffer;
pub(crate) mod mutex;
pub(crate) mod notification;
pub(crate) mod overrun;
pub(crate) mod priority_data_queue;
pub(crate) mod semaphore;
pub(crate) mod spin_lock;
pub(crate) mod task;
