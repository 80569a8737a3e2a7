//! Studies: which workloads run in which environments under which settings, what was published, and what was claimed.
//!
//! - [`Study`]: a TOML file, read and checked. Everything that is wrong with it is told at once, each [`Problem`] with its
//!   file, line, column and what was probably meant.
//! - [`Plan`]: the jobs of some studies, each once, and the order of their trials.
//! - [`Group::rows`]: the lines of a table, found again in a recording.
//! - [`Claim::judge`]: whether what a paper says holds here, as far as the samples can tell.
//!
//! A new study is one file in this crate's folder and a line in the list of [`study`]. docs/studies.md says what belongs
//! in it.

mod cell;
mod claim;
mod group;
mod judge;
pub mod loss;
mod names;
mod plan;
mod problem;
mod published;
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
pub use plan::{Overrides, Plan, Planned, Refused, Start};
pub use problem::Problem;
pub use published::Published;
pub use rows::Row;
pub use selector::Selector;
pub use study::{Study, builtin};
pub use words::{Figure, Missing, Size, Statistic};
