//! The static APIs and their arguments. All have the same form: first the name of the object, if there is one, then a
//! packet in braces, if there is anything else to say.

use crate::fault::Fault;
use crate::syntax::{Argument, Item, Statement};

/// The kind of an argument.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// A number, which the C compiler computes.
    Number,
    /// Text of C.
    Text,
    /// The address of memory, or `NULL`, which may be left out.
    Memory,
    /// A packet of its own.
    Notification,
}

use Kind::{Memory, Notification, Number, Text};

/// An argument of a static API: its name in messages, and its kind.
pub type Field = (&'static str, Kind);

/// A static API.
pub struct Shape {
    /// Its name.
    pub api: &'static str,
    /// The arguments before the packet.
    outer: &'static [Field],
    /// The arguments in the packet. There is no packet if there are none.
    packet: &'static [Field],
}

const NAME: &[Field] = &[("the name", Text)];
const ATTRIBUTE: Field = ("the attribute", Number);
const EXINF: Field = ("the exinf", Text);
const FUNCTION: Field = ("the function", Text);
const LINE: Field = ("the line", Number);
const MEMORY: Field = ("the memory", Memory);

const fn shape(api: &'static str, outer: &'static [Field], packet: &'static [Field]) -> Shape {
    Shape { api, outer, packet }
}

/// All static APIs.
const SHAPES: &[Shape] = &[
    shape(
        "CRE_TSK",
        NAME,
        &[
            ATTRIBUTE,
            EXINF,
            FUNCTION,
            ("the priority", Number),
            ("the size of the stack", Number),
            ("the stack", Memory),
        ],
    ),
    shape("CRE_SEM", NAME, &[ATTRIBUTE, ("the number of resources", Number), ("the most resources", Number)]),
    shape("CRE_FLG", NAME, &[ATTRIBUTE, ("the pattern", Number)]),
    shape("CRE_DTQ", NAME, &[ATTRIBUTE, ("the number of words", Number), MEMORY]),
    shape("CRE_PDQ", NAME, &[ATTRIBUTE, ("the number of words", Number), ("the lowest priority", Number), MEMORY]),
    shape("CRE_MTX", NAME, &[ATTRIBUTE, CEILING]),
    shape("CRE_MBF", NAME, &[ATTRIBUTE, ("the longest message", Number), ("the size", Number), MEMORY]),
    shape(
        "CRE_MPF",
        NAME,
        &[ATTRIBUTE, ("the number of blocks", Number), ("the size of a block", Number), ("the pool", Memory), MEMORY],
    ),
    shape("CRE_SPN", NAME, &[ATTRIBUTE]),
    shape(
        "CRE_CYC",
        NAME,
        &[ATTRIBUTE, ("the notification", Notification), ("the period", Number), ("the phase", Number)],
    ),
    shape("CRE_ALM", NAME, &[ATTRIBUTE, ("the notification", Notification)]),
    shape("CFG_INT", &[LINE], &[ATTRIBUTE, ("the priority of the interrupt", Number)]),
    shape("CRE_ISR", NAME, &[ATTRIBUTE, EXINF, LINE, FUNCTION, ("the priority", Number)]),
    shape("DEF_INH", &[LINE], &[ATTRIBUTE, FUNCTION]),
    shape("DEF_EXC", &[("the exception", Number)], &[ATTRIBUTE, FUNCTION]),
    shape("ENA_SPR", &[("the priority", Number)], &[]),
    shape("DEF_OVR", &[], &[ATTRIBUTE, FUNCTION]),
    shape("ATT_INI", &[], &[ATTRIBUTE, EXINF, FUNCTION]),
    shape("ATT_TER", &[], &[ATTRIBUTE, EXINF, FUNCTION]),
];

/// The argument that only a mutex with TA_CEILING has.
const CEILING: Field = ("the ceiling", Number);

impl Shape {
    /// The API of that name.
    pub fn of(api: &str) -> Option<&'static Shape> {
        SHAPES.iter().find(|shape| shape.api == api)
    }

    /// How it is written.
    fn form(&self) -> String {
        let names = |fields: &[Field]| {
            let names: Vec<&str> = fields.iter().map(|(name, _)| name.strip_prefix("the ").unwrap_or(name)).collect();
            names.join(", ")
        };
        if self.packet.is_empty() {
            return format!("{}({});", self.api, names(self.outer));
        }
        let separator = if self.outer.is_empty() { "" } else { ", " };
        format!("{}({}{separator}{{ {} }});", self.api, names(self.outer), names(self.packet))
    }

    /// The arguments of a statement, each with its kind, without those that are left out.
    pub fn fields<'a>(&self, statement: &'a Statement) -> Result<Vec<(Field, &'a Argument)>, Fault> {
        let wrong = |argument: Option<&Argument>, what: String| {
            let place = argument.map_or(&statement.place, Argument::place);
            Err(Fault::new(place, format!("{what}; write {} (E_PAR)", self.form())))
        };
        let (outer, packet) = match statement.arguments.split_last() {
            _ if self.packet.is_empty() => (&statement.arguments[..], &[][..]),
            Some((Argument::Packet(packet, _), outer)) => (outer, &packet[..]),
            _ => return wrong(statement.arguments.last(), "a packet in braces is missing".to_string()),
        };
        let mut fields = Vec::new();
        for (expected, given) in [(self.outer, outer), (self.packet, packet)] {
            for (number, &field) in expected.iter().enumerate() {
                match given.get(number) {
                    Some(argument) if matches!(argument, Argument::Packet(..)) == (field.1 == Notification) => {
                        fields.push((field, argument));
                    }
                    Some(argument) => return wrong(Some(argument), format!("{} was expected", field.0)),
                    None if field.1 == Memory || field == CEILING => {}
                    None => return wrong(given.last(), format!("{} is missing", field.0)),
                }
            }
            if let Some(argument) = given.get(expected.len()) {
                return wrong(Some(argument), "this is too much".to_string());
            }
        }
        Ok(fields)
    }
}

/// The function that a statement names, if it has its shape.
pub fn function(item: &Item) -> Option<&str> {
    let Item::Statement(statement) = item else { return None };
    let fields = Shape::of(&statement.name)?.fields(statement).ok()?;
    fields.into_iter().find_map(|((name, _), argument)| match argument {
        Argument::Text(text, _) if name == "the function" => Some(text.as_str()),
        _ => None,
    })
}
