//! The work that Kizami measures. Nothing here knows in which environment it runs, for which study, or what becomes of
//! its samples.
//!
//! - [`portable`]: functions that run anywhere, `no_std`, without allocation.
//! - [`Workload`] and its parameters (feature `linux`): the descriptions that a study chooses from.
//! - [`linux`] (feature `linux`): the workloads that are Linux system calls, one file each.
//! - [`actors`] (feature `linux`): the programs that compare actor systems, one file each.
//! - [`resident`] (feature `linux`): the memory that a process takes, as the kernel says it.
//! - [`rtos`] (feature `linux`): the cost of the services of the real-time kernel.
//! - [`foreign`] (feature `linux`): descriptions of what other tools measure.
//! - [`loads`] (feature `linux`): background loads that run beside a measurement.
//!
//! A new workload is one file with a `pub static WORKLOAD` and a line in the list of its folder.
#![cfg_attr(not(feature = "linux"), no_std)]

#[cfg(feature = "linux")]
pub mod actors;
#[cfg(feature = "linux")]
mod bench;
#[cfg(feature = "linux")]
pub mod foreign;
#[cfg(feature = "linux")]
pub mod linux;
#[cfg(feature = "linux")]
pub mod loads;
#[cfg(feature = "linux")]
mod os;
pub mod portable;
#[cfg(feature = "linux")]
pub mod resident;
#[cfg(feature = "linux")]
pub mod rtos;
#[cfg(feature = "linux")]
mod spec;
#[cfg(feature = "linux")]
pub mod window;

#[cfg(feature = "linux")]
pub use bench::{Bench, Failure, Start, clock_ns};
#[cfg(feature = "linux")]
pub use os::residency::{Pages, Residency};
#[cfg(feature = "linux")]
pub use spec::{Kind, LinuxBody, Machine, Param, Params, Part, Workload};

/// Every workload, in the order in which they are listed to users.
#[cfg(feature = "linux")]
pub static ALL: &[&Workload] = &{
    const LISTS: [&[&Workload]; 4] = [linux::ALL, actors::ALL, actors::OF_SOME, rtos::ALL];
    const COUNT: usize = LISTS[0].len() + LISTS[1].len() + LISTS[2].len() + LISTS[3].len();
    let mut all = [LISTS[0][0]; COUNT];
    let (mut list, mut index, mut at) = (0, 0, 0);
    while list < LISTS.len() {
        while index < LISTS[list].len() {
            all[at] = LISTS[list][index];
            (index, at) = (index + 1, at + 1);
        }
        (list, index) = (list + 1, 0);
    }
    all
};

/// The workload named `name`.
#[cfg(feature = "linux")]
pub fn find(name: &str) -> Option<&'static Workload> {
    ALL.iter().copied().find(|w| w.name == name)
}
