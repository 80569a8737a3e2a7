//! Integers of 128 bits. The VM's interface has none beyond 64 bits, so longer ones go by their external form.

use super::{Data, Malformed};
use crate::nif::{Env, Term};

/// An integer of Erlang's, as long as it need be.
impl Data for i128 {
    fn encode<'a>(&self, env: Env<'a>) -> Term<'a> {
        match i64::try_from(*self) {
            Ok(value) => value.encode(env),
            Err(_) => env.wide_integer(*self < 0, self.unsigned_abs()),
        }
    }

    fn decode(term: Term<'_>) -> Result<Self, Malformed> {
        let read = || {
            if let Some(value) = term.integer() {
                return Some(Self::from(value));
            }
            let (negative, size) = term.wide_integer()?;
            if negative { 0_i128.checked_sub_unsigned(size) } else { Self::try_from(size).ok() }
        };
        read().ok_or_else(|| Malformed::expected(format!("an integer from {} to {}", Self::MIN, Self::MAX)))
    }

    fn erlang_type() -> String {
        "integer()".into()
    }
}

/// The same, from 0.
impl Data for u128 {
    fn encode<'a>(&self, env: Env<'a>) -> Term<'a> {
        match u64::try_from(*self) {
            Ok(value) => value.encode(env),
            Err(_) => env.wide_integer(false, *self),
        }
    }

    fn decode(term: Term<'_>) -> Result<Self, Malformed> {
        let wide = || term.wide_integer().filter(|(negative, _)| !negative).map(|(_, size)| size);
        let read = term.unsigned().map(Self::from).or_else(wide);
        read.ok_or_else(|| Malformed::expected(format!("an integer from 0 to {}", Self::MAX)))
    }

    fn erlang_type() -> String {
        "non_neg_integer()".into()
    }
}
