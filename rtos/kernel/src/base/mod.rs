//! The basis of all services: cells, queues, deadlines, contexts, and what a port provides.
//!
//! Nothing here knows a kernel: a queue and a heap are generic over what is in them ([`ring::Queued`],
//! [`heap::Timed`]), and each is tested by itself. This is the lowest layer.

pub(crate) mod cell;
pub(crate) mod class;
pub(crate) mod context;
pub(crate) mod error;
pub(crate) mod handler;
pub(crate) mod heap;
pub(crate) mod model;
pub mod port;
pub(crate) mod ready;
pub(crate) mod ring;
pub(crate) mod stack;
pub(crate) mod timeout;
