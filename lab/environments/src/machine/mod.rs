//! Virtual machines: the probe on a kernel of its own, on a machine that a monitor makes.
//!
//! A machine is booted once for the trials of a run that ask for the same one, and paused between them: each trial has a
//! fresh process in it. Samples go into memory that the machine was given and the lab has mapped too, so that they
//! outlive a guest that panics or hangs; where a board has no place for such memory, they are sent.

mod board;
mod boot;
mod disk;
mod guest;
mod kept;
mod kernels;
mod monitor;
mod network;
mod qemu;
mod qmp;
mod quiet;
mod session;
mod ticks;
mod xen;

pub use qemu::Qemu;
pub use xen::{DOM0, DOMU};

pub static QEMU: Qemu = Qemu::new();
