//! Values that go between Rust and the VM: messages, replies, arguments, states. The trait is [`Data`].
//!
//! What goes to another build with a state is [`Carry`], which is more than what may be sent.
//!
//! This layer may use `nif`, whose terms it encodes and decodes; it knows no process.
//!
//! Each type has one form in Erlang, the one that an Erlang programmer would choose, and its type in Erlang's notation for
//! the `-spec`s of what is generated. Reading is strict: a term of any other form is [`Malformed`], which says what was
//! expected where, and never more than an error value.

mod any;
pub(crate) mod brief;
mod bytes;
mod carry;
mod collections;
mod containers;
mod depth;
#[doc(hidden)]
pub mod derived;
mod element;
mod name;
mod net;
mod numbers;
mod time;
pub mod types;
mod wide;
mod words;

pub use any::Any;
pub use bytes::Bytes;
pub use carry::Carry;
pub use containers::Elements;
pub use depth::{DEPTH, Deeper};
pub use name::{Name, TooLong};

use std::fmt;

use crate::nif::{Env, Term};

/// A value that has a form in Erlang. `#[derive(Data)]` gives one to a struct or an enum; `docs/otp-data.md` says which, and
/// what the types of Rust's library have.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no form in Erlang",
    label = "what goes to or comes from a process must have one",
    note = "`#[derive(otp::Data)]` gives a struct or an enum of yours its form"
)]
pub trait Data: Sized {
    /// # Panics
    /// When the value has no form: when it is deeper than [`DEPTH`], or a map in which two keys are one in Erlang.
    fn encode<'a>(&self, env: Env<'a>) -> Term<'a>;

    /// # Errors
    /// When the term has another form.
    fn decode(term: Term<'_>) -> Result<Self, Malformed>;

    /// The type in Erlang's notation, such as `integer()`; see [`types`] for what has a name of its own.
    fn erlang_type() -> String;

    /// What it is as the field of a map that has no such key; `None` when there must be one.
    #[inline]
    fn absent() -> Option<Self> {
        None
    }

    /// Whether it says nothing but that all went well, as `()` does, so that `{ok, Value}` is `ok` alone.
    #[doc(hidden)]
    const NOTHING: bool = false;
}

/// A term is not what it should be.
///
/// It is one word, so that what may be malformed is returned in registers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Malformed(Box<Wrong>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Wrong {
    /// What is wrong, up to the places.
    said: String,
    /// From the innermost outwards: `element 2`, `field "start"`.
    path: Vec<String>,
}

impl Malformed {
    #[cold]
    pub fn expected(what: impl Into<String>) -> Self {
        Self::told(format!("expected {}", what.into()))
    }

    /// One that was told as a text, and says nothing else when it is told again.
    #[cold]
    pub(crate) fn told(said: String) -> Self {
        Self(Box::new(Wrong { said, path: Vec::new() }))
    }

    /// The same, seen from what contains it.
    #[cold]
    #[must_use]
    pub fn within(mut self, place: impl Into<String>) -> Self {
        self.0.path.push(place.into());
        self
    }
}

/// Of a long one, as the keys of a map may be, the beginning.
impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&brief::brief(&self.0))
    }
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.said)?;
        self.path.iter().rev().enumerate().try_for_each(|(depth, place)| {
            f.write_str(if depth == 0 { " at " } else { ", " })?;
            f.write_str(place)
        })
    }
}

impl std::error::Error for Malformed {}
