//! Functions that the code of `#[derive(Data)]` and `#[derive(Carry)]` calls; not for others.

use super::{Carry, Data, Malformed, types};
use crate::atom;
use crate::nif::abi::RawTerm;
use crate::nif::{Atom, Env, Term, Tuple};

/// The elements, if they are as many as `arity` and the first of them is `tag`.
#[inline]
pub fn tagged<'a>(elements: Option<Tuple<'a>>, tag: &Atom, arity: usize) -> Option<Tuple<'a>> {
    elements.filter(|elements| elements.len() == arity && elements.get(0).is_some_and(|first| first.is(tag)))
}

/// The atom `tag`, or the tuple of it and the rest.
#[inline]
pub fn tuple<'a, const N: usize>(env: Env<'a>, tag: &Atom, rest: [RawTerm; N]) -> Term<'a> {
    if N == 0 {
        return tag.term(env);
    }
    // A tuple as long as a struct of the user's has fields.
    const SHORT: usize = 15;
    if N <= SHORT {
        let mut elements = [0; SHORT + 1];
        elements[0] = tag.term(env).raw();
        elements[1..=N].copy_from_slice(&rest);
        return env.tuple(&elements[..=N]);
    }
    let elements: Vec<_> = std::iter::once(tag.term(env).raw()).chain(rest).collect();
    env.tuple(&elements)
}

/// A map with these keys, of which no two are the same.
#[inline]
pub fn map<'a, const N: usize>(env: Env<'a>, keys: [&Atom; N], values: [RawTerm; N]) -> Term<'a> {
    env.map(&keys.map(|key| key.term(env).raw()), &values).expect("no two fields have one name")
}

/// A field of a struct of Elixir's, where what is not there is `nil`.
#[inline]
pub fn encode_or_nil<'a, T: Data>(value: &T, env: Env<'a>) -> Term<'a> {
    let term = value.encode(env);
    if term.is(atom!("undefined")) && T::absent().is_some() { atom!("nil").term(env) } else { term }
}

/// A map whose keys are the names of fields, as it is being read.
#[derive(Debug)]
pub struct Fields<'a> {
    map: Term<'a>,
    size: usize,
    /// How many of its keys are fields.
    read: usize,
}

impl<'a> Fields<'a> {
    /// # Errors
    /// When the term is no map.
    #[inline]
    pub fn of(map: Term<'a>) -> Result<Self, Malformed> {
        let size = map.map_size().ok_or_else(|| Malformed::expected("a map"))?;
        Ok(Self { map, size, read: 0 })
    }

    #[inline]
    fn find<T>(&mut self, key: &Atom, read: fn(Term<'a>) -> Result<T, Malformed>) -> Result<Option<T>, Malformed> {
        let Some(value) = self.map.map_value(key.term(self.map.env())) else { return Ok(None) };
        self.read += 1;
        read(value).map(Some).map_err(|wrong| wrong.within(format!("field {:?}", key.name())))
    }

    /// # Errors
    /// When the map is no struct of this module of Elixir's.
    #[inline]
    pub fn are_of_struct(&mut self, module: &Atom) -> Result<(), Malformed> {
        let tag = self.map.map_value(atom!("__struct__").term(self.map.env()));
        if !tag.is_some_and(|tag| tag.is(module)) {
            let name = module.name().trim_start_matches("Elixir.");
            return Err(Malformed::expected(format!("a struct %{name}{{}}")));
        }
        self.read += 1;
        Ok(())
    }

    /// The field of this name.
    ///
    /// # Errors
    /// When there is none and its type cannot be absent, or when it is of another form.
    #[inline]
    pub fn field<T: Data>(&mut self, key: &Atom) -> Result<T, Malformed> {
        self.find(key, T::decode)?.or_else(T::absent).ok_or_else(|| missing(key))
    }

    /// The field of this name, or `default` where there is none.
    ///
    /// # Errors
    /// When it is of another form.
    #[inline]
    pub fn field_or<T: Data>(&mut self, key: &Atom, default: impl FnOnce() -> T) -> Result<T, Malformed> {
        Ok(self.find(key, T::decode)?.unwrap_or_else(default))
    }

    /// The field of this name, in a state that comes over.
    ///
    /// # Errors
    /// As those of [`Fields::field`].
    pub fn carried<T: Carry>(&mut self, key: &Atom) -> Result<T, Malformed> {
        self.find(key, T::carried)?.or_else(T::absent).ok_or_else(|| missing(key))
    }

    /// The same, or `default` where there is none.
    ///
    /// # Errors
    /// As those of [`Fields::field_or`].
    pub fn carried_or<T: Carry>(&mut self, key: &Atom, default: impl FnOnce() -> T) -> Result<T, Malformed> {
        Ok(self.find(key, T::carried)?.unwrap_or_else(default))
    }

    /// # Errors
    /// When there are other keys than `known`.
    #[inline]
    pub fn finish(self, known: &[&Atom]) -> Result<(), Malformed> {
        if self.read == self.size { Ok(()) } else { Err(self.unknown(known)) }
    }

    #[cold]
    fn unknown(self, known: &[&Atom]) -> Malformed {
        let is_known = |key: Term<'_>| known.iter().any(|name| key.is(name));
        let key = self.map.map_entries().and_then(|mut entries| entries.find(|(key, _)| !is_known(*key)));
        let names: Vec<_> = known.iter().map(|name| types::atom(name.name())).collect();
        let names = if names.is_empty() { "none".into() } else { names.join(", ") };
        let key = key.map_or_else(String::new, |(key, _)| format!(", not {}", key.shown()));
        Malformed::expected(format!("no other keys than {names}{key}"))
    }
}

#[cold]
fn missing(key: &Atom) -> Malformed {
    Malformed::expected(format!("a map with the key {}", types::atom(key.name())))
}

/// The type of a field of a map, as it stands there: `name := T`, or `name => T` where it may be absent.
pub fn entry<T: Data>(name: &str, has_default: bool) -> String {
    let sign = if has_default || T::absent().is_some() { "=>" } else { ":=" };
    format!("{} {sign} {}", types::atom(name), T::erlang_type())
}

/// The key by which Elixir knows a struct.
pub fn tag_entry(module: &str) -> String {
    format!("'__struct__' := {}", types::atom(module))
}

/// The type of a field of a struct of Elixir's, which is always there.
pub fn entry_or_nil<T: Data>(name: &str) -> String {
    let ty = T::erlang_type();
    let ty = match ty.strip_suffix(" | undefined") {
        Some(there) if T::absent().is_some() => format!("{there} | nil"),
        _ => ty,
    };
    format!("{} := {ty}", types::atom(name))
}

/// The type of a field of a record, with the name that it has: `Name :: T`.
pub fn element<T: Data>(name: &str) -> String {
    format!("{} :: {}", types::variable(name), T::erlang_type())
}

/// A tuple whose first element is an atom; an atom alone where there is nothing else.
pub fn tuple_type(tag: &str, elements: &[String]) -> String {
    let tag = types::atom(tag);
    if elements.is_empty() { tag } else { format!("{{{tag}, {}}}", elements.join(", ")) }
}

pub fn map_type(entries: &[String], open: bool) -> String {
    let others = open.then(|| "term() => term()".to_owned());
    format!("#{{{}}}", entries.iter().cloned().chain(others).collect::<Vec<_>>().join(", "))
}
