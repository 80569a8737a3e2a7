//! Faults in a source file: the message, and the place of the fault. A fault is printed in the form of a C compiler's
//! errors, so that editors find the line.

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
    /// The line that tells the C compiler that the next line stands at this place.
    pub(crate) fn directive(&self) -> String {
        format!("#line {} \"{}\"", self.line, self.file.replace('\\', "\\\\").replace('"', "\\\""))
    }
}

impl fmt::Display for Place {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}:{}", self.file, self.line)
    }
}

/// A fault: a message, with its place.
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
