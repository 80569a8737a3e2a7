//! The programs of a small Linux machine, in one: the first process, a shell to look around, and the network with IPsec. They need no C
//! library, and no MMU: on a machine without one this is a position-independent program that puts itself in place (`start.rs`).
//!
//! From the bottom: [`sys`] calls the kernel; [`netlink`] asks and tells its network; [`programs`] are what a user types; [`shell`] reads
//! that; [`machine`] knows all of them. Other programs for such a machine use the first two, and `node::main!` for their start.
//!
//! It runs on any Linux, so that its tests need no board: `cargo run -p kizami-node -- ip link`.
#![cfg_attr(not(test), no_std)]

extern crate alloc;

#[cfg(target_os = "none")]
mod heap;
mod init;
pub mod machine;
pub mod netlink;
pub mod output;
pub mod program;
pub mod programs;
pub mod shell;
#[cfg(target_os = "none")]
pub mod start;
pub mod sys;
