//! What a guest is told of its world.

/// The page at [`crate::BOOT`].
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Boot {
    pub magic: u64,
    /// [`crate::VERSION`].
    pub version: u32,
    /// A [`Kind`].
    pub kind: u32,
    /// The memory behind the program that is free, up to the page below the stack.
    pub heap: Range,
    pub stack: Range,
    /// Strings, each ended by a zero byte.
    pub arguments: Range,
    /// `NAME=value`, each ended by a zero byte.
    pub environment: Range,
    pub clock: Clock,
    /// Of [`Device`].
    pub devices: Range,
    /// Of [`Counts`], one for each device, which the program keeps for whoever runs it; empty if nobody wants to know.
    pub counts: Range,
}

/// What was asked of a device.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Requests that read.
    pub reads: u64,
    /// Requests that wrote.
    pub writes: u64,
    /// Flushes, without those that are part of a durable write.
    pub flushes: u64,
    /// Bytes that were read.
    pub bytes_read: u64,
    /// Bytes that were written.
    pub bytes_written: u64,
}

impl Counts {
    /// Adds what was asked besides.
    pub fn add(&mut self, more: Self) {
        let Self { reads, writes, flushes, bytes_read, bytes_written } = self;
        *reads += more.reads;
        *writes += more.writes;
        *flushes += more.flushes;
        *bytes_read += more.bytes_read;
        *bytes_written += more.bytes_written;
    }
}

pub const MAGIC: u64 = u64::from_le_bytes(*b"KZBOOT\0\x01");

/// Who runs the guest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Kind {
    /// A process of Linux that may make a few system calls.
    Spt = 1,
    /// A virtual machine that exits to its monitor.
    Hvt = 2,
    /// A machine of somebody else's, with a serial port and virtio devices. No monitor says so: the program finds it by the way in which it
    /// is entered, and makes the boot page itself.
    Machine = 3,
}

impl Kind {
    pub fn of(number: u32) -> Option<Self> {
        [Self::Spt, Self::Hvt, Self::Machine].into_iter().find(|kind| *kind as u32 == number)
    }
}

/// A part of memory.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Range {
    pub start: u64,
    /// In bytes.
    pub len: u64,
}

/// How the guest tells the time.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Clock {
    /// The address of a function as `clock_gettime` of the C library, which the kernel of the host gives to its processes; 0 if there is
    /// none.
    pub function: u64,
    /// Ticks of the time stamp counter in a second; 0 if it is none that can be told time by.
    pub tsc_hz: u64,
    /// The counter at some moment, and the time then, in nanoseconds since 1970.
    pub tsc_then: u64,
    pub wall_then: u64,
}

/// A device of the guest.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Device {
    /// As the guest calls it, ended by zeros.
    pub name: [u8; 24],
    /// By which it is asked for: under spt a descriptor.
    pub handle: u32,
    /// The same for writes that are durable when they are done.
    pub durable_handle: u32,
    /// A [`Durability`].
    pub durability: u32,
    /// Bytes of a block, a power of two.
    pub block_size: u32,
    /// 1 if it may only be read.
    pub read_only: u32,
    /// What the data of a request is aligned to in memory, a power of two.
    pub alignment: u32,
    pub blocks: u64,
    /// The most bytes of a request.
    pub most_bytes: u64,
    /// The address of its rings; 0 if it has none, and is asked by calls.
    pub rings: u64,
    /// How long the guest looks for a completion before it sleeps, in nanoseconds.
    pub poll_ns: u64,
}

impl Device {
    pub fn name(&self) -> &str {
        let end = self.name.iter().position(|byte| *byte == 0).unwrap_or(self.name.len());
        core::str::from_utf8(&self.name[..end]).unwrap_or_default()
    }
}

/// What a flush of a device does, in the words of QEMU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Durability {
    /// What is written is durable after the next flush.
    Writeback = 1,
    /// What is written is durable when the write returns.
    Writethrough = 2,
    /// Nothing is ever flushed: whatever the guest is told, a power cut may take it.
    Unsafe = 3,
}

impl Durability {
    pub const ALL: [Self; 3] = [Self::Writeback, Self::Writethrough, Self::Unsafe];

    pub fn of(number: u32) -> Option<Self> {
        Self::ALL.into_iter().find(|durability| *durability as u32 == number)
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Writeback => "writeback",
            Self::Writethrough => "writethrough",
            Self::Unsafe => "unsafe",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::mem::{offset_of, size_of};

    /// A program that was built once runs under a monitor that was built later.
    #[test]
    fn the_layout_stays() {
        assert_eq!((size_of::<Boot>(), size_of::<Device>(), size_of::<Clock>()), (144, 80, 32));
        assert_eq!(size_of::<Counts>(), 40);
        assert_eq!((offset_of!(Boot, heap), offset_of!(Boot, clock), offset_of!(Boot, devices)), (16, 80, 112));
    }
}
