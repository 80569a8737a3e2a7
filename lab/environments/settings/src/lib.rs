//! Settings of processes, of the machine and of the Erlang VM: how each is applied, read back and restored.
//!
//! A setting is one of three kinds, by its reach ([`Scope`]):
//!
//! - a **process** setting ([`process`]) ends with its process; nothing needs restoring;
//! - a **system** setting ([`system`]) is the whole machine's, so every change goes through a [`Guard`], which restores
//!   it even when the lab is killed;
//! - a **beam** setting is an option of the Erlang VM or of a process in it.
//!
//! Whatever was requested, the reported value is the one that was read back afterwards: an
//! [`Effective`](kizami_recording::folder::Effective) that says whether the value is the requested one, and if not,
//! why. A setting that is refused is therefore a result and not an error.
//!
//! All access to `/proc` and `/sys` goes through a [`Root`], so that all of it also works on a recorded tree of another
//! machine.

mod beam;
pub mod cpus;
pub mod guard;
pub mod host;
mod kind;
pub mod mounts;
mod policy;
pub mod process;
mod root;
mod setting;
mod settings;
mod syscalls;
pub mod system;

pub use guard::Guard;
pub use policy::Policy;
pub use root::{Root, field};
pub use setting::{SETTINGS, Scope, Setting, find};
pub use settings::Settings;
