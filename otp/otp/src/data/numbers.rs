//! Integers and floats.

use super::{Data, Malformed};
use crate::vm::{Env, Term, vm};

/// Integers that fit the given accessor of a term: `integer()`, in the range of the type.
macro_rules! integers {
    ($read:ident, $make:ident: $($type:ty),*) => {$(
        impl Data for $type {
            #[inline]
            fn encode<'a>(&self, env: Env<'a>) -> Term<'a> {
                // SAFETY: makes a term of a number.
                #[allow(clippy::unnecessary_cast, reason = "the widest of them is cast to itself")]
                env.adopt(unsafe { (vm().$make)(env.raw(), *self as _) })
            }

            #[inline]
            fn decode(term: Term<'_>) -> Result<Self, Malformed> {
                let value = term.$read().and_then(|value| Self::try_from(value).ok());
                value.ok_or_else(|| Malformed::expected(format!("an integer from {} to {}", Self::MIN, Self::MAX)))
            }

            fn erlang_type() -> String {
                if Self::MIN == 0 { "non_neg_integer()".into() } else { "integer()".into() }
            }
        }
    )*};
}

integers!(integer, make_int64: i8, i16, i32, i64, isize);
integers!(unsigned, make_uint64: u8, u16, u32, u64, usize);

impl Data for f64 {
    #[inline]
    fn encode<'a>(&self, env: Env<'a>) -> Term<'a> {
        // Erlang has no infinities and no NaN: the VM would make an exception of them.
        assert!(self.is_finite(), "Erlang has no float for {self}");
        // SAFETY: makes a term of a finite number.
        env.adopt(unsafe { (vm().make_double)(env.raw(), *self) })
    }

    #[inline]
    fn decode(term: Term<'_>) -> Result<Self, Malformed> {
        term.float().ok_or_else(|| Malformed::expected("a float"))
    }

    fn erlang_type() -> String {
        "float()".into()
    }
}
