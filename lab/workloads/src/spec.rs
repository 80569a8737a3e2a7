//! The description of a workload: its name, its parameters with their limits, and the series that it will fill.
//!
//! Parameters arrive as text (from a study, a command line, a recording) and are checked here, once: a [`Params`] holds
//! a valid value for every parameter of its workload.

use std::collections::BTreeMap;
use std::fmt;

use kizami_recording::folder::{Column, Unit};
use kizami_recording::quantity::Quantity;

use crate::bench::{Bench, Failure};

/// The function that runs a workload in a Linux process.
pub type LinuxBody = fn(&Params, &mut Bench<'_>) -> Result<(), Failure>;

/// A piece of work that can be measured.
pub struct Workload {
    /// Lower case, words joined by hyphens; the name in studies and on the command line.
    pub name: &'static str,
    /// What is measured, in a few words.
    pub title: &'static str,
    /// The algorithm, in a paragraph that a user can judge the figure by.
    pub about: &'static str,
    /// The tool of the field that measures the same, or an empty string.
    pub reference: &'static str,
    pub params: &'static [Param],
    /// The series that a trial fills, with room for every row that it can take.
    pub parts: fn(&Params, &Machine) -> Vec<Part>,
    /// About how long a trial takes, in seconds: for progress, not for judgement.
    pub seconds: fn(&Params) -> f64,
    /// The function that runs it in a Linux process, if it can run there.
    pub linux: Option<LinuxBody>,
    /// The function that runs it in an Erlang VM, if there is one.
    pub beam: Option<&'static str>,
}

impl fmt::Debug for Workload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Workload").field(&self.name).finish()
    }
}

/// A parameter of a workload.
#[derive(Debug, Clone, Copy)]
pub struct Param {
    pub name: &'static str,
    pub about: &'static str,
    pub kind: Kind,
    /// In written form; used when nobody says otherwise.
    pub default: &'static str,
}

/// The values that a parameter may take. Limits are inclusive.
#[derive(Debug, Clone, Copy)]
pub enum Kind {
    Number { quantity: Quantity, least: u64, most: u64 },
    Choice(&'static [&'static str]),
}

impl Kind {
    pub const fn count(least: u64, most: u64) -> Self {
        Self::Number { quantity: Quantity::Count, least, most }
    }

    /// Nanoseconds.
    pub const fn time(least: u64, most: u64) -> Self {
        Self::Number { quantity: Quantity::Time, least, most }
    }

    /// Bytes.
    pub const fn size(least: u64, most: u64) -> Self {
        Self::Number { quantity: Quantity::Size, least, most }
    }

    /// Bits per second.
    pub const fn rate(least: u64, most: u64) -> Self {
        Self::Number { quantity: Quantity::Rate, least, most }
    }

    /// Reads `text`: the number, or the index of the choice.
    ///
    /// # Errors
    /// A sentence that says what would be accepted.
    pub fn parse(&self, text: &str) -> Result<u64, String> {
        match *self {
            Self::Number { quantity, least, most } => {
                let value = quantity.parse(text)?;
                if (least..=most).contains(&value) {
                    return Ok(value);
                }
                let (least, most) = (quantity.write(least), quantity.write(most));
                Err(format!("{text} is not between {least} and {most}"))
            }
            Self::Choice(choices) => match choices.iter().position(|c| *c == text) {
                Some(index) => Ok(index as u64),
                None => Err(format!("{text:?} is not one of {}", choices.join(", "))),
            },
        }
    }

    /// The written form of a value that [`Self::parse`] gave.
    pub fn write(&self, value: u64) -> String {
        match *self {
            Self::Number { quantity, .. } => quantity.write(value),
            Self::Choice(choices) => choices.get(value as usize).copied().unwrap_or_default().to_owned(),
        }
    }
}

/// A valid value for every parameter of one workload.
#[derive(Clone)]
pub struct Params {
    workload: &'static Workload,
    values: Vec<u64>,
}

