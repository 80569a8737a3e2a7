//! Values that go between Rust and the VM: messages, replies, arguments, states.
//!
//! Each type has one form in Erlang, the one that an Erlang programmer would choose, and its type in Erlang's notation for
//! the `-spec`s of what is generated. Reading is strict: a term of any other form is [`Malformed`], which says what was
//! expected where, and never more than an error value.

mod any;
mod containers;
mod numbers;
mod words;

pub use any::Any;
pub use containers::Elements;

use std::fmt;

use crate::vm::{Env, Term};

/// A value that has a form in Erlang.
pub trait Data: Sized {
    fn encode<'a>(&self, env: Env<'a>) -> Term<'a>;

    /// # Errors
    /// When the term has another form.
    fn decode(term: Term<'_>) -> Result<Self, Malformed>;

    /// The type in Erlang's notation, such as `integer()`.
    fn erlang_type() -> String;
}

/// A term is not what it should be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Malformed {
    expected: String,
    /// From the innermost outwards: `element 2`, `field "start"`.
    path: Vec<String>,
}

impl Malformed {
    #[cold]
    pub fn expected(what: impl Into<String>) -> Self {
        Self { expected: what.into(), path: Vec::new() }
    }

    /// The same, seen from what contains it.
    #[cold]
    #[must_use]
    pub fn within(mut self, place: impl Into<String>) -> Self {
        self.path.push(place.into());
        self
    }
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "expected {}", self.expected)?;
        self.path.iter().rev().enumerate().try_for_each(|(depth, place)| {
            f.write_str(if depth == 0 { " at " } else { ", " })?;
            f.write_str(place)
        })
    }
}

impl std::error::Error for Malformed {}
