//! Import and export of samples, in the formats of other tools.
//!
//! - [`csv`]: every sample of a series with all of its columns, for any further use. Export only.
//! - [`nerves`]: the rows of nerves_rt_perf, the program of the Nerves study. Import and export.
//! - [`cyclictest`]: the JSON of cyclictest (rt-tests), with its histogram. Import and export.
//! - `oslat`: the JSON of oslat (rt-tests), with its histograms. Import only, as all that follow.
//! - `jitterdebugger`: its JSON, with a histogram of each thread.
//! - `histogram`: the histograms that cyclictest and rtla print.
//! - `hyperfine`: the JSON of hyperfine, with the time of every run.
//! - `fio`: the JSON of fio with its histograms.
//!
//! A file of another of these tools, or one of theirs that holds no samples, is told apart and named: see
//! [`Format::import`].
//!
//! Imported files are foreign bytes: any deviation from what the tool writes is an [`Error`] that names the file, the
//! line and what was expected. What a format cannot hold is not made up: the notes of an [`Imported`] say what is known
//! less exactly than in a recording made by Kizami. [`save`] turns an import into a recording folder, which every
//! command can read.

pub mod csv;
pub mod cyclictest;
mod error;
mod fio;
mod histogram;
mod hyperfine;
mod import;
mod imported;
mod jitterdebugger;
pub mod nerves;
mod oslat;
mod rows;

pub use error::{Error, NotExported};
pub use import::{CYCLICTEST, FIO, Format, HISTOGRAM, HYPERFINE, JITTERDEBUGGER, NERVES, OSLAT};
pub use imported::{FILE, Imported, ImportedSeries, Rows, save};
