//! Integers, floats and characters.

use std::fmt;

use super::{Data, Malformed};
use crate::atom;
use crate::nif::{Env, Term};

/// Integers that fit the given accessor of a term: `integer()`, in the range of the type.
macro_rules! integers {
    ($read:ident, $($type:ty),*) => {$(
        impl Data for $type {
            #[inline]
            fn encode<'a>(&self, env: Env<'a>) -> Term<'a> {
                match i64::try_from(*self) {
                    Ok(value) => env.integer(value),
                    Err(_) => env.unsigned(*self as u64),
                }
            }

            #[inline]
            fn decode(term: Term<'_>) -> Result<Self, Malformed> {
                match term.$read().and_then(|value| Self::try_from(value).ok()) {
                    Some(value) => Ok(value),
                    None => Err(no_integer(&Self::MIN, &Self::MAX)),
                }
            }

            fn erlang_type() -> String {
                if Self::MIN == 0 { "non_neg_integer()".into() } else { "integer()".into() }
            }
        }
    )*};
}

#[cold]
fn no_integer(least: &dyn fmt::Display, greatest: &dyn fmt::Display) -> Malformed {
    Malformed::expected(format!("an integer from {least} to {greatest}"))
}

integers!(integer, i8, i16, i32, i64, isize);
integers!(unsigned, u8, u16, u32, u64, usize);

/// A float. Erlang has none for what is no number: that is one of the atoms `infinity`, `neg_infinity` and `nan`, as Elixir's
/// numerical libraries have it.
impl Data for f64 {
    #[inline]
    fn encode<'a>(&self, env: Env<'a>) -> Term<'a> {
        env.float(*self).unwrap_or_else(|| no_number(*self, env))
    }

    #[inline]
    fn decode(term: Term<'_>) -> Result<Self, Malformed> {
        match term.float() {
            Some(value) => Ok(value),
            None => read_no_number(term).ok_or_else(|| Malformed::expected("a float")),
        }
    }

    fn erlang_type() -> String {
        "float() | infinity | neg_infinity | nan".into()
    }
}

#[cold]
fn no_number(value: f64, env: Env<'_>) -> Term<'_> {
    match value {
        f64::INFINITY => atom!("infinity").term(env),
        f64::NEG_INFINITY => atom!("neg_infinity").term(env),
        _ => atom!("nan").term(env),
    }
}

#[cold]
fn read_no_number(term: Term<'_>) -> Option<f64> {
    match term {
        _ if term.is(atom!("infinity")) => Some(f64::INFINITY),
        _ if term.is(atom!("neg_infinity")) => Some(f64::NEG_INFINITY),
        _ if term.is(atom!("nan")) => Some(f64::NAN),
        _ => None,
    }
}

/// A float, read as the nearest one that there is with 32 bits.
impl Data for f32 {
    #[inline]
    fn encode<'a>(&self, env: Env<'a>) -> Term<'a> {
        f64::from(*self).encode(env)
    }

    #[inline]
    fn decode(term: Term<'_>) -> Result<Self, Malformed> {
        let value = f64::decode(term)?;
        #[expect(clippy::cast_possible_truncation, reason = "the nearest one is meant, and the range is looked at")]
        let near = value as Self;
        if near.is_infinite() && value.is_finite() {
            return Err(Malformed::expected(format!("a float from {:e} to {:e}", Self::MIN, Self::MAX)));
        }
        Ok(near)
    }

    fn erlang_type() -> String {
        f64::erlang_type()
    }
}

/// A character: its number in Unicode.
impl Data for char {
    #[inline]
    fn encode<'a>(&self, env: Env<'a>) -> Term<'a> {
        u32::from(*self).encode(env)
    }

    #[inline]
    fn decode(term: Term<'_>) -> Result<Self, Malformed> {
        let value = term.unsigned().and_then(|value| Self::from_u32(u32::try_from(value).ok()?));
        value.ok_or_else(|| Malformed::expected("the number of a character in Unicode"))
    }

    fn erlang_type() -> String {
        "char()".into()
    }
}
