//! Tables, plots, HTML, CSV and JSON of a recording.
//!
//! [`Report::new`] reads a recording once into data; [`html::page`] and [`text::write`] show it, [`files::write`] saves
//! its figures. [`plot`] draws.

mod analysis;
pub mod decisions;
mod figures;
pub mod files;
mod findings;
pub mod html;
mod measure;
pub mod missing;
mod moments;
mod names;
pub mod numbers;
mod phases;
pub mod plot;
mod profiles;
mod report;
mod section;
mod settings;
mod table;
mod tables;
pub mod text;

pub use analysis::unit_of;
pub use findings::Finding;
pub use report::{Chapter, DIAGNOSES_FILE, Diagnosis, Judged, Report};
pub use section::{Drawn, Section};
pub use table::{Header, Row, RowKind, Table};
