//! Maps, and sets as lists.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::hash::{BuildHasher, Hash};

use super::{Data, Deeper, Malformed};
use crate::nif::abi::RawTerm;
use crate::nif::{Env, Term};

/// The map of these entries, whose values `write` writes.
pub(super) fn encode_map<'a, 'b, K: Data + 'b, V: 'b>(
    entries: impl Iterator<Item = (&'b K, &'b V)>,
    env: Env<'a>,
    write: impl Fn(&V, Env<'a>) -> Term<'a>,
) -> Term<'a> {
    let _deeper = Deeper::writing();
    let (keys, values): (Vec<RawTerm>, Vec<RawTerm>) =
        entries.map(|(key, value)| (key.encode(env).raw(), write(value, env).raw())).unzip();
    env.map(&keys, &values).expect("two keys of a map are one in Erlang")
}

/// Gives every entry to `put`, which says whether its key was new; `read` reads the values.
pub(super) fn decode_map<'a, K: Data, V>(
    term: Term<'a>,
    read: impl Fn(Term<'a>) -> Result<V, Malformed>,
    mut put: impl FnMut(K, V) -> bool,
) -> Result<(), Malformed> {
    let _deeper = Deeper::reading()?;
    let entries = term.map_entries().ok_or_else(|| Malformed::expected("a map"))?;
    for (key, value) in entries {
        let at = |wrong: Malformed, what: &str| wrong.within(format!("the {what} {}", key.shown()));
        let name = K::decode(key).map_err(|wrong| at(wrong, "key"))?;
        let value = read(value).map_err(|wrong| at(wrong, "value of"))?;
        if !put(name, value) {
            return Err(at(Malformed::expected("a key that is no other's"), "key"));
        }
    }
    Ok(())
}

fn encode_set<'a, 'b, T: Data + 'b>(elements: impl Iterator<Item = &'b T>, env: Env<'a>) -> Term<'a> {
    let _deeper = Deeper::writing();
    env.list(&elements.map(|element| element.encode(env).raw()).collect::<Vec<_>>())
}

/// Gives every element of a list to `put`, which says whether it was new.
fn decode_set<T: Data>(term: Term<'_>, mut put: impl FnMut(T) -> bool) -> Result<(), Malformed> {
    let _deeper = Deeper::reading()?;
    term.list_length().ok_or_else(|| Malformed::expected("a list"))?;
    let (mut rest, mut number) = (term, 1);
    while let Some((head, tail)) = rest.cell() {
        let at = |wrong: Malformed| wrong.within(format!("element {number}"));
        if !put(T::decode(head).map_err(at)?) {
            return Err(at(Malformed::expected("an element that is not there before")));
        }
        (rest, number) = (tail, number + 1);
    }
    Ok(())
}

/// A map.
impl<K: Data + Eq + Hash, V: Data, S: BuildHasher + Default> Data for HashMap<K, V, S> {
    fn encode<'a>(&self, env: Env<'a>) -> Term<'a> {
        encode_map(self.iter(), env, V::encode)
    }

    fn decode(term: Term<'_>) -> Result<Self, Malformed> {
        let mut map = Self::default();
        map.try_reserve(term.map_size().unwrap_or(0))
            .map_err(|_| Malformed::expected("a map that there is memory for"))?;
        decode_map(term, V::decode, |key, value| map.insert(key, value).is_none())?;
        Ok(map)
    }

    fn erlang_type() -> String {
        map_type::<K, V>()
    }
}

/// A map.
impl<K: Data + Ord, V: Data> Data for BTreeMap<K, V> {
    fn encode<'a>(&self, env: Env<'a>) -> Term<'a> {
        encode_map(self.iter(), env, V::encode)
    }

    fn decode(term: Term<'_>) -> Result<Self, Malformed> {
        let mut map = Self::new();
        decode_map(term, V::decode, |key, value| map.insert(key, value).is_none())?;
        Ok(map)
    }

    fn erlang_type() -> String {
        map_type::<K, V>()
    }
}

fn map_type<K: Data, V: Data>() -> String {
    format!("#{{{} => {}}}", K::erlang_type(), V::erlang_type())
}

/// A list in which nothing stands twice, in no particular order.
impl<T: Data + Eq + Hash, S: BuildHasher + Default> Data for HashSet<T, S> {
    fn encode<'a>(&self, env: Env<'a>) -> Term<'a> {
        encode_set(self.iter(), env)
    }

    fn decode(term: Term<'_>) -> Result<Self, Malformed> {
        let mut set = Self::default();
        decode_set(term, |element| set.insert(element))?;
        Ok(set)
    }

    fn erlang_type() -> String {
        Vec::<T>::erlang_type()
    }
}

/// A list in which nothing stands twice; sent in the order that Rust has, read in any.
impl<T: Data + Ord> Data for BTreeSet<T> {
    fn encode<'a>(&self, env: Env<'a>) -> Term<'a> {
        encode_set(self.iter(), env)
    }

    fn decode(term: Term<'_>) -> Result<Self, Malformed> {
        let mut set = Self::new();
        decode_set(term, |element| set.insert(element))?;
        Ok(set)
    }

    fn erlang_type() -> String {
        Vec::<T>::erlang_type()
    }
}
