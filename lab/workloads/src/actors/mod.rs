//! Programs that compare actor systems: five of the Savina suite, and further ones on latency and recovery.
//!
//! A workload here only describes the program. Each actor system runs a program of its own, written as its good users
//! would write it: the systems in Rust in `lab/probes/actors/src`, those of the Erlang VM in
//! `lab/probes/actors/erlang`. Rules for all of them:
//!
//! - A trial is a fresh process that runs the program once. The window opens when the runtime is up and before the
//!   first actor exists. It closes when the process or thread that started the program has heard that all is done; the
//!   end of the actors is outside.
//! - Every program checks its result (which actor had the last message, how many messages arrived at each). A wrong
//!   total fails the trial.
//!
//! S. M. Imam, V. Sarkar, Savina: An Actor Benchmark Suite, AGERE 2014.

use crate::spec::Workload;

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
mod common;

/// What only some of the systems can be asked for.
pub static OF_SOME: &[&Workload] = &[&beside_computing::WORKLOAD];
