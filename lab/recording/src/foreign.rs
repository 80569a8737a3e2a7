//! Foreign files and foreign text: read up to a size that is theirs, and made printable.
//!
//! A recording may come from somebody else, and the name of a process from any user of the machine. What a terminal would
//! obey instead of showing it (escape sequences, control characters, marks that turn the direction of writing) is
//! replaced by a written form as soon as it is read, so that no later stage has to think of it.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use serde_json::Value;

/// `text` with every character that a terminal would obey in a written form, such as `\u{1b}`. Ends of lines stay.
pub fn printable(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_obeyed) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            '\t' => out.push(' '),
            c if is_obeyed(c) => out.extend(c.escape_unicode()),
            c => out.push(c),
        }
    }
    Cow::Owned(out)
}

/// Control characters but the end of a line, and the marks of Unicode that turn the direction of writing (UAX 9).
fn is_obeyed(c: char) -> bool {
    let turns = matches!(c, '\u{200e}' | '\u{200f}' | '\u{061c}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    (c.is_control() && c != '\n') || turns
}

/// Makes all text in `value` printable, keys too; says whether anything had to be changed.
pub(crate) fn make_printable(value: &mut Value) -> bool {
    fn clean(text: &mut String) -> bool {
        let Cow::Owned(cleaned) = printable(text) else { return false };
        *text = cleaned;
        true
    }
    match value {
        Value::String(text) => clean(text),
        Value::Array(values) => values.iter_mut().fold(false, |changed, value| make_printable(value) | changed),
        Value::Object(map) => {
            let mut changed = map.values_mut().fold(false, |changed, value| make_printable(value) | changed);
            if map.keys().any(|key| matches!(printable(key), Cow::Owned(_))) {
                let entries = std::mem::take(map).into_iter();
                *map = entries.map(|(key, value)| (printable(&key).into_owned(), value)).collect();
                changed = true;
            }
            changed
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

/// The bytes of the file at `path`, of which there may be up to `most`: a device that never ends is read no further.
///
/// # Errors
/// When it cannot be read, or is longer.
pub fn read(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let file = File::open(path)?;
    file.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        let mib = most >> 20;
        return Err(io::Error::new(
            io::ErrorKind::InvalidData,
            format!("it is longer than {mib} MiB, which is too much"),
        ));
    }
    Ok(bytes)
}

/// The same of a file whose content is text.
///
/// # Errors
/// Also when it is no file or no text.
pub fn read_text(path: &Path, most: u64) -> io::Result<String> {
    // A pipe without a writer would be waited for.
    let kind = std::fs::metadata(path)?;
    if !kind.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no file"));
    }
    String::from_utf8(read(path, most)?).map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "it is not UTF-8 text"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_would_obey_is_written_out_and_the_rest_stays() {
        let text = "a\u{1b}[2Jb\u{9b}31m\rc\u{7}\u{7f} d\u{202e}e\tf\nµs · 猫";
        let shown = "a\\u{1b}[2Jb\\u{9b}31m\\u{d}c\\u{7}\\u{7f} d\\u{202e}e f\nµs · 猫";
        assert_eq!(printable(text), shown);
        assert_eq!(printable(&printable(text)), shown, "what is printable stays as it is");
        assert!(matches!(printable("plain µs"), Cow::Borrowed(_)));
    }

    #[test]
    fn every_text_of_a_value_is_made_printable_with_its_keys() {
        let mut value = serde_json::json!({ "a\u{1b}": [1, "b\u{7}", { "c": "d" }], "e": 1.5 });
        assert!(make_printable(&mut value));
        assert_eq!(value, serde_json::json!({ "a\\u{1b}": [1, "b\\u{7}", { "c": "d" }], "e": 1.5 }));
        assert!(!make_printable(&mut value));
    }

    #[test]
    fn a_file_without_an_end_is_refused() {
        let error = read(Path::new("/dev/zero"), 3 << 20).expect_err("it has no end");
        assert!(error.to_string().contains("longer than 3 MiB"), "{error}");
        assert!(read_text(Path::new("/dev/zero"), 1 << 20).is_err());
        assert!(read(Path::new("/dev/null"), 0).expect("an empty file").is_empty());
    }
}
