//! `Any`: a value of any form, kept as a term.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use super::{Data, Malformed};
use crate::nif::{Env, OwnedTerm, Term};

/// A term of any form, kept for as long as this lives: a reason that somebody gives, a part of a message that is passed on.
///
/// It is a copy, in memory of its own outside of any process. A clone is the same copy, which is freed with the last of them.
/// Two are equal when `=:=` says so.
#[derive(Clone)]
pub struct Any(Arc<OwnedTerm>);

impl Any {
    /// The value as a term.
    ///
    /// # Panics
    /// Outside of a VM.
    pub fn of<T: Data>(value: &T) -> Self {
        Self(Arc::new(OwnedTerm::new(|env| value.encode(env))))
    }

    pub(crate) fn keep(term: Term<'_>) -> Self {
        Self(Arc::new(OwnedTerm::new(|env| term.copy_to(env))))
    }

    /// What `make` makes, and what no process refers to.
    pub(crate) fn made(make: impl for<'a> FnOnce(Env<'a>) -> Term<'a>) -> Self {
        Self(Arc::new(OwnedTerm::new(make)))
    }

    pub(crate) fn read<R>(&self, read: impl FnOnce(Term<'_>) -> R) -> R {
        self.0.look(read)
    }

    /// The term as a value.
    ///
    /// # Errors
    /// When it has another form.
    pub fn get<T: Data>(&self) -> Result<T, Malformed> {
        self.0.look(T::decode)
    }
}

impl PartialEq for Any {
    fn eq(&self, other: &Self) -> bool {
        self.0.is_identical(&other.0)
    }
}

impl Eq for Any {}

impl Hash for Any {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.0.hash());
    }
}

/// As Erlang writes it; of a large one, the beginning.
impl fmt::Debug for Any {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.look(|term| term.shown()))
    }
}

impl Data for Any {
    fn encode<'a>(&self, env: Env<'a>) -> Term<'a> {
        self.0.copy_to(env)
    }

    fn decode(term: Term<'_>) -> Result<Self, Malformed> {
        Ok(Self::keep(term))
    }

    fn erlang_type() -> String {
        "term()".into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_goes_from_thread_to_thread() {
        fn shared<T: Send + Sync + 'static>() {}
        shared::<Any>();
    }
}
