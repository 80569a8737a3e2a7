//! `Name`: an atom as a value.

use std::borrow::{Borrow, Cow};
use std::fmt;
use std::ops::Deref;
use std::str::FromStr;

use super::{Data, Malformed};
use crate::nif::{Atom, Env, Term};

/// An atom: a name of at most 255 characters.
///
/// Reading one makes no atom, as the sender had it already. Sending one makes the atom if there is none of that name yet, and
/// the VM never frees it: do not make names of what strangers say. Where the names are known, an enum that derives
/// [`Data`](crate::Data) is the better type.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name(Cow<'static, str>);

/// A text is too long to be the name of an atom.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TooLong {
    characters: usize,
}

impl Name {
    /// # Errors
    /// When there are more than 255 characters.
    pub fn new(name: impl Into<String>) -> Result<Self, TooLong> {
        let name = name.into();
        let characters = name.chars().count();
        if characters > 255 { Err(TooLong { characters }) } else { Ok(Self(Cow::Owned(name))) }
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for TooLong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an atom has at most 255 characters, and this is of {}", self.characters)
    }
}

impl std::error::Error for TooLong {}

/// One that the code names: `Name::from(otp::atom!("on"))`.
impl From<&'static Atom> for Name {
    fn from(atom: &'static Atom) -> Self {
        Self(Cow::Borrowed(atom.name()))
    }
}

impl FromStr for Name {
    type Err = TooLong;

    fn from_str(name: &str) -> Result<Self, TooLong> {
        Self::new(name)
    }
}

impl TryFrom<&str> for Name {
    type Error = TooLong;

    fn try_from(name: &str) -> Result<Self, TooLong> {
        Self::new(name)
    }
}

impl TryFrom<String> for Name {
    type Error = TooLong;

    fn try_from(name: String) -> Result<Self, TooLong> {
        Self::new(name)
    }
}

impl From<Name> for String {
    fn from(name: Name) -> Self {
        name.0.into_owned()
    }
}

impl Deref for Name {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl AsRef<str> for Name {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl Borrow<str> for Name {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl PartialEq<str> for Name {
    fn eq(&self, other: &str) -> bool {
        *self.0 == *other
    }
}

impl PartialEq<&str> for Name {
    fn eq(&self, other: &&str) -> bool {
        *self.0 == **other
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// As Erlang writes it, in quotes where it needs them.
impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&super::types::atom(&self.0))
    }
}

impl Data for Name {
    fn encode<'a>(&self, env: Env<'a>) -> Term<'a> {
        env.atom(&self.0)
    }

    fn decode(term: Term<'_>) -> Result<Self, Malformed> {
        let name = term.atom_name().ok_or_else(|| Malformed::expected("an atom"))?;
        Ok(Self(Cow::Owned(name)))
    }

    fn erlang_type() -> String {
        "atom()".into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_at_most_255_characters_however_many_bytes_they_take() {
        assert_eq!(Name::new("Ω".repeat(255)).map(|name| name.len()), Ok(510));
        let wrong = Name::new("x".repeat(256)).expect_err("too long");
        assert_eq!(wrong.to_string(), "an atom has at most 255 characters, and this is of 256");
        assert_eq!(format!("{:?}", Name::new("it's").expect("a name")), "'it\\'s'");
        assert_eq!(Name::from(crate::atom!("on")), "on");
    }
}
