//! The arguments of a statement, by the names of the fields of its static API.

use crate::fault::{Fault, Place};
use crate::model::{C, is_name};
use crate::shape::{Kind, Shape};
use crate::syntax::{Argument, Statement};

/// The largest number of 32 bits.
pub(crate) const ANY: i64 = u32::MAX as i64;
/// The longest time, in microseconds.
pub(crate) const LONGEST: i64 = 4_000_000_000;

/// A statement, and its argument for each field of its shape, with the value of each number.
pub(crate) struct Given<'a> {
    pub(crate) statement: &'a Statement,
    fields: Vec<(&'static str, &'a Argument, Option<i64>)>,
}

impl<'a> Given<'a> {
    /// The arguments of a statement. `value` gives the values of its fields.
    pub(crate) fn new(statement: &'a Statement, value: impl Fn(usize) -> Option<i64>) -> Result<Self, Fault> {
        let Some(shape) = Shape::of(&statement.name) else {
            let advice = match statement.name.as_str() {
                "DEF_ICS" => "; leave it out, the port has the stack of handlers",
                _ => "",
            };
            let what = format!("there is no static API '{}'{advice} (E_RSFN)", statement.name);
            return Err(Fault::new(&statement.place, what));
        };
        let mut fields = Vec::new();
        for (index, ((name, kind), argument)) in shape.fields(statement)?.into_iter().enumerate() {
            if let (Kind::Memory, Argument::Text(text, place)) = (kind, argument)
                && text != "NULL"
                && name == "the stack"
            {
                let what = format!("{name} must be NULL: the kernel makes the memory itself (E_NOSPT)");
                return Err(Fault::new(place, what));
            }
            fields.push((name, argument, value(index)));
        }
        Ok(Given { statement, fields })
    }

    fn field(&self, name: &str) -> Option<&(&'static str, &'a Argument, Option<i64>)> {
        self.fields.iter().find(|field| field.0 == name)
    }

    pub(crate) fn place(&self, name: &str) -> &Place {
        self.field(name).map_or(&self.statement.place, |field| field.1.place())
    }

    /// The value of a field, which has to be in that range.
    pub(crate) fn number(&self, name: &str, least: i64, most: i64) -> Result<i64, Fault> {
        let value = self.field(name).and_then(|field| field.2);
        let value = value.ok_or_else(|| Fault::new(&self.statement.place, format!("{name} is missing (E_PAR)")))?;
        if (least..=most).contains(&value) {
            return Ok(value);
        }
        Err(Fault::new(self.place(name), format!("{name} is {value}, and must be from {least} to {most} (E_PAR)")))
    }

    /// The attribute: a sum of these bits.
    pub(crate) fn attribute(&self, bits: i64) -> Result<i64, Fault> {
        let value = self.number("the attribute", i64::MIN, i64::MAX)?;
        if value & !bits == 0 {
            return Ok(value);
        }
        let what = format!("the attribute {value:#x} has bits that mean nothing here (E_RSATR)");
        Err(Fault::new(self.place("the attribute"), what))
    }

    /// A field that is text of C.
    pub(crate) fn c(&self, name: &str) -> Result<C, Fault> {
        match self.field(name) {
            Some((_, Argument::Text(text, place), _)) => Ok(C { text: text.clone(), place: place.clone() }),
            _ => Err(Fault::new(&self.statement.place, format!("{name} is missing (E_PAR)"))),
        }
    }

    /// The memory of that name, unless it is left to the kernel.
    pub(crate) fn memory(&self, name: &str) -> Option<C> {
        self.c(name).ok().filter(|memory| memory.text != "NULL")
    }

    /// The name that the statement gives to its object.
    pub(crate) fn name(&self) -> Result<C, Fault> {
        let name = self.c("the name")?;
        if is_name(&name.text) {
            Ok(name)
        } else {
            Err(Fault::new(&name.place, format!("'{}' is not a name in C (E_PAR)", name.text)))
        }
    }

    /// The notification: the arguments in its packet.
    pub(crate) fn notification(&self) -> Result<(Vec<C>, &Place), Fault> {
        let Some((_, Argument::Packet(packet, place), _)) = self.field("the notification") else {
            return Err(Fault::new(&self.statement.place, "the notification is missing (E_PAR)"));
        };
        let texts = packet.iter().map(|argument| match argument {
            Argument::Text(text, place) => Ok(C { text: text.clone(), place: place.clone() }),
            Argument::Packet(_, place) => Err(Fault::new(place, "a notification has no packet in it (E_PAR)")),
        });
        Ok((texts.collect::<Result<_, _>>()?, place))
    }
}
