//! Values that go over to another build with the state that holds them. The trait is [`Carry`].
//!
//! Two builds share no memory layout, so a value is a term on its way. What is [`Data`] has a form already. Beyond that there is what no
//! message may hold, but a state does: a socket, a ticker, a monitor. Each has a form that only the process that it belongs to reads,
//! and its own file says how it goes over; here are the trait, and what holds other values.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
use std::hash::{BuildHasher, Hash};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use super::collections::{decode_map, encode_map};
use super::{Any, Bytes, Data, Deeper, Malformed, Name};
use crate::atom;
use crate::nif::{Env, Term, Tuple, clock};

/// A value that goes over to the next build with the state that holds it, at a hot upgrade. `#[derive(Carry)]` makes a struct or an enum of
/// such values one; what derives [`Data`] is one already. `docs/otp-upgrades.md` says which types are, and what becomes of the others.
///
/// ```
/// use otp::Carry;
/// use otp::net::{Lines, TcpStream};
///
/// #[derive(Carry)]
/// pub struct Connection {
///     stream: TcpStream,
///     lines: Lines,
///     name: Option<String>,
///     /// What does not go over is made anew, of what does.
///     #[otp(anew = name.as_ref().map_or(0, String::len))]
///     length: usize,
/// }
/// ```
///
/// What can do neither does not compile:
///
/// ```compile_fail,E0277
/// #[derive(otp::Carry)]
/// pub struct Worker {
///     thread: std::thread::JoinHandle<()>,
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be carried over to another build",
    label = "this does not go over",
    note = "`#[derive(otp::Carry)]` lets a struct or an enum of yours go over, and `#[derive(otp::Data)]` one that may be sent too",
    note = "a field that cannot go over is made anew in the next build: `#[otp(anew = …)]`"
)]
pub trait Carry: Sized {
    /// Its form on the way. The value stays what it is and where it is: nobody knows yet whether the upgrade will happen.
    fn carry<'a>(&self, env: Env<'a>) -> Term<'a>;

    /// # Errors
    /// When the term has another form.
    fn carried(term: Term<'_>) -> Result<Self, Malformed>;

    /// What it is as a field that the state of the build before did not have; `None` when there must be one.
    fn absent() -> Option<Self> {
        None
    }
}

/// Lets types that are [`Data`] go over in that form, where `#[derive(Data)]` has not done so: `otp::carry_as_data!(Mine, Other);`.
#[macro_export]
macro_rules! carry_as_data {
    ($($type:ty),* $(,)?) => {$(
        impl $crate::Carry for $type {
            fn carry<'a>(&self, env: $crate::vm::Env<'a>) -> $crate::vm::Term<'a> {
                $crate::Data::encode(self, env)
            }

            fn carried(term: $crate::vm::Term<'_>) -> ::core::result::Result<Self, $crate::Malformed> {
                $crate::Data::decode(term)
            }

            fn absent() -> ::core::option::Option<Self> {
                <Self as $crate::Data>::absent()
            }
        }
    )*};
}

carry_as_data! {
    (), bool, char, String, Bytes, Name, Any, f32, f64,
    u8, u16, u32, u64, u128, usize, i8, i16, i32, i64, i128, isize,
    IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SystemTime,
}

