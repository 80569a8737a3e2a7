//! The programs of the RTOS for boards: how they are built, run, counted and read.
//!
//! - [`platform`]: the boards, and how an emulator is told to be one
//! - [`image`]: a program, built
//! - [`emulator`]: a program, run
//! - [`trace`]: the instructions that were executed between two places
//! - [`table`]: all services of the counted programs
//! - [`code`]: the instructions that a program has, and which of them a function can reach

pub mod code;
pub mod emulator;
pub mod image;
pub mod platform;
mod rp2040;
pub mod table;
pub mod trace;

pub use image::Image;
pub use platform::{Model, Platform};
