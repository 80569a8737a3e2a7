//! Limits of a plan: how many jobs and how many fresh starts one run can have.
//!
//! They are far beyond what a measurement needs, and exist so that a slip of the pen is told instead of filling the
//! memory.

/// More jobs than this are a mistake: each is a series of a recording, and each is compared with all others.
pub(crate) const MOST_JOBS: usize = 5_000;

/// After so many doublings there are sixteen times as many rounds, and what they leave open would take a day.
pub(crate) const MOST_DOUBLINGS: usize = 4;

/// More fresh starts than this cannot be recorded: `recording.json` lists each of them, and is written anew after each.
pub(crate) const MOST_STARTS: usize = 100_000;
