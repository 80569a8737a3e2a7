//! Services of the real-time kernel: their time on this machine, their instructions and cycles on boards.
//!
//! The workloads here only describe the measurement. On this machine the probe `lab/probes/rtos` measures, on the
//! kernel's host port; for boards the programs in `rtos/ports/images/counted` do, in an emulator. A name means the same
//! in both.

mod contention;
mod counted;
mod services;
mod time;

use crate::spec::Workload;

pub use contention::WORKLOAD as CONTENTION;
pub use counted::{CYCLES, INSTRUCTIONS};
pub use services::SERVICES;
pub use time::WORKLOAD as TIME;

/// All of them, in the order in which they are listed to users.
pub static ALL: &[&Workload] = &[&TIME, &CONTENTION, &INSTRUCTIONS, &CYCLES];
