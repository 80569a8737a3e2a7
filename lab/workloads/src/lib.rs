//! The work that Kizami measures. It knows nothing of where it runs, who asked, or what becomes of its samples.
//!
//! - [`portable`]: functions that run anywhere, `no_std`, without allocation.
//! - [`Workload`] and its parameters (feature `linux`): what a study can ask for.
//! - [`linux`] (feature `linux`): the workloads that are Linux system calls, one file each.
//! - [`actors`] (feature `linux`): the programs that compare actor systems, one file each.
//! - [`loads`] (feature `linux`): what can run beside them in the background.
//!
//! A new workload is one file with a `pub static WORKLOAD` and a line in the list of its folder.
#![cfg_attr(not(feature = "linux"), no_std)]

#[cfg(feature = "linux")]
pub mod actors;
#[cfg(feature = "linux")]
mod bench;
#[cfg(feature = "linux")]
pub mod linux;
#[cfg(feature = "linux")]
pub mod loads;
pub mod portable;
#[cfg(feature = "linux")]
mod spec;
#[cfg(feature = "linux")]
pub mod window;

#[cfg(feature = "linux")]
pub use bench::{Bench, Failure, clock_ns};
#[cfg(feature = "linux")]
pub use spec::{Kind, LinuxBody, Machine, Param, Params, Part, Workload};

/// Every workload, in the order in which they are listed to users.
#[cfg(feature = "linux")]
pub static ALL: &[&Workload] = &{
    const LINUX: usize = linux::ALL.len();
    let mut all = [linux::ALL[0]; LINUX + actors::ALL.len() + actors::OF_SOME.len()];
    let mut index = 0;
    while index < all.len() {
        all[index] = if index < LINUX {
            linux::ALL[index]
        } else if index < LINUX + actors::ALL.len() {
            actors::ALL[index - LINUX]
        } else {
            actors::OF_SOME[index - LINUX - actors::ALL.len()]
        };
        index += 1;
    }
    all
};

/// The workload named `name`.
#[cfg(feature = "linux")]
pub fn find(name: &str) -> Option<&'static Workload> {
    ALL.iter().copied().find(|w| w.name == name)
}
