//! Knobs: what a study can ask of the machine, how each is applied, read back and restored.
//!
//! Three kinds, told apart by how far they reach ([`Scope`]):
//!
//! - a **process** knob ([`process`]) ends with the process that has it; nothing needs restoring;
//! - a **system** knob ([`system`]) is the whole machine's, so every change goes through a [`Guard`], which restores it
//!   even when the lab is killed;
//! - a **beam** knob is an option of the Erlang VM or of a process in it.
//!
//! Whatever was asked for, what is reported is what was read back afterwards: an
//! [`Effective`](kizami_recording::folder::Effective) that says whether it is what was requested, and if not, why. A
//! knob that is refused is therefore a result and not an error.
//!
//! Everything that comes from or goes to `/proc` and `/sys` passes through a [`Root`], so that all of it also works on a
//! recorded tree of another machine.

mod beam;
pub mod cpus;
pub mod guard;
pub mod host;
mod policy;
pub mod process;
mod root;
mod setting;
mod settings;
pub mod system;

pub use guard::Guard;
pub use policy::Policy;
pub use root::{Root, field};
pub use setting::{SETTINGS, Scope, Setting, find};
pub use settings::Settings;
