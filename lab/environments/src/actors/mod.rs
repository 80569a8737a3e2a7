//! Actor systems: each an environment that runs the programs of `kizami_workloads::actors`, in a fresh process each time.
//!
//! A system in Rust is a name that the probe `kizami-actors` knows; see [`rust`]. A system of the Erlang VM is a
//! callback module of `kizami_actors.erl`; see [`beam`]. A new system is an entry here and a line in `ALL` of the
//! crate.

mod beam;
mod otp;
mod programs;
mod rust;

pub use beam::{ERLANG, GEN_SERVER, GEN_SERVER_OFF_HEAP, GEN_SERVER_SUPERVISED, OTP};
pub use rust::{ACTIX, ACTIX_SPREAD, KAMEO, RACTOR, THREADS, TOKIO};
