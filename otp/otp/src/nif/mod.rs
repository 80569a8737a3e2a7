//! The Erlang VM: its native interface, wrapped so that what is wrong does not compile or is an error value.
//!
//! `unsafe` is in here, in `process` (who uses the state of a process) and in `ask` (what `cargo otp` asks a library), and the compiler
//! refuses it elsewhere. The invariants on which the safe wrappers rest:
//!
//! - An [`Env`] exists only while the VM runs one of our functions with it (or while the message that owns it does), because
//!   its lifetime is that of the borrow that a trampoline hands out; a [`Term`] cannot outlive its environment.
//! - A term that comes from the VM is a whole term. The VM checks the kind of a term in every accessor, so no term, however
//!   malformed for its purpose, is more than an accessor that says no.
//! - The function table is filled before the VM can call any of our functions.
//! - What is read and made without the VM's functions lies as it was seen to lie when the library was loaded (`words.rs`, `room.rs`).

pub mod abi;
pub(crate) mod alarm;
mod atom;
mod entry;
mod env;
mod kept;
mod object;
pub(crate) mod overdue;
mod panic;
pub(crate) mod place;
mod room;
mod stack;
mod term;
pub(crate) mod threads;
mod turn;
pub(crate) mod watched;
mod words;
mod written;

pub use atom::Atom;
pub use entry::entry;
pub(crate) use entry::part;
pub use env::Env;
pub(crate) use env::send_from_anywhere;
pub(crate) use kept::Kept;
pub(crate) use object::{Loading, ObjectType};
pub(crate) use panic::said;
pub(crate) use stack::lowest;
pub use term::{MapEntries, Term, Tuple};
pub(crate) use turn::{Form, OUTSIDE, Within, in_call, try_turn, turn, within};
pub use turn::{Turn, current};

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
