//! The progress of the stress: the counts of tasks and handlers, the seed of their random numbers, and whether it is
//! time to end. The tasks, the handlers and the watch share it.

use std::sync::atomic::{AtomicBool, AtomicU64};

/// The steps of all tasks and handlers, and how often the oracle has looked.
pub static STEPS: AtomicU64 = AtomicU64::new(0);
pub static AUDITS: AtomicU64 = AtomicU64::new(0);
/// How often the tasks begin.
pub static BEGUN: AtomicU64 = AtomicU64::new(0);
/// What the random numbers begin with.
pub static SEED: AtomicU64 = AtomicU64::new(0);
/// Whether it is time to end.
pub static OVER: AtomicBool = AtomicBool::new(false);
