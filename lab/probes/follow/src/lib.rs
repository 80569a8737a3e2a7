//! A plugin of QEMU's that follows an emulated machine: how many instructions each function of its kernel takes, and on whose behalf.
//!
//! QEMU translates the machine's code block by block, and tells a plugin of each block when it is translated and whenever it runs. A
//! block belongs to the function whose symbol is the last before it. Who called whom is followed by where blocks begin ([`stacks`]); which
//! task runs, by the memory at which the kernel keeps what it saves of one and takes of the next.
//!
//! What is counted lies between two calls of a function that nothing else calls; the program that is measured makes them. At the second,
//! a file is written: a line for each stack, from the outermost function on, and its instructions (as flame graphs are made of).
//!
//! The arguments are `symbols=FILE` (a line `ADDRESS NAME` for each function, the address in hexadecimal), `out=FILE`, `mark=NAME` and
//! `switch=NAME`.

mod follow;
#[cfg(not(test))]
mod qemu;
pub mod stacks;
pub mod symbols;

pub use follow::{Block, Follower};
