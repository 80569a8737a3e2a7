//! The pump of `examples/pump` on actix, and what runs both halves and reads their verdicts.

pub mod actors;
pub mod otp_half;
pub mod verdict;
