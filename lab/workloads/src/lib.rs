//! The work that Kizami measures. It knows nothing of where it runs, who asked, or what becomes of its samples.
//!
//! - [`portable`]: functions that run anywhere, `no_std`, without allocation.
//! - [`Workload`] and its parameters (feature `linux`): what a study can ask for.
//! - [`linux`] (feature `linux`): the workloads that are Linux system calls, one file each.
//! - [`loads`] (feature `linux`): what can run beside them in the background.
//!
//! A new workload is one file with a `pub static WORKLOAD` and a line in [`ALL`]'s list.
#![cfg_attr(not(feature = "linux"), no_std)]

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
pub use linux::ALL;
#[cfg(feature = "linux")]
pub use spec::{Kind, LinuxBody, Machine, Param, Params, Part, Workload};

/// The workload named `name`.
#[cfg(feature = "linux")]
pub fn find(name: &str) -> Option<&'static Workload> {
    ALL.iter().copied().find(|w| w.name == name)
}
