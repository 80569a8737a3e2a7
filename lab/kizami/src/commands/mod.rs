//! The commands, one file each. Results go to standard output, as text or as JSON; everything else to standard error.

pub mod bench;
pub mod compare;
pub mod completions;
pub mod decide;
pub mod doctor;
pub mod export;
pub mod import;
pub mod list;
mod output;
mod recorded;
pub mod report;
pub mod run;
pub mod show;
