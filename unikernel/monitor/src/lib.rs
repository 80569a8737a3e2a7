//! Runs unikernels.
//!
//! A [`Program`] is an ELF file that was checked; a [`Guest`] is a program with what it is given: memory, arguments, disks. Under
//! [`spt`] it runs as a process that may do next to nothing, under [`hvt`] as a virtual machine.
//!
//! Everything that comes from outside (the file, the disks, what the guest asks) is checked where it comes in, and is of a type of its
//! own from there on.

mod backend;
mod boot;
mod bpf;
mod confine;
mod disk;
mod event;
mod guest;
pub mod hvt;
mod log;
mod memory;
mod outcome;
mod processors;
mod program;
mod ring;
pub mod spt;
mod trace;
mod uring;

pub use backend::{Statistics, Times};
pub use disk::{Disk, DiskError, DiskOptions, lock};
pub use guest::{Engine, Guest, GuestError, Interface, Rings};
pub use outcome::{Fault, Outcome};
pub use program::{Program, ProgramError};
pub use trace::Trace;
pub use unikernel_abi::Durability;
pub use uring::works as io_uring_works;
