//! The protocol between the lab and a probe: the request, the reports, and the memory that they share.
//!
//! The lab starts a probe with one [`Request`] and follows it by [`Report`]s, one JSON object a line, over a byte
//! stream: a pipe for a process, a serial line for a machine. Samples take one of two ways, and both end in an
//! [`Arena`]:
//!
//! - A probe that can map memory is given the arena as a file descriptor and records straight into it. Its samples
//!   outlive the probe, and a sample costs a store.
//! - Any other probe sends [`Report::Rows`], and the lab puts the rows into the arena.
//!
//! All data from a probe is foreign: it is checked here, once.

mod arena;
mod messages;

pub use arena::{Arena, PartSize};
pub use messages::{Report, Request};

/// The descriptor under which a process finds its arena.
pub const ARENA_FD: i32 = 3;
