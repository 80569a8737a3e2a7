//! The real-time kernel: as a process of this machine, and on boards in an emulator.

mod boards;
mod host;

pub use boards::{CORTEX_A9, CORTEX_M33, RP2040};
pub use host::RtosHost;
