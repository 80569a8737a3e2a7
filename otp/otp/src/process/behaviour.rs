//! The table of the behaviours in a library: how a process of each is started, restored and described.

use std::sync::OnceLock;

use crate::data::Malformed;
use crate::nif::{Atom, Env, Term};
use crate::process::description::Description;
use crate::process::turn::Turn;

/// Makes the slot of a process from the state of an older build.
pub type Restore = for<'a> fn(state: Term<'a>) -> Result<Term<'a>, NotRestored>;

/// Why a process does not go on in this build.
#[derive(Debug)]
pub enum NotRestored {
    /// Its state has no form, in the build before or in this one: it may stay where it is.
    NoForm(String),
    /// It has one, and that is not what this build takes.
    Malformed(Malformed),
}

/// A kind of process that the library can start.
#[derive(Debug)]
pub struct Behaviour {
    /// Its module.
    pub module: fn() -> &'static Atom,
    /// Where it stands: file and line.
    pub at: &'static str,
    pub init: for<'a> fn(env: Env<'a>, turn: &Turn, argument: Term<'a>) -> Started<'a>,
    /// A process from the state that an older build of it had; `None` for what has none.
    pub restore: Option<Restore>,
    pub describe: fn() -> Description,
}

impl Behaviour {
    /// The name of its module.
    pub fn name(&self) -> &'static str {
        (self.module)().name()
    }
}

inventory::collect!(Behaviour);

/// How a start went.
#[expect(missing_debug_implementations, reason = "a process may be anything")]
pub enum Started<'a> {
    /// There is a process in this slot, and this is what its `init` came to: `ok`, or what it waits for.
    Process(Term<'a>, Term<'a>),
    /// What `init/1` of OTP's behaviours would have returned instead.
    Else(Term<'a>),
}

/// Every kind of process of this library, in the order of their names; their number is the place in it.
pub fn behaviours() -> &'static [&'static Behaviour] {
    static ALL: OnceLock<Vec<&'static Behaviour>> = OnceLock::new();
    ALL.get_or_init(|| {
        let mut all: Vec<_> = inventory::iter::<Behaviour>().collect();
        all.sort_by_key(|behaviour| behaviour.name());
        all
    })
}
