//! Samples as they were taken, their exact statistics, and the folder they are kept in.
//!
//! Three layers, each usable without the next:
//!
//! - [`Recorder`] (always, `no_std`): where a measurement puts its samples. It never allocates and never overwrites.
//! - [`stats`] (feature `alloc`): what the samples say. Exact, in memory that does not grow with their number.
//! - [`folder`] (feature `std`): a recording on disk, written so that a crash loses nothing that was measured, and
//!   checked when it is read; [`formats`] brings samples from other tools in and takes them out.
#![cfg_attr(not(feature = "std"), no_std)]

#[cfg(feature = "alloc")]
extern crate alloc;

#[cfg(feature = "std")]
pub mod folder;
#[cfg(feature = "std")]
pub mod formats;
#[cfg(feature = "alloc")]
pub mod quantity;
mod recorder;
#[cfg(feature = "alloc")]
pub mod stats;

pub use recorder::{Progress, Recorder};
