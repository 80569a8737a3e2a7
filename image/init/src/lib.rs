//! The first process of a small Linux image.
//!
//! It does what a [`Plan`] says, one step after the other: mounts, kernel modules, network, programs. A step that fails is told on the
//! console, and the next one is done: a machine without a network is still of use. It takes in the processes that lost their
//! parents, and when the last program has ended it ends the machine.
//!
//! All that it asks of the kernel goes through [`System`], so that a test reads what it would do.

mod plan;
mod run;
mod system;

pub use plan::{NoStep, PATH, Plan, Step};
pub use run::run;
pub use system::{Ending, Kernel, System};
