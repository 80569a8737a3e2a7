//! The kernel, called without a C library: one file for each kind of thing that it has.
//!
//! Numbers and structures are those of the crate `linux-raw-sys`. Of several calls for one purpose the one is used that has the same
//! structures on every processor (`statx`, `ppoll`, times of 64 bits).

mod call;
mod errno;
pub mod files;
pub mod memory;
pub mod process;
pub mod signals;
pub mod sockets;
pub mod time;

pub use call::{Arguments, call};
pub use errno::{Errno, Result};
pub use files::Fd;
