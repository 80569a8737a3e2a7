//! What a device may hold after a power cut.
//!
//! A [`Trace`] is what was written to a device and when it was flushed. What a flush covered is there after a power cut. Of what was
//! written since, a device may have kept any block and lost any other, and of a block that was written several times, any
//! version: its cache writes back in whatever order it likes. [`Trace::images`] goes through all of these, or through some of them where
//! they are too many.
//!
//! That is the contract of a device with a volatile cache (virtio 1.2, 5.2.6.2: a write is stable once a flush that was submitted after it
//! had completed has completed), and every device keeps it that keeps anything.

mod images;
mod recorder;
mod trace;

pub use images::Images;
pub use recorder::Recorder;
pub use trace::{Event, Trace};
