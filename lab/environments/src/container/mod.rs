//! Containers: the probe with a root file system, process numbers and a network of its own, on the kernel of this machine.
//!
//! The image is made from the static probe alone; nothing is fetched. A container is no child of the lab, so the probe in it
//! is given its arena over a socket in a folder that both have, and reports over the same.
//!
//! Each engine is a file here: the command that starts a container, and what removes it.

mod bwrap;
mod docker;
mod engine;
mod environment;
mod observed;
mod runc;
mod socket;
mod veth;

use environment::Container;

pub static BWRAP: Container = Container::of(&bwrap::Bwrap);
pub static RUNC: Container = Container::of(&runc::Runc);
pub static DOCKER: Container = Container::of(&docker::DOCKER);
pub static PODMAN: Container = Container::of(&docker::PODMAN);
