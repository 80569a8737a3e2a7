//! The kernel as a whole: its start and its end, the entries of a port, system services, time, and ITRON numbers.
//!
//! This layer uses the tables of all objects ([`Kernel`](crate::Kernel)), which no service of one object needs.

pub mod entry;
mod exception;
pub(crate) mod line;
mod numbers;
mod overrun;
pub(crate) mod refer;
pub(crate) mod services;
mod tick;
pub(crate) mod time;
