//! Samples as they were taken, their exact statistics, and the folder that stores them.
//!
//! Three layers, each usable without the next:
//!
//! - [`Recorder`] (always, `no_std`): a buffer that a measurement fills with samples. It never allocates and never
//!   overwrites.
//! - [`stats`] (feature `alloc`): the statistics of the samples, exact, in memory that does not grow with their number.
//! - [`folder`] (feature `std`): a recording on disk, written so that a crash loses no measured sample, and checked
//!   when it is read; [`formats`] imports and exports samples in the formats of other tools; [`foreign`] makes text of
//!   others printable.
#![cfg_attr(not(feature = "std"), no_std)]

#[cfg(feature = "alloc")]
extern crate alloc;

#[cfg(feature = "std")]
pub mod folder;
#[cfg(feature = "std")]
pub mod foreign;
#[cfg(feature = "std")]
pub mod formats;
#[cfg(feature = "std")]
pub mod profile;
#[cfg(feature = "alloc")]
pub mod quantity;
mod recorder;
#[cfg(feature = "alloc")]
pub mod stats;

pub use recorder::{Progress, Recorder};
