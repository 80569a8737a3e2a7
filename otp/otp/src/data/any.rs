//! A term of whatever form, kept as it is.

use std::fmt;

use super::{Data, Malformed};
use crate::vm::{Env, Kept, Term};

/// A term of any form: `term()`. It can be kept, handed on as it is, or read as something.
#[derive(Clone, PartialEq)]
pub struct Any(Kept);

impl Any {
    /// What `value` is in Erlang.
    pub fn of(value: &impl Data) -> Self {
        Self(Kept::made(|env| value.encode(env)))
    }

    pub(crate) fn keep(term: Term<'_>) -> Self {
        Self(Kept::of(term))
    }

    pub(crate) fn read<R>(&self, read: impl FnOnce(Term<'_>) -> R) -> R {
        self.0.with(read)
    }

    /// The value, read as a `T`.
    ///
    /// # Errors
    /// When it has another form.
    pub fn get<T: Data>(&self) -> Result<T, Malformed> {
        self.0.with(T::decode)
    }
}

/// As Erlang writes it.
impl fmt::Debug for Any {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Data for Any {
    fn encode<'a>(&self, env: Env<'a>) -> Term<'a> {
        self.0.with(|term| term.copy_to(env))
    }

    fn decode(term: Term<'_>) -> Result<Self, Malformed> {
        Ok(Self::keep(term))
    }

    fn erlang_type() -> String {
        "term()".into()
    }
}
