//! A run of a program, in any emulator: its status and output, and whether the user sees the output at once.

use std::io::Write;
use std::time::Duration;

use crate::image::Image;

/// The result of a run.
#[derive(Debug)]
pub struct Run {
    /// The status that the program ended with.
    pub status: i32,
    /// The output of the program.
    pub said: String,
}

/// Where the output of a program goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Told {
    /// Into [`Run::said`] only.
    Afterwards,
    /// To the user too, at once.
    AtOnce,
}

impl Told {
    /// Passes on new output.
    pub(crate) fn pass(self, said: &[u8]) {
        if self == Told::AtOnce && !said.is_empty() {
            // A user who does not listen any more needs no words.
            let _ = std::io::stdout().write_all(said).and_then(|()| std::io::stdout().flush());
        }
    }
}

/// The error for a program that did not end.
pub(crate) fn unended(image: &Image, longest: Duration, told: Told, said: &str) -> String {
    let what = format!("{} did not end within {} s", image.path.display(), longest.as_secs());
    if told == Told::AtOnce { what } else { format!("{what}; it said:\n{said}") }
}
