//! How a guest ended.

use std::fmt;

/// How a guest ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Outcome {
    /// By itself, with this code.
    Exited(u8),
    /// It did what it cannot do.
    Fault(Fault),
    /// It asked for what it may not have: this system call, or something of its monitor that there is not.
    Violation { call: Option<u64>, at: u64 },
    /// The host ended it with this signal.
    Killed { signal: i32 },
}

/// What a guest cannot do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    pub kind: FaultKind,
    /// What was accessed.
    pub address: u64,
    /// By which instruction.
    pub at: u64,
}

/// Kinds of faults.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FaultKind {
    /// Memory that it has not, or not so.
    Memory,
    /// Something that is no instruction, or none for it.
    Instruction,
    /// A division by zero, or whose result does not fit.
    Arithmetic,
}

impl Outcome {
    /// The exit code of the monitor.
    pub fn code(self) -> u8 {
        match self {
            Self::Exited(code) => code,
            Self::Fault(_) => unikernel_abi::exit::FAULT,
            Self::Violation { .. } => unikernel_abi::exit::VIOLATION,
            // As shells have it.
            Self::Killed { signal } => 128 + signal as u8,
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            FaultKind::Memory => write!(f, "accessed memory at {:#x} that it has not", self.address),
            FaultKind::Instruction => f.write_str("executed what is no instruction"),
            FaultKind::Arithmetic => f.write_str("divided by zero"),
        }
    }
}
