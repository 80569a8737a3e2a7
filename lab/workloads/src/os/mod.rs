//! Linux services that workloads and loads share: system calls, sockets, processors, memory that processes share, and
//! the interruption of blocked calls.
//!
//! Nothing here is measured by itself, and nothing here is a workload.

pub(crate) mod child;
pub(crate) mod cpus;
pub(crate) mod memory;
pub(crate) mod net;
pub(crate) mod outside;
pub(crate) mod residency;
pub(crate) mod sys;
pub(crate) mod watch;
