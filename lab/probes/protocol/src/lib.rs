//! The protocol between the lab and a probe: the request, the reports, and the memory that they share.
//!
//! The lab starts a probe with one [`Request`] and follows it by [`Report`]s, one JSON object a line, over a byte
//! stream: a pipe for a process, a serial line for a machine. Samples take one of two ways, and both end in an
//! [`Arena`]:
//!
//! - A probe that can map memory is given the arena as a file descriptor and records straight into it. Its samples
//!   outlive the probe, and a sample costs a store. A child of the lab inherits the descriptor; any other process of this
//!   machine takes it from a socket ([`handover`]).
//! - Any other probe sends [`Report::Rows`], and the lab puts the rows into the arena.
//!
//! In a virtual machine an agent starts the probe, a fresh process each time, and passes on what it reports, in
//! [`frames`]; the arena is memory that the machine was given, or rows come in frames too.
//!
//! All data from a probe is foreign: it is checked here, once.

mod arena;
pub mod frames;
mod guest;
pub mod handover;
mod loads;
mod messages;

pub use arena::{Arena, PartSize};
pub use guest::{Domain, FromGuest, ToGuest, VERSION};
pub use loads::Worked;
pub use messages::{Keep, MachineStart, Report, Request, Start, ending};

/// The descriptor under which a process finds its arena.
pub const ARENA_FD: i32 = 3;
