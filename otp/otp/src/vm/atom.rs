//! Names that are made once: an atom is the same word for as long as the VM runs.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::{Env, Term, abi::RawTerm, vm};

/// An atom that the code names, made when it is first used.
#[derive(Debug)]
pub struct Atom {
    name: &'static str,
    /// The word, or 0, which is no atom.
    made: AtomicUsize,
}

impl Atom {
    /// The atom of this name, which is Latin-1 of at most 255 characters.
    ///
    /// # Panics
    /// While compiling, on a name that no atom can have.
    pub const fn new(name: &'static str) -> Self {
        assert!(name.len() <= 255, "an atom has at most 255 characters");
        assert!(name.is_ascii(), "name atoms in ASCII");
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
        // SAFETY: the name has the length that is given, and is copied.
        let made = unsafe { (vm().make_atom_len)(env.raw(), self.name.as_ptr().cast(), self.name.len()) };
        self.made.store(made, Ordering::Relaxed);
        made
    }

    #[inline]
    pub fn term<'a>(&self, env: Env<'a>) -> Term<'a> {
        env.adopt(self.raw(env))
    }
}

/// The atom of a name that the code names: one for each place in it.
#[macro_export]
macro_rules! atom {
    ($name:expr) => {{
        static ATOM: $crate::vm::Atom = $crate::vm::Atom::new($name);
        &ATOM
    }};
}
