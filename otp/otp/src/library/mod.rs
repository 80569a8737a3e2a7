//! What the Erlang VM and `cargo otp` find in a library: its native functions, its Erlang half, and how that is asked for.
//!
//! The VM looks up `nif_init` (`entry.rs`), `cargo otp` looks up `otp_sources` (`sources.rs`); both are in the object file because
//! `application!` put them there. This is the highest layer: it may use all others, and no other may use it.

#[expect(unsafe_code, reason = "the VM's interface is C")]
pub(crate) mod entry;
#[expect(unsafe_code, reason = "the end of a program is of C")]
mod exit;
pub mod generate;
#[expect(unsafe_code, reason = "what `cargo otp` asks a library crosses a boundary of C")]
pub mod sources;
