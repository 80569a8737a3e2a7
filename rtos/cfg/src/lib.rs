//! From a `.cfg` file and C sources to a program.
//!
//! 1. [`text`] and [`parse`]: the statements of the file, each with its place; [`shape`]: what each takes
//! 2. [`values`]: the C compiler computes the numbers in them, and says where one is wrong
//! 3. [`check`]: what cannot be is refused with its place; what is left is a [`model`]
//! 4. [`write_c`] and [`write_rust`]: `kernel_cfg.h`, what C has to say of handlers, and the kernel itself
//! 5. [`build`]: the compilers, and the program

pub mod build;
pub mod check;
mod given;
pub mod model;
mod notify;
pub mod parse;
pub mod shape;
pub mod target;
pub mod text;
pub mod values;
pub mod write_c;
pub mod write_rust;

use std::fmt;

/// A place in a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Place {
    /// The file, as it was named.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
}

impl Place {
    /// What tells the C compiler that the next line stands here.
    pub(crate) fn directive(&self) -> String {
        format!("#line {} \"{}\"", self.line, self.file.replace('\\', "\\\\").replace('"', "\\\""))
    }
}

impl fmt::Display for Place {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}:{}", self.file, self.line)
    }
}

/// What is wrong, and where.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fault {
    /// Where.
    pub place: Place,
    /// What.
    pub what: String,
}

impl Fault {
    /// A fault at a place.
    pub fn new(place: &Place, what: impl Into<String>) -> Self {
        Fault { place: place.clone(), what: what.into() }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}: error: {}", self.place, self.what)
    }
}
