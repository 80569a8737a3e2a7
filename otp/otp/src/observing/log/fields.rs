//! Fields of a tracing event or span, kept until the event is sent.

use std::error::Error;
use std::fmt::{self, Write as _};

use tracing_core::field::{Field, Visit};

use crate::atom;
use crate::data::Data;
use crate::data::brief::brief;
use crate::nif::abi::RawTerm;
use crate::nif::{Env, Term};

/// What a field holds.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    Signed(i64),
    Unsigned(u64),
    Float(f64),
    Bool(bool),
    Text(String),
}

impl Value {
    fn encode<'a>(&self, env: Env<'a>) -> Term<'a> {
        match self {
            Self::Signed(value) => value.encode(env),
            Self::Unsigned(value) => value.encode(env),
            Self::Float(value) => value.encode(env),
            Self::Bool(value) => value.encode(env),
            Self::Text(value) => value.encode(env),
        }
    }
}

/// As it stands in the name of a span: a text of several words in quotes.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Signed(value) => value.fmt(f),
            Self::Unsigned(value) => value.fmt(f),
            Self::Float(value) => value.fmt(f),
            Self::Bool(value) => value.fmt(f),
            Self::Text(value) if value.contains([' ', '"', '=', '\n']) => write!(f, "{value:?}"),
            Self::Text(value) => f.write_str(value),
        }
    }
}

/// Names and values, in the order of the code; no name comes twice.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Fields(Vec<(&'static str, Value)>);

impl Fields {
    pub(super) fn put(&mut self, name: &'static str, value: Value) {
        let name = name.strip_prefix("r#").unwrap_or(name);
        match self.0.iter_mut().find(|(known, _)| *known == name) {
            Some((_, known)) => *known = value,
            None => self.0.push((name, value)),
        }
    }

    pub(super) fn merge(&mut self, newer: Self) {
        newer.0.into_iter().for_each(|(name, value)| self.put(name, value));
    }

    /// A map of them, and of what else is given where they have no such name.
    pub(super) fn map<'a>(&self, env: Env<'a>, more: &[(&crate::nif::Atom, Term<'a>)]) -> Term<'a> {
        let (mut keys, mut values): (Vec<RawTerm>, Vec<RawTerm>) = (Vec::new(), Vec::new());
        for (key, value) in more {
            if !self.0.iter().any(|(name, _)| *name == key.name()) {
                keys.push(key.raw(env));
                values.push(value.raw());
            }
        }
        for (name, value) in &self.0 {
            keys.push(key(env, name).raw());
            values.push(value.encode(env).raw());
        }
        env.map(&keys, &values).unwrap_or_else(|| atom!("undefined").term(env))
    }
}

/// An atom; a name that is too long to be one is a text.
fn key<'a>(env: Env<'a>, name: &str) -> Term<'a> {
    match name {
        "message" => atom!("message").term(env),
        name if name.chars().count() <= 255 => env.atom(name),
        name => env.binary(name.as_bytes()),
    }
}

/// `{port=7070 host=a}`, or nothing where there are none.
impl fmt::Display for Fields {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut between = '{';
        for (name, value) in &self.0 {
            write!(f, "{between}{name}={value}")?;
            between = ' ';
        }
        if between == ' ' { f.write_char('}') } else { Ok(()) }
    }
}

/// An error and what it came from.
struct WithSources<'e>(&'e (dyn Error + 'static));

impl fmt::Display for WithSources<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self.0, f)?;
        let mut source = self.0.source();
        while let Some(error) = source {
            write!(f, ": {error}")?;
            source = error.source();
        }
        Ok(())
    }
}

impl Visit for Fields {
    fn record_f64(&mut self, field: &Field, value: f64) {
        self.put(field.name(), Value::Float(value));
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.put(field.name(), Value::Signed(value));
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.put(field.name(), Value::Unsigned(value));
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.put(field.name(), Value::Bool(value));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.put(field.name(), Value::Text(brief(value)));
    }

    fn record_error(&mut self, field: &Field, value: &(dyn Error + 'static)) {
        self.put(field.name(), Value::Text(brief(WithSources(value))));
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.put(field.name(), Value::Text(brief(format_args!("{value:?}"))));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_are_written_as_people_read_them() {
        let mut fields = Fields::default();
        assert_eq!(fields.to_string(), "");
        fields.put("port", Value::Unsigned(7070));
        fields.put("r#type", Value::Text("a b".into()));
        fields.put("port", Value::Signed(-1));
        fields.put("peer", Value::Text("boiler".into()));
        assert_eq!(fields.to_string(), "{port=-1 type=\"a b\" peer=boiler}");
    }
}
