//! Tones: the colours that tell series apart.
//!
//! There are eight series colours, and a line of the ninth to the sixteenth series is dashed, so that sixteen lines in one
//! plot can be told apart. The first colour is also that of a drawing in which nothing is told by colour. Which name has
//! which tone is decided for a whole report by [`super::palette`].

use std::fmt;

/// How many series colours there are.
pub const SERIES: usize = 8;

/// The colour of a series. Written, it is the end of the classes `k-f…` (filled) and `k-c…` (drawn).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// Counted from 0; the ninth has the first colour again, in dashes.
    Series(usize),
    /// The grey of what is not in use.
    Quiet,
}

impl Default for Tone {
    fn default() -> Self {
        Self::Series(0)
    }
}

impl Tone {
    /// How many lines can be told apart.
    pub const LINES: usize = 2 * SERIES;

    /// The class of a line in this tone.
    pub fn line(self) -> String {
        match self {
            Self::Series(index) if index / SERIES % 2 == 1 => format!("k-line k-c{self} k-second"),
            _ => format!("k-line k-c{self}"),
        }
    }
}

impl fmt::Display for Tone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Series(index) => write!(f, "{}", index % SERIES + 1),
            Self::Quiet => f.write_str("q"),
        }
    }
}
