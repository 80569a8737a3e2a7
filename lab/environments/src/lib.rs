//! Starting a probe in an environment, and collecting its samples.
//!
//! - [`Job`]: one workload with its parameters, in one environment, under one set of settings.
//! - [`Environment`]: starts a probe in one kind of place, and knows nothing of what becomes of the samples.
//! - [`run_trial`]: follows a started probe to its end, in whatever way it ends: done, failed, killed, hung,
//!   interrupted.
//!
//! A new environment is one file with a type that is an [`Environment`], and a line in the list below.

mod environment;
mod erlang;
mod error;
mod flushes;
mod keeper;
mod launch;
mod link;
mod loads;
mod locate;
mod partner;
mod probe;
mod spawn;
mod trial;
mod weigh;
mod wire;

pub use environment::{Environment, Job, LOAD, NO_LOAD, Place, load_names};
pub use error::Error;
pub use launch::Started;
pub use trial::{Sink, TrialEnd, run_trial};

/// Declares each file and lists its environments: the one place that knows them all.
macro_rules! environments {
    ($($file:ident: [$($environment:ident),* $(,)?],)*) => {
        $(mod $file;)*
        /// Every one of them, in the order in which they are listed to users.
        pub static ALL: &[&dyn Environment] = &[$($(&$file::$environment),*),*];
    };
}

environments! {
    host: [Host],
    container: [BWRAP, RUNC, DOCKER, PODMAN],
    machine: [QEMU, DOM0, DOMU],
    beam: [Beam],
    actors: [
        OTP, ERLANG, GEN_SERVER, GEN_SERVER_OFF_HEAP, GEN_SERVER_SUPERVISED, ACTIX, ACTIX_SPREAD, RACTOR, KAMEO, TOKIO, THREADS
    ],
    unikernel: [SPT, HVT, IN_QEMU],
    node: [NONE, PREEMPT, FAST],
    rtos: [RtosHost, CORTEX_M33, CORTEX_A9, RP2040],
    reference: [CYCLICTEST, HACKBENCH, PERF, NUTTCP, IPERF3, FIO],
}

/// The environment named `name`.
pub fn find(name: &str) -> Option<&'static dyn Environment> {
    ALL.iter().copied().find(|e| e.name() == name)
}
