//! Booleans, `ok` for `()`, characters and texts.

use super::{Data, Malformed};
use crate::atom;
use crate::nif::{Env, Term};

/// Nothing: the atom `ok`.
impl Data for () {
    #[inline]
    fn encode<'a>(&self, env: Env<'a>) -> Term<'a> {
        atom!("ok").term(env)
    }

    #[inline]
    fn decode(term: Term<'_>) -> Result<Self, Malformed> {
        if term.is(atom!("ok")) { Ok(()) } else { Err(Malformed::expected("the atom ok")) }
    }

    fn erlang_type() -> String {
        "ok".into()
    }

    const NOTHING: bool = true;
}

impl Data for bool {
    #[inline]
    fn encode<'a>(&self, env: Env<'a>) -> Term<'a> {
        if *self { atom!("true") } else { atom!("false") }.term(env)
    }

    #[inline]
    fn decode(term: Term<'_>) -> Result<Self, Malformed> {
        match term {
            _ if term.is(atom!("true")) => Ok(true),
            _ if term.is(atom!("false")) => Ok(false),
            _ => Err(Malformed::expected("true or false")),
        }
    }

    fn erlang_type() -> String {
        "boolean()".into()
    }
}

/// A text: a binary in UTF-8.
impl Data for String {
    fn encode<'a>(&self, env: Env<'a>) -> Term<'a> {
        env.binary(self.as_bytes())
    }

    fn decode(term: Term<'_>) -> Result<Self, Malformed> {
        let text = term.bytes().and_then(|bytes| std::str::from_utf8(bytes).ok());
        text.map(str::to_owned).ok_or_else(|| Malformed::expected("a binary in UTF-8"))
    }

    fn erlang_type() -> String {
        "binary()".into()
    }
}
