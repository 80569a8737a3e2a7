//! Actor systems: each an environment that runs the programs of `kizami_workloads::actors`, in a fresh process each time.
//!
//! A system in Rust is a name that the probe `kizami-actors` knows; see [`rust`]. A system of the Erlang VM is a callback
//! module of `kizami_actors.erl`; see [`beam`]. One more is an entry here and a line in `ALL` of the crate.

mod beam;
mod otp;
mod rust;

pub use beam::{ERLANG, GEN_SERVER, GEN_SERVER_OFF_HEAP, GEN_SERVER_SUPERVISED, OTP};
pub use rust::{ACTIX, ACTIX_SPREAD, KAMEO, RACTOR, THREADS, TOKIO};

use kizami_workloads::Workload;

/// Whether `workload` is one that only some have.
fn is_of_some(workload: &Workload) -> bool {
    kizami_workloads::actors::OF_SOME.iter().any(|program| program.name == workload.name)
}

/// Whether `workload` is one of the programs.
fn is_program(workload: &Workload) -> bool {
    kizami_workloads::actors::ALL.iter().any(|program| program.name == workload.name)
}
