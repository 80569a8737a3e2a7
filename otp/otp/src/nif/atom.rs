//! Atoms that the code names. Each is looked up in the VM once, as an atom is the same word for as long as the VM runs.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::nif::abi::RawTerm;
use crate::nif::env::Env;
use crate::nif::term::Term;

/// An atom that the code names, made when it is first used.
#[derive(Debug)]
pub struct Atom {
    name: &'static str,
    /// The word, or 0, which is no atom.
    made: AtomicUsize,
}

impl Atom {
    /// The atom of this name, which has at most 255 characters.
    ///
    /// # Panics
    /// While compiling, on a name that no atom can have.
    pub const fn new(name: &'static str) -> Self {
        assert!(characters(name) <= 255, "an atom has at most 255 characters");
        Self { name, made: AtomicUsize::new(0) }
    }

    pub const fn name(&self) -> &'static str {
        self.name
    }

    #[inline]
    pub(crate) fn raw(&self, env: Env<'_>) -> RawTerm {
        match self.made.load(Ordering::Relaxed) {
            0 => self.make(env),
            made => made,
        }
    }

    #[cold]
    fn make(&self, env: Env<'_>) -> RawTerm {
        let made = env.atom(self.name).raw();
        self.made.store(made, Ordering::Relaxed);
        made
    }

    #[inline]
    pub fn term<'a>(&self, env: Env<'a>) -> Term<'a> {
        env.adopt(self.raw(env))
    }
}

impl Term<'_> {
    /// Whether it is this atom.
    #[inline]
    pub fn is(self, atom: &Atom) -> bool {
        self.raw() == atom.raw(self.env())
    }
}

/// As many as there are bytes that begin one.
const fn characters(text: &str) -> usize {
    let (bytes, mut at, mut characters) = (text.as_bytes(), 0, 0);
    while at < bytes.len() {
        characters += (bytes[at] & 0b1100_0000 != 0b1000_0000) as usize;
        at += 1;
    }
    characters
}

/// The atom of a name that the code names: one for each place in it.
#[macro_export]
macro_rules! atom {
    ($name:expr) => {{
        static ATOM: $crate::vm::Atom = $crate::vm::Atom::new($name);
        &ATOM
    }};
}
