//! The programs of the RTOS for boards: how they are built, run, counted and read.
//!
//! - [`platform`]: the boards, and the emulator's settings for each
//! - [`image`]: building a program
//! - [`emulator`]: running a program
//! - [`trace`]: the instructions that were executed between two places
//! - [`table`]: all services of the counted programs
//! - [`code`]: the instructions of a program, and those of them that a function can reach

pub mod code;
pub mod emulator;
pub mod image;
pub mod platform;
mod rp2040;
mod run;
pub mod table;
pub mod trace;

pub use image::Image;
pub use platform::{Model, Platform};
