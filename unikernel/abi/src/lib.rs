//! What a unikernel and its monitors agree on.
//!
//! A monitor puts the program into memory at [`IMAGE`], tells it of its world in a [`Boot`] page, and enters it at the entry of its ELF file, in
//! 64 bits, with the address of that page in `rdi`. How the program asks for something depends on the monitor ([`Kind`]): under
//! spt by a few system calls of Linux that a filter lets through, under hvt by a write to where no memory is ([`call`]). A machine of
//! somebody else's enters the same file as PVH has it, and tells it of its world in a [`mod@line`] of text.
//!
//! ```text
//! 0          nothing: a null pointer is a fault
//! 0x10000    the boot page and what it points to, read only
//! 0x30000    what the monitor needs there
//! 0x40000    rings of devices
//! 0x100000   the program: code read only, constants read only, data
//!            heap
//!            a page that is not there, and the stack above it
//! end        of the memory
//! ```

#![no_std]
#![forbid(unsafe_code)]

pub mod boot;
pub mod call;
pub mod line;
pub mod manifest;
pub mod pvclock;
pub mod ring;
pub mod status;
pub mod writes;

pub use boot::{Boot, Counts, Device, Durability, Kind};
pub use status::Status;

/// The layout of memory and of what is in it. A monitor refuses a program of another one.
pub const VERSION: u32 = 1;

/// The size of a page of memory.
pub const PAGE: u64 = 4096;
/// Where the guest's memory begins; nothing is below it.
pub const START: u64 = 0x1_0000;
/// The boot page.
pub const BOOT: u64 = START;
/// What is told besides ends here; the pages from here to the rings are the monitor's.
pub const BOOT_END: u64 = 0x3_0000;
/// Rings of devices.
pub const RINGS: u64 = 0x4_0000;
/// The program.
pub const IMAGE: u64 = 0x10_0000;
/// Of the stack, at the end of the memory.
pub const STACK: u64 = 256 << 10;
/// A guest has at least this much.
pub const LEAST_MEMORY: u64 = 2 << 20;
/// And at most this much.
pub const MOST_MEMORY: u64 = 1 << 40;
/// The most devices of a guest.
pub const MOST_DEVICES: usize = 16;

/// How a guest ends that did not end by itself.
pub mod exit {
    /// A panic, as of any program in Rust.
    pub const PANIC: u8 = 101;
    /// It accessed memory that it has not, or executed what is no instruction.
    pub const FAULT: u8 = 102;
    /// It asked for something that is none of the things that it may ask for.
    pub const VIOLATION: u8 = 103;
}
