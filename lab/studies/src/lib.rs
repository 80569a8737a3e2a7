//! Studies: which workloads run in which environments under which settings, what was published, and what was claimed.
//!
//! - [`Study`]: a TOML file, read and checked. All problems of a file are reported at once, each [`Problem`] with its
//!   file, line, column and a suggestion.
//! - [`Plan`]: the jobs of some studies, each once, and the order of their trials.
//! - [`Group::rows`]: the lines of a table, found again in a recording.
//! - [`Claim::judge`]: whether a claim of a paper holds here, as far as the samples can tell.
//!
//! A new study is one file in this crate's folder and a line in the list of [`study`]. docs/studies.md describes the
//! format of the file.

mod apart;
mod cell;
mod claim;
mod compared;
pub mod counted;
mod group;
mod judge;
mod limits;
mod names;
mod open;
mod plan;
mod planned;
mod problem;
mod published;
mod reach;
mod rows;
mod selector;
mod shown;
pub mod study;
mod tree;
mod words;

pub use cell::DEFAULT;
pub use claim::{Claim, Expects};
pub use group::Group;
pub use judge::{Judgement, Verdict};
pub use plan::{Overrides, Plan, Refused, Start};
pub use planned::Planned;
pub use problem::Problem;
pub use published::Published;
pub use rows::Row;
pub use selector::Selector;
pub use study::{Study, builtin};
pub use words::{Figure, Missing, Size, Statistic};
