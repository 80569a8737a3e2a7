//! The states of a job.

use otp::Data;

/// What a job is doing.
#[derive(Clone, Copy, Data, Debug, PartialEq, Eq)]
pub enum Phase {
    Idle,
    Busy(u32),
}
