//! What a user types. Each file has programs of one kind.

pub mod change;
pub mod ip;
pub mod look;
pub mod ping;
mod seconds;
pub mod udp;
