//! Binaries of any bytes.

use std::ops::{Deref, DerefMut};

use super::{Data, Malformed};
use crate::nif::{Env, Term};

/// A binary. A `Vec<u8>` is a list of numbers in Erlang, and a [`String`] a binary in UTF-8.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bytes(pub Vec<u8>);

impl From<Vec<u8>> for Bytes {
    fn from(bytes: Vec<u8>) -> Self {
        Self(bytes)
    }
}

impl From<&[u8]> for Bytes {
    fn from(bytes: &[u8]) -> Self {
        Self(bytes.to_vec())
    }
}

impl From<Bytes> for Vec<u8> {
    fn from(bytes: Bytes) -> Self {
        bytes.0
    }
}

impl Deref for Bytes {
    type Target = Vec<u8>;

    fn deref(&self) -> &Vec<u8> {
        &self.0
    }
}

impl DerefMut for Bytes {
    fn deref_mut(&mut self) -> &mut Vec<u8> {
        &mut self.0
    }
}

impl AsRef<[u8]> for Bytes {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl Data for Bytes {
    fn encode<'a>(&self, env: Env<'a>) -> Term<'a> {
        env.binary(&self.0)
    }

    fn decode(term: Term<'_>) -> Result<Self, Malformed> {
        term.bytes().map(|bytes| Self(bytes.to_vec())).ok_or_else(|| Malformed::expected("a binary"))
    }

    fn erlang_type() -> String {
        "binary()".into()
    }
}
