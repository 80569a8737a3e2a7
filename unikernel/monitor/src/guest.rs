//! A program with what it is given.

use std::time::Duration;

use unikernel_abi::boot::Range;
use unikernel_abi::{Device, LEAST_MEMORY, MOST_MEMORY, PAGE, STACK, START};

use crate::disk::Disk;
use crate::program::{Access, Program};

/// The least heap that a program can begin with.
const LEAST_HEAP: u64 = 64 << 10;
/// A request has at most this many bytes.
pub(crate) const MOST_BYTES: u64 = 1 << 30;

/// A program, and what it is given.
#[derive(Debug)]
pub struct Guest {
    program: Program,
    end: u64,
    arguments: Vec<String>,
    environment: Vec<String>,
    disks: Vec<Disk>,
    interface: Interface,
}

/// How a device is asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Asked {
    pub handle: u32,
    pub durable_handle: u32,
    pub rings: u64,
    pub poll_ns: u64,
}

/// How a guest asks its devices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interface {
    /// One call for each block, as unikernels did it before: what the others are measured against.
    Blocks,
    /// One call for each request, of any length.
    Calls,
    /// Rings of requests in memory.
    Rings(Rings),
}

/// How rings are served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rings {
    /// Each side looks for what the other does for so long before it sleeps.
    pub poll: Duration,
    pub engine: Engine,
}

/// How the monitor does what is asked in rings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// By io_uring for disks past the page cache, if the system has it, and one after the other else.
    Auto,
    /// One request after the other, each by a call of the kernel.
    Plain,
    /// By io_uring, many at once.
    Uring,
}

impl Interface {
    fn most_bytes(self) -> u64 {
        if self == Self::Blocks { Disk::BLOCK } else { MOST_BYTES }
    }
}

/// Why a program cannot be given that.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GuestError {
    #[error("{asked} bytes of memory are too few: {program} needs at least {needed}")]
    Memory { asked: u64, program: String, needed: u64 },
    #[error("a guest has at most {MOST_MEMORY} bytes of memory, and not {0}")]
    TooMuchMemory(u64),
    #[error("{program} needs the block device {name:?}: --block {name}=FILE")]
    DeviceMissing { program: String, name: String },
    #[error("{program} knows no block device {name:?}, but {knows}")]
    DeviceUnknown { program: String, name: String, knows: String },
    #[error("the block device {0:?} is given twice")]
    DeviceTwice(String),
    #[error("arguments and variables cannot have a zero byte: {0:?}")]
    Zero(String),
}

impl Guest {
    /// A program with so many bytes of memory, in whole pages, arguments, variables (`NAME=value`) and disks.
    ///
    /// # Errors
    /// If they are not what it needs.
    pub fn new(
        program: Program,
        memory: u64,
        arguments: Vec<String>,
        environment: Vec<String>,
        disks: Vec<Disk>,
        interface: Interface,
    ) -> Result<Self, GuestError> {
        let name = program.path().display().to_string();
        let needed = (program.end() + LEAST_HEAP + PAGE + STACK - START).max(LEAST_MEMORY);
        if memory < needed {
            return Err(GuestError::Memory { asked: memory, program: name, needed });
        }
        if memory > MOST_MEMORY {
            return Err(GuestError::TooMuchMemory(memory));
        }
        if let Some(text) = arguments.iter().chain(&environment).find(|text| text.contains('\0')) {
            return Err(GuestError::Zero(text.clone()));
        }
        let mut in_order = Vec::new();
        let mut disks = disks;
        for device in program.devices() {
            let Some(n) = disks.iter().position(|disk| disk.name() == device) else {
                return Err(GuestError::DeviceMissing { program: name, name: device.clone() });
            };
            in_order.push(disks.swap_remove(n));
        }
        if let Some(disk) = disks.first() {
            let disk = disk.name().to_owned();
            if in_order.iter().any(|given| given.name() == disk) {
                return Err(GuestError::DeviceTwice(disk));
            }
            let knows = match program.devices() {
                [] => "none at all".to_owned(),
                some => some.join(", "),
            };
            return Err(GuestError::DeviceUnknown { program: name, name: disk, knows });
        }
        let end = (START + memory) / PAGE * PAGE;
        Ok(Self { program, end, arguments, environment, disks: in_order, interface })
    }

    pub fn program(&self) -> &Program {
        &self.program
    }

    pub fn disks(&self) -> &[Disk] {
        &self.disks
    }

    pub fn interface(&self) -> Interface {
        self.interface
    }

    pub(crate) fn arguments(&self) -> &[String] {
        &self.arguments
    }

    pub(crate) fn environment(&self) -> &[String] {
        &self.environment
    }

    /// Where its memory ends.
    pub(crate) fn end(&self) -> u64 {
        self.end
    }

    pub(crate) fn stack(&self) -> Range {
        Range { start: self.end - STACK, len: STACK }
    }

    pub(crate) fn heap(&self) -> Range {
        let start = self.program.end();
        Range { start, len: self.stack().start - PAGE - start }
    }

    /// What it may write to.
    pub(crate) fn writable(&self) -> Vec<std::ops::Range<u64>> {
        let data = self.program.segments().iter().filter(|segment| segment.access == Access::Write);
        let all = [self.heap(), self.stack()].map(|range| range.start..range.start + range.len);
        data.map(|segment| segment.start..segment.start + segment.len).chain(all).collect()
    }

    /// What it is told of its disks; each has what `asked` says of how it is asked.
    pub(crate) fn devices(&self, asked: impl Fn(usize, &Disk) -> Asked) -> Vec<Device> {
        let device = |(n, disk): (usize, &Disk)| {
            let mut name = [0; 24];
            name[..disk.name().len()].copy_from_slice(disk.name().as_bytes());
            let Asked { handle, durable_handle, rings, poll_ns } = asked(n, disk);
            Device {
                name,
                handle,
                durable_handle,
                durability: disk.durability() as u32,
                block_size: Disk::BLOCK as u32,
                read_only: disk.is_read_only().into(),
                alignment: disk.alignment(),
                blocks: disk.bytes() / Disk::BLOCK,
                most_bytes: self.interface.most_bytes(),
                rings,
                poll_ns,
            }
        };
        self.disks.iter().enumerate().map(device).collect()
    }
}
