//! The Erlang VM: its native interface, wrapped so that what is wrong does not compile or is an error value.
//!
//! This is what users and macros name; the layers themselves are `nif` and `process`.

pub use crate::library::entry::entry;
pub use crate::nif::{Atom, Env, MapEntries, Term, Tuple, abi};
pub use crate::process::turn::{Turn, current};
