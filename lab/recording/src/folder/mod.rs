//! A recording on disk: a folder with `recording.json` and one samples file a series.
//!
//! - `recording.json` (`model.rs`) holds everything that is needed to judge the samples. The file is replaced as a
//!   whole and synced, so a reader always finds the old version or the new one.
//! - `<series>.samples` (`samples.rs`) grows by whole rows. Rows that were appended after the JSON was last written are
//!   found again when the folder is read.
//! - [`Writer`] writes both, [`Reader`] checks both. Damage is named; whatever is intact stays readable.

mod error;
mod measured;
mod model;
mod read;
mod samples;
mod write;

pub use error::{Damage, Error, what_to_do};
pub use measured::{IMPORTED, Measured};
pub(crate) use model::MOST_SAMPLES;
pub use model::{
    Column, Effective, FORMAT_VERSION, HOST_FLUSHES, Outcome, PROFILE_CRC, RECORDING_FILE, Recording, Requirement,
    Series, State, Step, Trial, Unit,
};
pub use read::{Loaded, Reader};
pub use samples::View;
pub use write::Writer;
