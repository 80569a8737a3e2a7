//! Files on a block device that survive a power cut.
//!
//! ```
//! use unikernel_files::{Files, Memory};
//!
//! let mut files = Files::format(Memory::new(512, 4096))?;
//! let log = files.create("sensor/log")?;
//! files.append(log, b"21.5 degrees\n")?;
//! files.sync()?;
//! // Whatever happens now, this is there when the device is mounted again.
//! let mut files = Files::mount(files.into_disk())?;
//! let log = files.open("sensor/log")?;
//! assert_eq!(files.read(log)?, b"21.5 degrees\n");
//! # Ok::<(), unikernel_files::Error>(())
//! ```
//!
//! # What is promised
//!
//! - [`Files::sync`] makes everything that was done before it durable, all of it or nothing: a file that was written in a hundred places, two
//!   files that belong together, a rename. After a power cut the device holds the state of the last `sync` that returned, or
//!   of one that had begun, never something between.
//! - A sync costs one flush of the device, unless more than 16 MiB were written since the last, or they lie in more than 128 pieces: then two.
//! - The device may write what it was given between two flushes in any order, and lose any block of it. A block is
//!   written whole or not at all; larger things may be torn.
//! - An error loses nothing that was synced. A full device says so before it writes; what was to be overwritten is still there. If a flush
//!   fails, nobody knows what the device has: nothing is written to it any more.
//!
//! # How
//!
//! Nothing that a sync has made durable is overwritten: new data goes to free pages, and becomes part of its file with the record that
//! `sync` appends to a log. The record has a checksum of itself *and of the data*, so that both can be written at once, with one flush
//! behind them: where power failed in between, the checksums say so, and the record counts for nothing. What it freed is free after the flush.
//! When the log is full, the state of all files is written to a second area, in the same way, and the log begins there.
//!
//! ```text
//! page 0  1   2              2 + area       2 + 2 area
//!    ┌──┬──┬──────────────┬──────────────┬──────────────────┐
//!    │ S│ S│ snapshot log │ snapshot log │ data             │
//!    └──┴──┴──────────────┴──────────────┴──────────────────┘
//! ```
//!
//! What is not here: folders (a name may have slashes, and [`Files::list`] takes a prefix), owners, times, checksums of data at rest.

#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

mod check;
mod commit;
mod crc;
mod disk;
mod entry;
mod error;
mod files;
mod fresh;
#[cfg(test)]
mod fuzz;
mod layout;
mod memory;
mod mount;
mod pages;
mod pending;
mod record;
mod room;
mod table;
mod write;

pub use check::{Report, check};
pub use disk::{Disk, DiskError, Geometry};
pub use error::Error;
pub use files::{File, Files, Space};
pub use layout::{LEAST_BYTES, PAGE};
pub use memory::Memory;
