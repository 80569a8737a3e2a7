//! A shell to look around with: words, quotes, pipes, files in place of the terminal, commands in the background.
//!
//! What is in this program is done within the shell, so that looking at the memory changes it little; what stands in a pipe or in the
//! background is started, as programs in files are.

mod line;
mod run;

pub use line::{Command, Line, Stage, parse};
pub use run::{Shell, interactive, script};
