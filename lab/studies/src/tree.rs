//! Typed reading of a TOML file, with the place of every value.
//!
//! A [`Source`] collects problems instead of stopping at the first, so that all problems of a file are reported at
//! once. A [`Table`] refuses unknown keys. Every value that it gives is an [`At`], which keeps the value's place for
//! problems that are found later, and all text is made printable.

use std::cell::RefCell;
use std::path::Path;

use kizami_recording::foreign::printable;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::problem::{Problem, suggest};

/// A value, and the byte of the file at which it begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct At<T> {
    pub value: T,
    pub at: usize,
}

impl<T> At<T> {
    pub fn new(value: T, at: usize) -> Self {
        Self { value, at }
    }
}

/// A file that is being read, and what is wrong with it so far.
pub(crate) struct Source<'t> {
    pub file: &'t str,
    pub text: &'t str,
    problems: RefCell<Vec<Problem>>,
}

impl<'t> Source<'t> {
    pub fn new(file: &'t str, text: &'t str) -> Self {
        Self { file, text, problems: RefCell::default() }
    }

    pub fn wrong(&self, at: usize, message: impl Into<String>) {
        self.wrong_but(at, message, String::new());
    }

    /// The same, with what would do.
    pub fn wrong_but(&self, at: usize, message: impl Into<String>, suggestion: String) {
        self.add(Problem::at(self.file, self.text, at, message.into(), suggestion));
    }

    /// A problem of this or another file; one that is known already says nothing new.
    pub fn add(&self, problem: Problem) {
        let mut problems = self.problems.borrow_mut();
        if !problems.contains(&problem) {
            problems.push(problem);
        }
    }

    /// Whether nothing was wrong so far.
    pub fn is_fine(&self) -> bool {
        self.problems.borrow().is_empty()
    }

    /// What was wrong, in the order of the file.
    pub fn into_problems(self) -> Vec<Problem> {
        let mut problems = self.problems.into_inner();
        problems.sort_by_key(|p| (p.file != self.file, p.line, p.column));
        problems
    }
}

/// How a file is called in messages.
pub(crate) fn shown(file: &Path) -> String {
    file.display().to_string()
}

/// A table, all of whose keys are known.
pub(crate) struct Table<'s, 't> {
    pub source: &'s Source<'t>,
    /// Where it begins.
    pub at: usize,
    /// How it is called in messages, such as `[[group]]`.
    name: String,
    entries: Vec<Entry<'s, 't>>,
}

/// A key and its value.
#[derive(Clone, Copy)]
pub(crate) struct Entry<'s, 't> {
    pub key: &'s str,
    pub key_at: usize,
    pub value: &'s DeValue<'t>,
    pub at: usize,
}

impl<'s, 't> Table<'s, 't> {
    /// Any key will do.
    pub fn open(source: &'s Source<'t>, table: &'s Spanned<DeTable<'t>>, name: impl Into<String>) -> Self {
        Self::from_parts(source, table.get_ref(), table.span().start, name.into())
    }

    fn from_parts(source: &'s Source<'t>, table: &'s DeTable<'t>, at: usize, name: String) -> Self {
        let entry = |(key, value): (&'s Spanned<_>, &'s Spanned<DeValue<'t>>)| {
            let text: &std::borrow::Cow<'t, str> = key.get_ref();
            Entry { key: text.as_ref(), key_at: key.span().start, value: value.get_ref(), at: value.span().start }
        };
        let mut entries: Vec<_> = table.iter().map(entry).collect();
        // The map is sorted by name; what varies first and what second is the order of the file.
        entries.sort_by_key(|e| e.key_at);
        Self { source, at, name, entries }
    }

    /// Only these keys will do.
    pub fn only(mut self, known: &[&str]) -> Self {
        let (source, name) = (self.source, &self.name);
        self.entries.retain(|entry| {
            let is_known = known.contains(&entry.key);
            if !is_known {
                let message = format!("unknown key {:?} in {name}", entry.key);
                source.wrong_but(entry.key_at, message, suggest(entry.key, known));
            }
            is_known
        });
        self
    }

