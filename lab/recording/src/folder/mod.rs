//! A recording on disk: a folder with `recording.json` and one samples file a series.
//!
//! - `recording.json` (`model.rs`) says everything that is needed to judge the samples. It is replaced as a whole and
//!   synced, so it is always the old one or the new one.
//! - `<series>.samples` (`samples.rs`) grows by whole rows. What was appended after the JSON was last written is found
//!   again when the folder is read.
//! - [`Writer`] writes both, [`Reader`] checks both. What is damaged is named; what is whole stays readable.

mod error;
mod measured;
mod model;
mod read;
mod samples;
mod write;

pub use error::{Damage, Error};
pub use measured::Measured;
pub use model::{Column, Effective, FORMAT_VERSION, Outcome, Recording, Series, State, Step, Trial, Unit};
pub use read::{Loaded, Reader};
pub use samples::View;
pub use write::Writer;

/// The file that makes a folder a recording.
pub const RECORDING_FILE: &str = "recording.json";
