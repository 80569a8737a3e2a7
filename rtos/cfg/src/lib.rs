//! The configurator: from a `.cfg` file and C sources to a program.
//!
//! 1. [`text`], [`parse`] and [`mod@include`]: the statements of the files ([`syntax`]), each with its place; [`shape`]: the
//!    arguments of each static API
//! 2. [`values`]: the C compiler computes the numbers in the statements, and reports wrong ones
//! 3. [`check`]: statements that cannot be are refused with their place; the others become a [`model`]
//! 4. [`write_c`] and [`write_rust`]: `kernel_cfg.h`, the C functions that call the application's handlers, and the
//!    kernel itself
//! 5. [`build`]: the compilers, and the program
//!
//! An error in any of these steps is a [`Fault`].

pub mod build;
pub mod check;
mod fault;
mod given;
pub mod include;
pub mod model;
mod notify;
pub mod parse;
pub mod shape;
pub mod syntax;
pub mod target;
pub mod text;
pub mod values;
pub mod write_c;
pub mod write_rust;

pub use fault::{Fault, Place};