impl<'a> Term<'a> {
    /// The elements of a tuple of `N` that begins with this atom.
    pub(crate) fn tagged<const N: usize>(self, tag: &crate::nif::Atom) -> Option<[Term<'a>; N]> {
        self.tuple()?.array().filter(|elements: &[Term<'a>; N]| elements[0].is(tag))
    }
}

impl Tuple<'_> {
    /// The element at `index`, of its type, in a state that comes over.
    ///
    /// # Errors
    /// When it is of another form, or there are not as many.
    pub fn carried<T: Carry>(&self, index: usize) -> Result<T, Malformed> {
        let element = self.get(index).ok_or_else(|| Malformed::expected("one element more"))?;
        T::carried(element).map_err(|wrong| wrong.within(format!("element {}", index + 1)))
    }
}

/// A list, in its order.
fn carry_all<'a, 'b, T: Carry + 'b>(elements: impl Iterator<Item = &'b T>, env: Env<'a>) -> Term<'a> {
    let _deeper = Deeper::writing();
    env.list(&elements.map(|element| element.carry(env).raw()).collect::<Vec<_>>())
}

fn carried_all<T: Carry, C: FromIterator<T>>(term: Term<'_>) -> Result<C, Malformed> {
    let _deeper = Deeper::reading()?;
    term.list_length().ok_or_else(|| Malformed::expected("a list"))?;
    let (mut rest, mut number) = (term, 0);
    let elements = std::iter::from_fn(|| {
        let (head, tail) = rest.cell()?;
        (rest, number) = (tail, number + 1);
        Some(T::carried(head).map_err(|wrong| wrong.within(format!("element {number}"))))
    });
    elements.collect()
}

macro_rules! lists {
    ($($list:ident $(: $($bound:ident)+)?),*) => {$(
        impl<T: Carry $($(+ $bound)+)?> Carry for $list<T> {
            fn carry<'a>(&self, env: Env<'a>) -> Term<'a> {
                carry_all(self.iter(), env)
            }

            fn carried(term: Term<'_>) -> Result<Self, Malformed> {
                carried_all(term)
            }
        }
    )*};
}

lists!(Vec, VecDeque, BTreeSet: Ord);

impl<T: Carry + Eq + Hash, S: BuildHasher + Default> Carry for HashSet<T, S> {
    fn carry<'a>(&self, env: Env<'a>) -> Term<'a> {
        carry_all(self.iter(), env)
    }

    fn carried(term: Term<'_>) -> Result<Self, Malformed> {
        carried_all(term)
    }
}

impl<K: Data + Ord, V: Carry> Carry for BTreeMap<K, V> {
    fn carry<'a>(&self, env: Env<'a>) -> Term<'a> {
        encode_map(self.iter(), env, V::carry)
    }

    fn carried(term: Term<'_>) -> Result<Self, Malformed> {
        let mut map = Self::new();
        decode_map(term, V::carried, |key, value| map.insert(key, value).is_none())?;
        Ok(map)
    }
}

impl<K: Data + Eq + Hash, V: Carry, S: BuildHasher + Default> Carry for HashMap<K, V, S> {
    fn carry<'a>(&self, env: Env<'a>) -> Term<'a> {
        encode_map(self.iter(), env, V::carry)
    }

    fn carried(term: Term<'_>) -> Result<Self, Malformed> {
        let mut map = Self::default();
        decode_map(term, V::carried, |key, value| map.insert(key, value).is_none())?;
        Ok(map)
    }
}

macro_rules! pointers {
    ($($pointer:ident),*) => {$(
        impl<T: Carry> Carry for $pointer<T> {
            fn carry<'a>(&self, env: Env<'a>) -> Term<'a> {
                let _deeper = Deeper::writing();
                T::carry(self, env)
            }

            fn carried(term: Term<'_>) -> Result<Self, Malformed> {
                let _deeper = Deeper::reading()?;
                T::carried(term).map(Self::new)
            }

            fn absent() -> Option<Self> {
                T::absent().map(Self::new)
            }
        }
    )*};
}

pointers!(Box, Arc);

impl<T: Carry> Carry for Option<T> {
    fn carry<'a>(&self, env: Env<'a>) -> Term<'a> {
        self.as_ref().map_or_else(|| atom!("undefined").term(env), |value| value.carry(env))
    }

    fn carried(term: Term<'_>) -> Result<Self, Malformed> {
        if term.is(atom!("undefined")) { Ok(None) } else { T::carried(term).map(Some) }
    }

    fn absent() -> Option<Self> {
        Some(None)
    }
}

