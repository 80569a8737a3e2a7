//! What a statement gives: its expressions, and their values where they are numbers.

use crate::model::C;
use crate::parse::{Argument, Statement};
use crate::{Fault, Place};

/// The largest number of 32 bits.
pub(crate) const ANY: i64 = u32::MAX as i64;
/// The longest time, in microseconds.
pub(crate) const LONGEST: i64 = 4_000_000_000;

/// A statement's expressions and their values.
pub(crate) struct Given<'a> {
    pub(crate) statement: &'a Statement,
    pub(crate) all: Vec<&'a Argument>,
    pub(crate) values: Vec<Option<i64>>,
}

impl Given<'_> {
    pub(crate) fn place(&self, index: usize) -> &Place {
        self.all.get(index).map_or(&self.statement.place, |argument| argument.place())
    }

    pub(crate) fn number(&self, index: usize, what: &str, least: i64, most: i64) -> Result<i64, Fault> {
        let value = self.values.get(index).copied().flatten();
        let value = value.ok_or_else(|| Fault::new(&self.statement.place, format!("{what} is missing")))?;
        if (least..=most).contains(&value) {
            return Ok(value);
        }
        Err(Fault::new(self.place(index), format!("{what} is {value}, and must be from {least} to {most} (E_PAR)")))
    }

    /// An attribute: a sum of these bits.
    pub(crate) fn attribute(&self, index: usize, bits: i64) -> Result<i64, Fault> {
        let value = self.number(index, "the attribute", i64::MIN, i64::MAX)?;
        if value & !bits == 0 {
            return Ok(value);
        }
        Err(Fault::new(
            self.place(index),
            format!("the attribute {value:#x} has bits that mean nothing here (E_RSATR)"),
        ))
    }

    pub(crate) fn c(&self, index: usize) -> Result<C, Fault> {
        match self.all.get(index) {
            Some(Argument::Text(text, place)) => Ok(C { text: text.clone(), place: place.clone() }),
            _ => Err(Fault::new(&self.statement.place, format!("{} has too few arguments", self.statement.name))),
        }
    }

    /// Memory of the application's own is not used; the kernel has its own.
    pub(crate) fn no_memory(&self, index: usize, what: &str) -> Result<(), Fault> {
        match self.all.get(index) {
            Some(Argument::Text(text, place)) if text != "NULL" => {
                Err(Fault::new(place, format!("{what} must be NULL: the kernel makes the memory itself (E_NOSPT)")))
            }
            _ => Ok(()),
        }
    }
}
