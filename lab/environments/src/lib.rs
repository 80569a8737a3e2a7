//! Starting a probe in an environment, and collecting its samples.
//!
//! - [`Job`]: one workload with its parameters, in one environment, under one set of settings.
//! - [`Environment`]: starts a probe in one kind of place, and knows nothing of what becomes of the samples.
//! - [`run_trial`]: follows a started probe to its end, in whatever way it ends: done, failed, killed, hung,
//!   interrupted.
//!
//! A new environment is one file with a type that is an [`Environment`], and a line in [`ALL`].

mod actors;
mod beam;
mod container;
mod environment;
mod erlang;
mod error;
mod host;
mod keeper;
mod launch;
mod loads;
mod locate;
mod machine;
mod probe;
mod reference;
mod rtos;
mod trial;

pub use environment::{Environment, Job, LOAD, NO_LOAD, Place, load_names};
pub use error::Error;
pub use launch::Started;
pub use trial::{Sink, TrialEnd, run_trial};

/// Every environment, in the order in which they are listed to users.
pub static ALL: &[&dyn Environment] = &[
    &host::Host,
    &container::BWRAP,
    &container::RUNC,
    &container::DOCKER,
    &container::PODMAN,
    &machine::QEMU,
    &machine::DOM0,
    &machine::DOMU,
    &beam::Beam,
    &actors::OTP,
    &actors::ERLANG,
    &actors::GEN_SERVER,
    &actors::GEN_SERVER_OFF_HEAP,
    &actors::GEN_SERVER_SUPERVISED,
    &actors::ACTIX,
    &actors::ACTIX_SPREAD,
    &actors::RACTOR,
    &actors::KAMEO,
    &actors::TOKIO,
    &actors::THREADS,
    &rtos::RtosHost,
    &rtos::CORTEX_M33,
    &rtos::CORTEX_A9,
    &rtos::RP2040,
    &reference::CYCLICTEST,
    &reference::HACKBENCH,
    &reference::PERF,
    &reference::NUTTCP,
    &reference::IPERF3,
    &reference::FIO,
];

/// The environment named `name`.
pub fn find(name: &str) -> Option<&'static dyn Environment> {
    ALL.iter().copied().find(|e| e.name() == name)
}
