//! The native interface of the Erlang VM (NIF), wrapped so that a wrong use does not compile or is an error value.
//!
//! This is the lowest layer: it knows terms and environments, and nothing that this library builds of them. `unsafe` is in here, in
//! `process` (who may use the state of a process), in `waiting/poll` (the VM's poll set) and in `library` (functions with C's calling
//! convention), and the compiler refuses it elsewhere. The invariants on which the safe wrappers rest:
//!
//! - An [`Env`] exists only while the VM runs one of our functions with it (or while the message that owns it does), because
//!   its lifetime is that of the borrow that a trampoline hands out; a [`Term`] cannot outlive its environment.
//! - A term that comes from the VM is a whole term. The VM checks the kind of a term in every accessor, so no term, however
//!   malformed for its purpose, is more than an accessor that says no.
//! - The function table is filled before the VM can call any of our functions.
//! - What is read and made without the VM's functions lies as it was seen to lie when the library was loaded (`words.rs`, `heap.rs`).

pub mod abi;
pub(crate) mod atom;
mod clock;
pub(crate) mod env;
pub(crate) mod heap;
pub(crate) mod layout;
mod make;
pub(crate) mod module;
pub(crate) mod owned;
pub(crate) mod print;
pub(crate) mod stack;
pub(crate) mod term;
pub(crate) mod threads;
pub(crate) mod words;

pub use atom::Atom;
pub(crate) use clock::clock;
pub use env::Env;
pub(crate) use owned::{OwnedEnv, OwnedTerm};
pub(crate) use stack::lowest;
pub use term::{MapEntries, Term, Tuple};

use std::sync::OnceLock;

static FUNCTIONS: OnceLock<abi::Functions> = OnceLock::new();

/// The functions of the VM.
///
/// # Panics
/// Outside of a VM, for instance in a test of the user's that calls what needs one.
#[inline]
pub(crate) fn vm() -> &'static abi::Functions {
    FUNCTIONS.get().expect("this needs an Erlang VM, and none runs this code: use `cargo otp test`")
}

/// Looks the functions up.
///
/// # Errors
/// The first function that this program lacks.
pub(crate) fn attach() -> Result<(), &'static str> {
    let found = abi::Functions::find()?;
    let _ = FUNCTIONS.set(found);
    Ok(())
}
