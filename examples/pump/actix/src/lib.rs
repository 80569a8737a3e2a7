//! The pump of `examples/pump` on actix, and the comparison of both halves: running them, and reading their verdicts.

pub mod actors;
pub mod otp_half;
pub mod verdict;