impl<T: Carry, E: Carry> Carry for Result<T, E> {
    fn carry<'a>(&self, env: Env<'a>) -> Term<'a> {
        let (tag, value) = match self {
            Ok(value) => (atom!("ok"), value.carry(env)),
            Err(reason) => (atom!("error"), reason.carry(env)),
        };
        env.tuple(&[tag.raw(env), value.raw()])
    }

    fn carried(term: Term<'_>) -> Result<Self, Malformed> {
        if let Some([_, value]) = term.tagged(atom!("ok")) {
            return T::carried(value).map(Ok);
        }
        if let Some([_, reason]) = term.tagged(atom!("error")) {
            return E::carried(reason).map(Err);
        }
        // As `Data` has a result that says nothing but that all went well.
        if term.is(atom!("ok")) {
            return T::carried(term).map(Ok);
        }
        Err(Malformed::expected("{ok, Value} or {error, Reason}"))
    }
}

impl<T: Carry, const N: usize> Carry for [T; N] {
    fn carry<'a>(&self, env: Env<'a>) -> Term<'a> {
        env.tuple(&self.iter().map(|element| element.carry(env).raw()).collect::<Vec<_>>())
    }

    fn carried(term: Term<'_>) -> Result<Self, Malformed> {
        let tuple = term.tuple().filter(|tuple| tuple.len() == N);
        let tuple = tuple.ok_or_else(|| Malformed::expected(format!("a tuple of {N}")))?;
        let elements = (0..N).map(|index| tuple.carried(index)).collect::<Result<Vec<_>, _>>()?;
        elements.try_into().map_err(|_| Malformed::expected(format!("a tuple of {N}")))
    }
}

macro_rules! tuples {
    ($($arity:literal: $($name:ident $index:tt)*;)*) => {$(
        impl<$($name: Carry),*> Carry for ($($name,)*) {
            fn carry<'a>(&self, env: Env<'a>) -> Term<'a> {
                env.tuple(&[$(self.$index.carry(env).raw()),*])
            }

            fn carried(term: Term<'_>) -> Result<Self, Malformed> {
                let tuple = term.tuple().filter(|tuple| tuple.len() == $arity);
                let tuple = tuple.ok_or_else(|| Malformed::expected(concat!("a tuple of ", $arity)))?;
                Ok(($(tuple.carried::<$name>($index)?,)*))
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

/// To the nanosecond, `{'$otp_duration', Seconds, Nanoseconds}`; the milliseconds that it is as [`Data`] are read too.
impl Carry for Duration {
    fn carry<'a>(&self, env: Env<'a>) -> Term<'a> {
        let (seconds, rest) = (self.as_secs().encode(env), self.subsec_nanos().encode(env));
        env.tuple(&[atom!("$otp_duration").raw(env), seconds.raw(), rest.raw()])
    }

    fn carried(term: Term<'_>) -> Result<Self, Malformed> {
        match term.tagged(atom!("$otp_duration")) {
            Some([_, seconds, rest]) => {
                let rest = u32::decode(rest)?;
                if rest >= 1_000_000_000 {
                    return Err(Malformed::expected("nanoseconds of less than a second"));
                }
                Ok(Self::new(u64::decode(seconds)?, rest))
            }
            None => Self::decode(term),
        }
    }
}

/// `{'$otp_instant', Nanoseconds}` on the kernel's clock, which all builds share.
impl Carry for Instant {
    fn carry<'a>(&self, env: Env<'a>) -> Term<'a> {
        let (now, clock) = (Self::now(), clock());
        let nanoseconds = |time: Duration| i64::try_from(time.as_nanos()).unwrap_or(i64::MAX);
        let ahead =
            nanoseconds(self.saturating_duration_since(now)) - nanoseconds(now.saturating_duration_since(*self));
        env.tuple(&[atom!("$otp_instant").raw(env), clock.saturating_add(ahead).encode(env).raw()])
    }

    fn carried(term: Term<'_>) -> Result<Self, Malformed> {
        let malformed = || Malformed::expected("a moment that the clock knows");
        let [_, at] = term.tagged(atom!("$otp_instant")).ok_or_else(malformed)?;
        let (now, clock) = (Self::now(), clock());
        let ahead = i64::decode(at)?.saturating_sub(clock);
        let by = Duration::from_nanos(ahead.unsigned_abs());
        if ahead < 0 { now.checked_sub(by) } else { now.checked_add(by) }.ok_or_else(malformed)
    }
}
