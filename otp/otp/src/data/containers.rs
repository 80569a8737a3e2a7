//! Lists, tuples, `Option` and `Result`.

use std::collections::VecDeque;
use std::sync::Arc;

use super::{Data, Deeper, Malformed};
use crate::atom;
use crate::nif::abi::RawTerm;
use crate::nif::{Env, Term};

/// A list.
impl<T: Data> Data for Vec<T> {
    fn encode<'a>(&self, env: Env<'a>) -> Term<'a> {
        let _deeper = Deeper::writing();
        let elements: Vec<_> = self.iter().map(|element| element.encode(env).raw()).collect();
        env.list(&elements)
    }

    fn decode(term: Term<'_>) -> Result<Self, Malformed> {
        let _deeper = Deeper::reading()?;
        let length = term.list_length().ok_or_else(|| Malformed::expected("a list"))?;
        let mut elements = Vec::new();
        // An element may be larger here than there, so there may be no memory for them all: that is no reason to end the VM.
        elements.try_reserve_exact(length).map_err(|_| Malformed::expected("a list that there is memory for"))?;
        let mut rest = term;
        while let Some((head, tail)) = rest.cell() {
            elements.push(T::decode(head).map_err(|wrong| wrong.within(format!("element {}", elements.len() + 1)))?);
            rest = tail;
        }
        Ok(elements)
    }

    fn erlang_type() -> String {
        format!("[{}]", T::erlang_type())
    }
}

/// A list, as that of a `Vec`.
impl<T: Data> Data for VecDeque<T> {
    fn encode<'a>(&self, env: Env<'a>) -> Term<'a> {
        let _deeper = Deeper::writing();
        let elements: Vec<_> = self.iter().map(|element| element.encode(env).raw()).collect();
        env.list(&elements)
    }

    fn decode(term: Term<'_>) -> Result<Self, Malformed> {
        Vec::decode(term).map(Self::from)
    }

    fn erlang_type() -> String {
        Vec::<T>::erlang_type()
    }
}

/// What it holds.
macro_rules! pointers {
    ($($pointer:ident),*) => {$(
        impl<T: Data> Data for $pointer<T> {
            fn encode<'a>(&self, env: Env<'a>) -> Term<'a> {
                let _deeper = Deeper::writing();
                T::encode(self, env)
            }

            fn decode(term: Term<'_>) -> Result<Self, Malformed> {
                let _deeper = Deeper::reading()?;
                T::decode(term).map(Self::new)
            }

            fn erlang_type() -> String {
                T::erlang_type()
            }

            fn absent() -> Option<Self> {
                T::absent().map(Self::new)
            }
        }
    )*};
}

pointers!(Box, Arc);

/// A tuple of as many.
impl<T: Data, const N: usize> Data for [T; N] {
    fn encode<'a>(&self, env: Env<'a>) -> Term<'a> {
        const { assert!(N < 1 << 24, "a tuple has fewer than 2^24 elements") };
        if N <= 64 {
            env.tuple(&self.each_ref().map(|element| element.encode(env).raw()))
        } else {
            env.tuple(&self.iter().map(|element| element.encode(env).raw()).collect::<Vec<_>>())
        }
    }

    fn decode(term: Term<'_>) -> Result<Self, Malformed> {
        let tuple = term.tuple().filter(|tuple| tuple.len() == N);
        let tuple = tuple.ok_or_else(|| Malformed::expected(format!("a tuple of {N}")))?;
        let mut elements = Vec::with_capacity(N);
        for index in 0..N {
            elements.push(tuple.element(index)?);
        }
        // There are as many as were put there.
        elements.try_into().map_err(|_| Malformed::expected(format!("a tuple of {N}")))
    }

    fn erlang_type() -> String {
        // A longer one says less to its reader than its kind.
        if N > 16 { "tuple()".into() } else { format!("{{{}}}", vec![T::erlang_type(); N].join(", ")) }
    }
}