impl Params {
    /// The values of `given`, and defaults for the rest.
    ///
    /// # Errors
    /// The name of the parameter and a sentence about it, when there is no such parameter or the value cannot be.
    pub fn new(workload: &'static Workload, given: &BTreeMap<String, String>) -> Result<Self, (String, String)> {
        if let Some(unknown) = given.keys().find(|name| workload.params.iter().all(|p| p.name != **name)) {
            let known: Vec<_> = workload.params.iter().map(|p| p.name).collect();
            let known = if known.is_empty() { "it has none".into() } else { format!("it has {}", known.join(", ")) };
            let why = format!("workload {} has no parameter {unknown:?}: {known}", workload.name);
            return Err((unknown.clone(), why));
        }
        let value = |param: &Param| {
            let text = given.get(param.name).map_or(param.default, String::as_str);
            param.kind.parse(text).map_err(|why| (param.name.to_owned(), format!("{}: {why}", param.name)))
        };
        Ok(Self { workload, values: workload.params.iter().map(value).collect::<Result<_, _>>()? })
    }

    pub fn workload(&self) -> &'static Workload {
        self.workload
    }

    /// The number of a number parameter, in the base unit of its quantity.
    ///
    /// # Panics
    /// When the workload does not have it: a mistake in the workload, found by its first run.
    pub fn number(&self, name: &str) -> u64 {
        self.value(name).1
    }

    /// The text of a choice parameter.
    ///
    /// # Panics
    /// When the workload does not have it.
    pub fn choice(&self, name: &str) -> &'static str {
        match self.value(name) {
            (Param { kind: Kind::Choice(choices), .. }, index) => choices[index as usize],
            _ => panic!("parameter {name} of workload {} is not a choice", self.workload.name),
        }
    }

    /// Every parameter in its written form.
    pub fn written(&self) -> BTreeMap<String, String> {
        let pairs = self.workload.params.iter().zip(&self.values);
        pairs.map(|(p, value)| (p.name.to_owned(), p.kind.write(*value))).collect()
    }

    fn value(&self, name: &str) -> (&'static Param, u64) {
        let params = self.workload.params;
        let index = params.iter().position(|p| p.name == name);
        let index = index.unwrap_or_else(|| panic!("workload {} has no parameter {name}", self.workload.name));
        (&params[index], self.values[index])
    }
}

impl fmt::Debug for Params {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{:?}", self.workload.name, self.written())
    }
}

/// The properties of a machine that the number and size of series may depend on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Machine {
    /// The processors that a probe may use.
    pub cpus: Vec<usize>,
    /// The caches that are told of its kernel's memory, sorted, where that is not the kernel of this machine.
    pub caches: Option<&'static [&'static str]>,
}

impl Machine {
    /// This one, as far as the lab may use it.
    pub fn of(cpus: Vec<usize>) -> Self {
        Self { cpus, caches: None }
    }
}

/// One series of a trial.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// Empty for the only one, or such as `cpu0`.
    pub name: String,
    /// The first column is the sample.
    pub columns: Vec<Column>,
    /// Room, in rows.
    pub rows: u64,
    /// How many operations one sample times.
    pub operations: u64,
    /// How many first rows of each trial are cold.
    pub cold_rows: u64,
}

impl Part {
    /// The usual part: `rows` times in nanoseconds, one operation each, the first of them cold.
    pub fn times(rows: u64) -> Self {
        Self {
            name: String::new(),
            columns: vec![Column::new("time", Unit::Nanoseconds)],
            rows,
            operations: 1,
            cold_rows: 1,
        }
    }

    /// The names of its columns.
    pub fn column_names(&self) -> Vec<String> {
        self.columns.iter().map(|column| column.name.clone()).collect()
    }

    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    pub fn operations(mut self, operations: u64) -> Self {
        self.operations = operations;
        self
    }

    pub fn cold(mut self, rows: u64) -> Self {
        self.cold_rows = rows;
        self
    }

    pub fn and(mut self, column: &str, unit: Unit) -> Self {
        self.columns.push(Column::new(column, unit));
        self
    }
}
