//! Texts of bounded length: what a value writes is cut where it becomes too long, and the value is asked for no more.

use std::fmt::{self, Write};

/// The most bytes of a text that somebody reads in a log, a reason or a refusal.
pub(crate) const MOST: usize = 4000;

/// What `value` writes, or its beginning, of [`MOST`] bytes.
pub(crate) fn brief(value: impl fmt::Display) -> String {
    cut(MOST, value)
}

/// What `value` writes, or as many bytes of it.
///
/// Writing fails at the end of the room, which a `Debug` or `Display` passes on: so a large value takes no longer than a small one.
pub(crate) fn cut(most: usize, value: impl fmt::Display) -> String {
    let mut room = Room { text: String::new(), most, is_full: false };
    // It fails where the text is cut; a value that fails by itself has written what it could.
    let _ = write!(room, "{value}");
    room.text
}

struct Room {
    text: String,
    most: usize,
    is_full: bool,
}

impl Write for Room {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if self.is_full {
            return Err(fmt::Error);
        }
        let mut end = text.len().min(self.most - self.text.len());
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        self.text.push_str(&text[..end]);
        if end == text.len() {
            return Ok(());
        }
        self.is_full = true;
        self.text.push_str("...");
        Err(fmt::Error)
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::fmt;

    use super::{MOST, brief};

    #[test]
    fn a_short_text_is_whole_and_a_long_one_is_cut_between_two_characters() {
        assert_eq!(brief("short"), "short");
        assert_eq!(brief("x".repeat(MOST)), "x".repeat(MOST));
        assert_eq!(brief("x".repeat(MOST) + "y"), "x".repeat(MOST) + "...");
        let cut = brief(format!("x{}", "é".repeat(MOST)));
        assert_eq!((cut.len(), cut.ends_with("é...")), (MOST - 1 + 3, true));
    }

    #[test]
    fn a_value_is_not_asked_for_more_than_there_is_room_for() {
        struct Endless<'a>(&'a Cell<usize>);
        impl fmt::Display for Endless<'_> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                loop {
                    self.0.set(self.0.get() + 1);
                    f.write_str("again and again ")?;
                }
            }
        }
        let asked = Cell::new(0);
        assert_eq!(brief(Endless(&asked)).len(), MOST + 3);
        assert_eq!(asked.get(), MOST / 16 + 1);
    }
}
