//! What the lab and a probe say to each other, and the memory they share.
//!
//! The lab starts a probe with one [`Request`] and follows it by [`Report`]s, one JSON object a line, over a byte stream:
//! a pipe for a process, a serial line for a machine. Samples come in one of two ways, and end in an [`Arena`] in both:
//!
//! - A probe that can map memory is given the arena as a file descriptor and records straight into it. Its samples
//!   outlive it, and taking them costs a store.
//! - Any other sends [`Report::Rows`], and the lab puts them into the arena.
//!
//! Everything a probe sends is foreign: it is checked here, once.

mod arena;
mod messages;

pub use arena::{Arena, PartSize};
pub use messages::{Report, Request};

/// The descriptor under which a process finds its arena.
pub const ARENA_FD: i32 = 3;
