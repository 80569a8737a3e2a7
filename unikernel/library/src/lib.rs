//! A library operating system: a program in Rust that is its own kernel.
//!
//! ```ignore
//! #![no_std]
//! #![no_main]
//!
//! use unikernel::{BlockDevice, ExitCode, Files, println};
//!
//! #[unikernel::main(blocks = ["data"])]
//! fn main() -> ExitCode {
//!     let mut files = Files::mount(BlockDevice::open("data").unwrap()).unwrap();
//!     let log = files.open_or_create("log").unwrap();
//!     files.append(log, b"started\n").unwrap();
//!     files.sync().unwrap();
//!     println!("{} bytes of log", files.size(log).unwrap());
//!     ExitCode::SUCCESS
//! }
//! ```
//!
//! `unikernel run` builds such a program and starts it, as a process that may do next to nothing (spt) or as a virtual machine (hvt). With
//! plain `cargo run` the same source is a program for Linux: its devices are then the files that `UNIKERNEL_BLOCK_data=disk.img` names.
//!
//! One thread, no interrupts, no signals: what the program waits for it asks for. There is no network.

#![cfg_attr(unikernel, no_std)]
#![warn(missing_docs)]

#[doc(hidden)]
pub extern crate alloc;

mod aligned;
mod block;
mod console;
mod environment;
mod exit;
mod memory;
mod stream;
mod time;

#[cfg(unikernel)]
#[path = "bare/mod.rs"]
mod system;
#[cfg(not(unikernel))]
#[path = "host.rs"]
mod system;

pub use aligned::PageAligned;
pub use block::{BlockDevice, BlockError, Interface, devices};
pub use console::_write;
pub use environment::{arguments, variable};
pub use exit::{ExitCode, Termination};
pub use memory::{Memory, memory};
pub use stream::Stream;
pub use time::{now, since_start};
pub use unikernel_abi::{Counts, Durability, Status};
pub use unikernel_files::{self as files, Files};
pub use unikernel_macros::main;

/// What `#[unikernel::main]` makes use of.
#[doc(hidden)]
pub mod rt {
    pub use crate::exit::Termination;
    pub use unikernel_abi::manifest::{Note, is_name};
}

/// On the bare machine the monitor enters the program by itself.
#[cfg(unikernel)]
#[doc(hidden)]
#[macro_export]
macro_rules! __entry {
    () => {};
}

/// On Linux the C library calls this.
#[cfg(not(unikernel))]
#[doc(hidden)]
#[macro_export]
macro_rules! __entry {
    () => {
        #[unsafe(export_name = "main")]
        extern "C" fn called_by_the_c_library(_count: i32, _arguments: *const *const u8) -> i32 {
            i32::from(unikernel_main())
        }
    };
}
