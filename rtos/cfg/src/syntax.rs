//! The syntax of a `.cfg` file: its items, each with its place.
//!
//! An item is a static API with its arguments, or a line of the preprocessor, which keeps its position among the
//! statements.

use crate::fault::Place;

/// An argument: text of C, or a packet in braces.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Argument {
    /// An expression, a name, a string.
    Text(String, Place),
    /// `{ … }`
    Packet(Vec<Argument>, Place),
}

impl Argument {
    /// Where it is.
    pub fn place(&self) -> &Place {
        match self {
            Argument::Text(_, place) | Argument::Packet(_, place) => place,
        }
    }
}

/// An item of a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Item {
    /// A line for the preprocessor.
    Directive(String, Place),
    /// A static API.
    Statement(Statement),
}

impl Item {
    /// The name of the object that a statement makes.
    pub fn name(&self) -> Option<&Argument> {
        match self {
            Item::Statement(statement) if statement.name.starts_with("CRE_") => statement.arguments.first(),
            _ => None,
        }
    }
}

/// A static API with its arguments.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Statement {
    /// `CRE_TSK` or another.
    pub name: String,
    /// The arguments in the parentheses.
    pub arguments: Vec<Argument>,
    /// The class that it stands in.
    pub class: Option<(String, Place)>,
    /// Where it begins.
    pub place: Place,
}
