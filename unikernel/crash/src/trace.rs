//! What happened to a device.

/// What happened to a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// Blocks from `block` on were written.
    Write { block: u64, data: Vec<u8> },
    /// A flush that had begun after everything before it was done.
    Flush,
}

/// A device, and what happened to it.
#[derive(Clone, Debug)]
pub struct Trace {
    pub block_size: usize,
    /// What it held before.
    pub before: Vec<u8>,
    pub events: Vec<Event>,
}
