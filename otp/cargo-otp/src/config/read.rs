//! Reading a TOML table into a typed value. All errors of a table are gathered, each with its place in the file.

use std::cell::RefCell;
use std::fmt::Write;
use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::project::nearest;

/// A text under reading.
#[derive(Debug)]
pub(crate) struct Reader<'t> {
    file: &'t str,
    text: &'t str,
    complaints: RefCell<Vec<(Range<usize>, String)>>,
}

impl<'t> Reader<'t> {
    pub(crate) fn new(file: &'t str, text: &'t str) -> Self {
        Self { file, text, complaints: RefCell::default() }
    }

    /// The whole document.
    pub(crate) fn document(&self) -> DeTable<'t> {
        let (document, errors) = DeTable::parse_recoverable(self.text);
        for error in errors {
            self.complain(error.span().unwrap_or_default(), error.message());
        }
        document.into_inner()
    }

    pub(crate) fn table<'r>(&'r self, table: &'r DeTable<'t>) -> Table<'r, 't> {
        Table { reader: self, table, known: Vec::new() }
    }

    fn complain(&self, place: Range<usize>, about: impl Into<String>) {
        self.complaints.borrow_mut().push((place, about.into()));
    }

    /// The errors in the order of the file, or the value.
    pub(crate) fn finish<T>(self, value: T) -> Result<T, String> {
        let mut complaints = self.complaints.into_inner();
        if complaints.is_empty() {
            return Ok(value);
        }
        complaints.sort_by_key(|(place, _)| place.start);
        let told = complaints.iter().map(|(place, about)| show(self.file, self.text, place, about));
        Err(told.collect::<Vec<_>>().join("\n"))
    }
}

/// A line of the text, with what is wrong in it, as the compiler shows it.
fn show(file: &str, text: &str, place: &Range<usize>, about: &str) -> String {
    let start = place.start.min(text.len());
    let begin = text[..start].rfind('\n').map_or(0, |newline| newline + 1);
    let line = text[begin..].lines().next().unwrap_or_default();
    let (row, column) = (text[..begin].matches('\n').count() + 1, text[begin..start].chars().count() + 1);
    let rest = line.len().saturating_sub(start - begin);
    let length = text[start..start + rest.min(place.len())].chars().count().max(1);
    let margin = " ".repeat(row.to_string().len());
    let mut shown = format!("{margin}--> {file}:{row}:{column}\n{margin} |\n{row} | {line}\n{margin} | ");
    let _ = writeln!(shown, "{}{} {about}", " ".repeat(column - 1), "^".repeat(length));
    shown
}

/// A table; every key that is asked for is one that it knows.
#[derive(Debug)]
pub(crate) struct Table<'r, 't> {
    reader: &'r Reader<'t>,
    table: &'r DeTable<'t>,
    known: Vec<&'static str>,
}

impl<'r, 't> Table<'r, 't> {
    /// The value of `key`, if it is there and `read` takes it.
    pub(crate) fn value<T>(
        &mut self,
        key: &'static str,
        read: impl FnOnce(&'r DeValue<'t>) -> Result<T, String>,
    ) -> Option<T> {
        self.known.push(key);
        let value = self.entry(key)?;
        match read(value.get_ref()) {
            Ok(value) => Some(value),
            Err(about) => {
                self.reader.complain(value.span(), about);
                None
            }
        }
    }

    fn entry(&self, key: &str) -> Option<&'r Spanned<DeValue<'t>>> {
        self.table.iter().find(|(name, _)| name.get_ref() == key).map(|(_, value)| value)
    }

    pub(crate) fn has(&self, key: &str) -> bool {
        self.entry(key).is_some()
    }

    pub(crate) fn text(&mut self, key: &'static str) -> Option<String> {
        self.value(key, text)
    }

    pub(crate) fn texts(&mut self, key: &'static str) -> Option<Vec<String>> {
        self.value(key, |value| {
            let all = value.as_array().ok_or_else(|| expected("a list of texts", value))?;
            all.iter().map(|one| text(one.get_ref())).collect()
        })
    }

    pub(crate) fn flag(&mut self, key: &'static str) -> Option<bool> {
        self.value(key, |value| value.as_bool().ok_or_else(|| expected("true or false", value)))
    }

    pub(crate) fn number(&mut self, key: &'static str, range: std::ops::RangeInclusive<u32>) -> Option<u32> {
        self.value(key, |value| {
            let what = format!("a number from {} to {}", range.start(), range.end());
            number(value).filter(|number| range.contains(number)).ok_or_else(|| expected(&what, value))
        })
    }

    /// One of these words.
    pub(crate) fn word<T: Copy>(&mut self, key: &'static str, words: &[(&str, T)]) -> Option<T> {
        self.value(key, |value| {
            let all: Vec<_> = words.iter().map(|(word, _)| *word).collect();
            let word = value.as_str().ok_or_else(|| expected(&format!("one of {}", all.join(", ")), value))?;
            let found = words.iter().find(|(one, _)| *one == word).map(|(_, value)| *value);
            found.ok_or_else(|| format!("expected one of {}{}", all.join(", "), nearest(word, &all)))
        })
    }

    /// The value of a table in this one, and every unknown key of it.
    pub(crate) fn inner<T>(&mut self, key: &'static str, read: impl FnOnce(&mut Table<'r, 't>) -> T) -> Option<T> {
        let reader = self.reader;
        self.value(key, |value| {
            let table = value.as_table().ok_or_else(|| expected("a table", value))?;
            let mut table = reader.table(table);
            let read = read(&mut table);
            table.finish(&[]);
            Ok(read)
        })
    }

    /// Reports every key that was not asked for. `elsewhere` are keys that a user may expect here, with advice for each.
    pub(crate) fn finish(self, elsewhere: &[(&str, &str)]) {
        for (key, _) in self.table.iter().filter(|(key, _)| !self.known.contains(&key.get_ref().as_ref())) {
            let name: &str = key.get_ref();
            let about = match elsewhere.iter().find(|(one, _)| *one == name) {
                Some((_, instead)) => (*instead).to_owned(),
                None => match nearest(name, &self.known) {
                    near if near.is_empty() => format!("unknown key; known are {}", self.known.join(", ")),
                    near => format!("unknown key{near}"),
                },
            };
            self.reader.complain(key.span(), about);
        }
    }
}

fn text(value: &DeValue<'_>) -> Result<String, String> {
    value.as_str().map(str::to_owned).ok_or_else(|| expected("a text", value))
}

pub(crate) fn number(value: &DeValue<'_>) -> Option<u32> {
    let number = value.as_integer()?;
    u32::from_str_radix(number.as_str(), number.radix()).ok()
}

pub(crate) fn expected(what: &str, value: &DeValue<'_>) -> String {
    format!("expected {what}, found {}", value.type_str())
}
