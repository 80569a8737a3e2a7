//! Xen: the probe in its first domain (dom0), which has the devices and the tools, and in one that those create (domU).
//!
//! Xen and its domains run in one emulated machine, booted once for all trials of a run in both. Where the lab itself is in the
//! first domain of a Xen, the other is created by that.

mod boot;
mod direct;
mod domain;
mod environment;
mod image;
mod unpacked;

pub use environment::Xen;

pub static DOM0: Xen = Xen::new("xen-dom0", "the first domain of Xen, on an emulated machine", false);
pub static DOMU: Xen = Xen::new("xen-domu", "a paravirtualised domain of Xen, on an emulated machine", true);
