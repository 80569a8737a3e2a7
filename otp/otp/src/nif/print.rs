//! Printing a term as Erlang writes it.
//!
//! Terms that hold no other terms are written by the VM. The VM could write the others too, but it has no limit on the digits of an
//! integer: one of 800 KB, which any sender may have made, takes two minutes, during which its scheduler does nothing else. The same
//! goes for the bytes of a binary, of which ten million take most of a second.

use std::fmt::Write;

use crate::nif::{Term, vm};

/// How much is written at most.
const BYTES: usize = 1000;
/// How many terms are gone through at most.
const TERMS: usize = 200;
/// How deep they may lie inside each other: this goes down the stack with them.
const LEVELS: usize = 40;
/// The largest integer that is written, in bytes.
const INTEGER: usize = 128;

impl Term<'_> {
    /// The term as Erlang writes it, for people to read; of a large one, its beginning.
    pub fn shown(self) -> String {
        written(self)
    }
}

struct Writer {
    text: String,
    terms: usize,
}

fn written(term: Term<'_>) -> String {
    let mut writer = Writer { text: String::new(), terms: 0 };
    writer.term(term, LEVELS);
    writer.text
}

impl Writer {
    fn term(&mut self, term: Term<'_>, levels: usize) {
        self.terms += 1;
        if self.is_full() || levels == 0 {
            self.text += "...";
        } else if let Some(tuple) = term.tuple() {
            let elements = (0..tuple.len()).filter_map(|index| tuple.get(index));
            self.several("{", elements, levels, Self::term);
            self.text.push('}');
        } else if term.cell().is_some() {
            self.list(term, levels);
        } else if let Some(entries) = term.map_entries() {
            self.several("#{", entries, levels, |this, (key, value), levels| {
                this.term(key, levels);
                this.text += " => ";
                this.term(value, levels);
            });
            self.text.push('}');
        } else {
            self.leaf(term);
        }
    }

    fn is_full(&self) -> bool {
        self.terms > TERMS || self.text.len() > BYTES
    }

    /// Those of which there is room for.
    fn several<T>(
        &mut self,
        opens: &str,
        each: impl Iterator<Item = T>,
        levels: usize,
        write: impl Fn(&mut Self, T, usize),
    ) {
        self.text += opens;
        for (number, one) in each.enumerate() {
            if number > 0 {
                self.text.push(',');
            }
            if self.is_full() {
                self.text += "...";
                break;
            }
            write(self, one, levels - 1);
        }
    }

    fn list(&mut self, list: Term<'_>, levels: usize) {
        if let Some(text) = printable(list) {
            let _ = write!(self.text, "{text:?}");
            return;
        }
        let mut rest = list;
        let heads = std::iter::from_fn(|| {
            let (head, tail) = rest.cell()?;
            rest = tail;
            Some(head)
        });
        self.several("[", heads, levels, Self::term);
        if rest.cell().is_none() && !rest.is_empty_list() {
            self.text.push('|');
            self.term(rest, levels - 1);
        }
        self.text.push(']');
    }

    fn leaf(&mut self, term: Term<'_>) {
        if term.integer().is_none()
            && term.unsigned().is_none()
            && let Some(bytes) = term.integer_size().filter(|bytes| *bytes > INTEGER)
        {
            let _ = write!(self.text, "#Integer<{bytes} bytes>");
            return;
        }
        if let Some(beginning) = term.long_bits(BYTES) {
            self.text += &long(&beginning[..BYTES / 4]);
            return;
        }
        let mut text = vec![0_u8; BYTES + 24];
        // SAFETY: room for as many bytes as are said; the VM's function takes a term for `%T`, writes at most that many bytes,
        // and ends them with a NUL.
        unsafe { (vm().snprintf)(text.as_mut_ptr().cast(), text.len(), c"%T".as_ptr(), term.raw()) };
        text.truncate(text.iter().position(|byte| *byte == 0).unwrap_or(text.len()));
        self.text += &String::from_utf8_lossy(&text);
    }
}

/// A binary that begins so. The VM's function would go through all of its bytes, whether there is room for them or not.
fn long(beginning: &[u8]) -> String {
    if beginning.iter().all(|byte| (32..127).contains(byte)) {
        return format!("<<{:?}...>>", String::from_utf8_lossy(beginning));
    }
    let numbers: Vec<String> = beginning.iter().map(u8::to_string).collect();
    format!("<<{},...>>", numbers.join(","))
}

/// The text that a list is, if it is a short one of plain characters.
fn printable(list: Term<'_>) -> Option<String> {
    let (mut text, mut rest) = (String::new(), list);
    while let Some((head, tail)) = rest.cell() {
        let letter = head.unsigned().and_then(|letter| u8::try_from(letter).ok())?;
        if !(32..127).contains(&letter) || text.len() >= TERMS {
            return None;
        }
        text.push(char::from(letter));
        rest = tail;
    }
    rest.is_empty_list().then_some(text)
}