    pub fn entries(&self) -> impl Iterator<Item = Entry<'s, 't>> + '_ {
        self.entries.iter().copied()
    }

    pub fn get(&self, key: &str) -> Option<Entry<'s, 't>> {
        self.entries.iter().copied().find(|e| e.key == key)
    }

    pub fn string(&self, key: &str) -> Option<At<String>> {
        self.get(key).and_then(|entry| self.as_string(entry))
    }

    /// A string that is not empty.
    pub fn required(&self, key: &str) -> Option<At<String>> {
        match self.get(key) {
            None => {
                self.source.wrong(self.at, format!("{} needs the key {key:?}", self.name));
                None
            }
            Some(entry) => self.as_string(entry).filter(|text| {
                if text.value.trim().is_empty() {
                    self.source.wrong(text.at, format!("{key} is empty"));
                }
                !text.value.trim().is_empty()
            }),
        }
    }

    fn as_string(&self, entry: Entry<'s, 't>) -> Option<At<String>> {
        match entry.value {
            DeValue::String(text) => Some(At::new(printable(text).into_owned(), entry.at)),
            other => self.mistyped(entry.at, entry.key, "a string", other),
        }
    }

    /// Strings; empty when there is no such key.
    pub fn strings(&self, key: &str) -> Vec<At<String>> {
        let Some(entry) = self.get(key) else { return Vec::new() };
        let DeValue::Array(array) = entry.value else {
            self.mistyped::<()>(entry.at, key, "a list of strings", entry.value);
            return Vec::new();
        };
        let item = |item: &'s Spanned<DeValue<'t>>| {
            self.as_string(Entry { key: entry.key, key_at: entry.key_at, value: item.get_ref(), at: item.span().start })
        };
        array.iter().filter_map(item).collect()
    }

    /// A whole number from `least` to `most`.
    pub fn count(&self, key: &str, least: usize, most: usize) -> Option<At<usize>> {
        let entry = self.get(key)?;
        let DeValue::Integer(number) = entry.value else {
            return self.mistyped(entry.at, key, "a whole number", entry.value);
        };
        match usize::from_str_radix(number.as_str(), number.radix()) {
            Ok(number) if (least..=most).contains(&number) => Some(At::new(number, entry.at)),
            _ => {
                self.source.wrong(entry.at, format!("{key} is not a whole number from {least} to {most}"));
                None
            }
        }
    }

    /// A number, with decimals or without.
    pub fn number(&self, key: &str) -> Option<At<f64>> {
        let entry = self.get(key)?;
        let text = match entry.value {
            DeValue::Float(number) => number.as_str(),
            DeValue::Integer(number) if number.radix() == 10 => number.as_str(),
            other => return self.mistyped(entry.at, key, "a number", other),
        };
        text.parse().ok().map(|number| At::new(number, entry.at))
    }

    /// A table; any key of it will do.
    pub fn table(&self, key: &str, name: impl Into<String>) -> Option<Table<'s, 't>> {
        self.get(key).and_then(|entry| self.as_table(entry, name))
    }

    /// The value of `entry` as a table.
    pub fn as_table(&self, entry: Entry<'s, 't>, name: impl Into<String>) -> Option<Table<'s, 't>> {
        match entry.value {
            DeValue::Table(table) => Some(Self::from_parts(self.source, table, entry.at, name.into())),
            other => self.mistyped(entry.at, entry.key, "a table, such as { name = value }", other),
        }
    }

    /// The tables of `[[key]]`.
    pub fn tables(&self, key: &str) -> Vec<Table<'s, 't>> {
        let Some(entry) = self.get(key) else { return Vec::new() };
        let DeValue::Array(array) = entry.value else {
            self.mistyped::<()>(entry.at, key, &format!("tables that begin with [[{key}]]"), entry.value);
            return Vec::new();
        };
        let item = |item: &'s Spanned<DeValue<'t>>| {
            let at = item.span().start;
            self.as_table(Entry { key: entry.key, key_at: at, value: item.get_ref(), at }, format!("[[{key}]]"))
        };
        array.iter().filter_map(item).collect()
    }

    /// The values of a list, each in its written form.
    pub fn values(&self, entry: Entry<'s, 't>) -> Vec<At<String>> {
        let DeValue::Array(array) = entry.value else {
            self.mistyped::<()>(entry.at, entry.key, "a list of values", entry.value);
            return Vec::new();
        };
        let item = |item: &'s Spanned<DeValue<'t>>| {
            self.value(Entry { key: entry.key, key_at: entry.key_at, value: item.get_ref(), at: item.span().start })
        };
        array.iter().filter_map(item).collect()
    }

    /// The written form of the value of a parameter or setting.
    pub fn value(&self, entry: Entry<'s, 't>) -> Option<At<String>> {
        let written = match entry.value {
            DeValue::String(text) => printable(text).into_owned(),
            DeValue::Boolean(yes) => yes.to_string(),
            DeValue::Integer(number) => match i128::from_str_radix(number.as_str(), number.radix()) {
                Ok(number) => number.to_string(),
                Err(_) => {
                    self.source.wrong(entry.at, format!("{} is too large a number", entry.key));
                    return None;
                }
            },
            other => return self.mistyped(entry.at, entry.key, "a string, a whole number, true or false", other),
        };
        Some(At::new(written, entry.at))
    }

    fn mistyped<T>(&self, at: usize, key: &str, expected: &str, found: &DeValue<'_>) -> Option<T> {
        let found = match found {
            DeValue::String(_) => "a string",
            DeValue::Integer(_) => "a whole number",
            DeValue::Float(_) => "a number with decimals",
            DeValue::Boolean(_) => "true or false",
            DeValue::Datetime(_) => "a date",
            DeValue::Array(_) => "a list",
            DeValue::Table(_) => "a table",
        };
        self.source.wrong(at, format!("{key} in {} is {found} and must be {expected}", self.name));
        None
    }
}