/// The value itself, or the atom `undefined`; Elixir's `nil` is read as well.
impl<T: Data> Data for Option<T> {
    fn encode<'a>(&self, env: Env<'a>) -> Term<'a> {
        self.as_ref().map_or_else(|| atom!("undefined").term(env), |value| value.encode(env))
    }

    fn decode(term: Term<'_>) -> Result<Self, Malformed> {
        if term.is(atom!("undefined")) || term.is(atom!("nil")) { Ok(None) } else { T::decode(term).map(Some) }
    }

    fn erlang_type() -> String {
        format!("{} | undefined", T::erlang_type())
    }

    fn absent() -> Option<Self> {
        Some(None)
    }
}

/// `{ok, Value}` or `{error, Reason}`; `ok` alone when the value is nothing.
impl<T: Data, E: Data> Data for Result<T, E> {
    fn encode<'a>(&self, env: Env<'a>) -> Term<'a> {
        let (tag, value) = match self {
            Ok(value) if T::NOTHING => return value.encode(env),
            Ok(value) => (atom!("ok"), value.encode(env)),
            Err(reason) => (atom!("error"), reason.encode(env)),
        };
        env.tuple(&[tag.term(env).raw(), value.raw()])
    }

    fn decode(term: Term<'_>) -> Result<Self, Malformed> {
        let pair = term.tuple().and_then(|tuple| tuple.array());
        match pair {
            Some([tag, value]) if tag.is(atom!("ok")) && !T::NOTHING => T::decode(value).map(Ok),
            Some([tag, reason]) if tag.is(atom!("error")) => E::decode(reason).map(Err),
            _ if T::NOTHING => T::decode(term).map(Ok),
            _ => Err(Malformed::expected("{ok, Value} or {error, Reason}")),
        }
    }

    fn erlang_type() -> String {
        let ok = T::erlang_type();
        let ok = if T::NOTHING { ok } else { format!("{{ok, {ok}}}") };
        format!("{ok} | {{error, {}}}", E::erlang_type())
    }
}

/// Values that stand beside each other: the elements of a tuple, the arguments of a start.
pub trait Elements: Sized {
    fn encode_all(&self, env: Env<'_>) -> Vec<RawTerm>;

    /// # Errors
    /// When the term is no tuple of these.
    fn decode_all(term: Term<'_>) -> Result<Self, Malformed>;
}

impl Elements for () {
    fn encode_all(&self, _: Env<'_>) -> Vec<RawTerm> {
        Vec::new()
    }

    fn decode_all(term: Term<'_>) -> Result<Self, Malformed> {
        let empty = term.tuple().is_some_and(|tuple| tuple.is_empty());
        if empty { Ok(()) } else { Err(Malformed::expected("{}")) }
    }
}

macro_rules! tuples {
    ($($arity:literal: $($name:ident $index:tt)*;)*) => {$(
        impl<$($name: Data),*> Elements for ($($name,)*) {
            fn encode_all(&self, env: Env<'_>) -> Vec<RawTerm> {
                vec![$(self.$index.encode(env).raw()),*]
            }

            #[inline]
            fn decode_all(term: Term<'_>) -> Result<Self, Malformed> {
                let elements: Option<[Term<'_>; $arity]> = term.tuple().and_then(|tuple| tuple.array());
                let elements = elements.ok_or_else(|| Malformed::expected(concat!("a tuple of ", $arity)))?;
                Ok(($($name::decode(elements[$index]).map_err(|wrong| wrong.within(format!("element {}", $index + 1)))?,)*))
            }
        }

        impl<$($name: Data),*> Data for ($($name,)*) {
            #[inline]
            fn encode<'a>(&self, env: Env<'a>) -> Term<'a> {
                env.tuple(&[$(self.$index.encode(env).raw()),*])
            }

            #[inline]
            fn decode(term: Term<'_>) -> Result<Self, Malformed> {
                Self::decode_all(term)
            }

            fn erlang_type() -> String {
                format!("{{{}}}", [$($name::erlang_type()),*].join(", "))
            }
        }
    )*};
}

tuples! {
    1: A 0;
    2: A 0 B 1;
    3: A 0 B 1 C 2;
    4: A 0 B 1 C 2 D 3;
    5: A 0 B 1 C 2 D 3 E 4;
    6: A 0 B 1 C 2 D 3 E 4 F 5;
    7: A 0 B 1 C 2 D 3 E 4 F 5 G 6;
    8: A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7;
}
