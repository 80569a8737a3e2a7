//! Programs that compare actor systems: five of the Savina suite, and what one must also know of such a system.
//!
//! Only what is to be done is said here. Each actor system does it in its own program, written as its good users would
//! write it: those in Rust in `lab/probes/actors/src`, those of the Erlang VM in `lab/probes/actors/erlang`. What holds
//! for all of them:
//!
//! - A trial is a fresh process that runs the program once. The window opens when the runtime is up and no actor is there,
//!   and closes when whoever began it has heard that all is done; the end of the actors is outside.
//! - Every program checks what came of it (who had the last message, how many arrived at each). A wrong total fails the
//!   trial.
//!
//! S. M. Imam, V. Sarkar, Savina: An Actor Benchmark Suite, AGERE 2014.

use crate::spec::{Kind, Param, Part, Workload};

macro_rules! programs {
    ($($file:ident),* $(,)?) => {
        $(mod $file;)*
        /// Every program, in the order in which they are listed to users.
        pub static ALL: &[&Workload] = &[$(&$file::WORKLOAD),*];
    };
}

programs! {
    pingpong,
    thread_ring,
    fork_join,
    fork_join_create,
    big,
    ask,
    recover,
}

mod beside_computing;

/// What only some of the systems can be asked for.
pub static OF_SOME: &[&Workload] = &[&beside_computing::WORKLOAD];

const SAVINA: &str = "Savina";

/// One figure a start: how long the whole program took.
fn whole() -> Vec<Part> {
    vec![Part::times(1).cold(0)]
}

/// How many actors.
const fn actors(default: &'static str) -> Param {
    Param { name: "p", about: "how many actors", kind: Kind::count(2, 10_000_000), default }
}

/// How many messages; what is counted is the program's business.
const fn messages(about: &'static str, default: &'static str) -> Param {
    Param { name: "n", about, kind: Kind::count(1, 1_000_000_000), default }
}
