//! Style of the output: colours, and the form of messages. Results go to standard output, messages to standard error.

use std::io::{IsTerminal, Write};

use anstyle::{AnsiColor, Style as Ansi};
use kizami_recording::foreign::printable;

use crate::cli::Colour;

/// Colours and width for this user's terminal.
#[derive(Debug, Clone, Copy)]
pub struct Style {
    /// Whether standard output takes colours.
    pub colour: bool,
    /// Whether standard error does.
    messages: bool,
    /// The width of standard output, in columns.
    pub width: usize,
}

impl Style {
    pub fn new(colour: Colour) -> Self {
        let wanted = |terminal: bool| match colour {
            Colour::Always => true,
            Colour::Never => false,
            Colour::Auto => terminal && std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty()),
        };
        Self {
            colour: wanted(std::io::stdout().is_terminal()),
            messages: wanted(std::io::stderr().is_terminal()),
            // What COLUMNS says may be anything.
            width: width().unwrap_or(100).clamp(20, 1000),
        }
    }

    pub fn bold(&self, text: &str) -> String {
        let bold = Ansi::new().bold();
        if self.colour { format!("{bold}{text}{bold:#}") } else { text.to_owned() }
    }

    /// `text` in lines that fit the terminal.
    pub fn wrapped(&self, text: &str) -> String {
        kizami_report::text::wrap(text, self.width.min(100), 0)
    }

    /// `text` as an item of a list: its further lines stand below its first word.
    pub fn item(&self, text: &str) -> String {
        format!("  {}", kizami_report::text::wrap(text, self.width.min(100) - 2, 2))
    }

    pub fn error(&self, message: &str) {
        self.message("error:", AnsiColor::Red, message);
    }

    pub fn warn(&self, message: &str) {
        self.message("note:", AnsiColor::Yellow, message);
    }

    pub fn note(&self, message: &str) {
        line(message);
    }

    fn message(&self, mark: &str, colour: AnsiColor, message: &str) {
        let style = if self.messages { Ansi::new().bold().fg_color(Some(colour.into())) } else { Ansi::new() };
        marked_line(&format!("{style}{mark}{style:#} "), message);
    }
}

/// A line on standard error, without what a terminal would obey in it: messages quote files and programs. Nobody may read it
/// any more (a closed terminal, a cut pipe), which is no reason to panic.
pub fn line(text: &str) {
    marked_line("", text);
}

/// The same after a mark of ours, which may be in colour.
fn marked_line(mark: &str, text: &str) {
    let _ = writeln!(std::io::stderr(), "{mark}{}", printable(text));
}

/// The terminal's columns.
fn width() -> Option<usize> {
    let columns = std::env::var("COLUMNS").ok().and_then(|text| text.parse().ok());
    columns.or_else(|| {
        // SAFETY: the kernel fills the structure, which is all zeros before, or refuses.
        let (got, size) = unsafe {
            let mut size: libc::winsize = std::mem::zeroed();
            (libc::ioctl(1, libc::TIOCGWINSZ, &raw mut size), size)
        };
        (got == 0 && size.ws_col > 0).then_some(usize::from(size.ws_col))
    })
}
