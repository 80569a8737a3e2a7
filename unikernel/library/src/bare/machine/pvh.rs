//! What a machine says of itself when it enters the program, as PVH has it (docs/misc/pvh.pandoc of Xen).

use alloc::string::String;
use alloc::vec::Vec;
use unikernel_abi::IMAGE;
use unikernel_abi::boot::Range;
use unikernel_abi::line::{self, Word};

const MAGIC: u32 = 0x336e_c578;
/// Memory that can be used, in the table of memory.
const USABLE: u32 = 1;
/// No line of text is longer.
const LONGEST: usize = 64 << 10;
/// The program uses no memory above: its page tables end with it, and devices lie there.
const MEMORY_END: u64 = 3 << 30;

/// What is needed of it.
pub struct Told {
    /// The end of the memory that the program lies in.
    pub memory_end: u64,
    /// Behind what the machine says, where that lies in this memory behind the program; else 0.
    pub told_end: u64,
    pub line: &'static str,
}

#[repr(C)]
#[derive(Clone, Copy)]
struct StartInfo {
    magic: u32,
    version: u32,
    flags: u32,
    modules: u32,
    modules_at: u64,
    line_at: u64,
    tables_at: u64,
    memory_at: u64,
    memory_entries: u32,
    reserved: u32,
}

#[repr(C)]
#[derive(Clone, Copy)]
struct MemoryEntry {
    start: u64,
    len: u64,
    kind: u32,
    reserved: u32,
}

/// What the machine says.
///
/// # Errors
/// Why that cannot be understood.
pub fn read(at: u64) -> Result<Told, &'static str> {
    const NOT_SAID: &str = "this machine does not say what it is, as PVH has it";
    // SAFETY: the machine entered the program with that address, and all of its memory below 4 GiB is mapped.
    let info = unsafe { (at as *const StartInfo).read_unaligned() };
    if info.magic != MAGIC || info.version == 0 {
        return Err(NOT_SAID);
    }
    let entry = |n: u32| {
        // SAFETY: so many are there.
        unsafe { (info.memory_at as *const MemoryEntry).add(n as usize).read_unaligned() }
    };
    let around = |entry: &MemoryEntry| entry.kind == USABLE && entry.start <= IMAGE && entry.start + entry.len > IMAGE;
    let memory = (0..info.memory_entries).map(entry).find(around).ok_or(NOT_SAID)?;
    let line = text(info.line_at);
    let parts = [
        (at, size_of::<StartInfo>()),
        (info.memory_at, info.memory_entries as usize * size_of::<MemoryEntry>()),
        (info.line_at, line.len() + 1),
    ];
    // Xen puts it behind the program, others below it.
    let told_end = parts.into_iter().filter(|(at, _)| *at >= IMAGE).map(|(at, len)| at + len as u64).max().unwrap_or(0);
    Ok(Told {
        memory_end: (memory.start + memory.len).min(MEMORY_END) / 4096 * 4096,
        told_end,
        line: core::str::from_utf8(line).map_err(|_| "its command line is not UTF-8")?,
    })
}

/// Text that ends with a zero byte.
fn text(at: u64) -> &'static [u8] {
    if at == 0 {
        return &[];
    }
    let start = at as *const u8;
    // SAFETY: the machine put it there, with a zero behind it; nobody changes it.
    unsafe {
        let len = (0..LONGEST).take_while(|n| start.add(*n).read() != 0).count();
        core::slice::from_raw_parts(start, len)
    }
}

/// What the line says.
pub struct Words {
    pub tsc_hz: Option<u64>,
    pub now: Option<u64>,
    /// Each ended by a zero byte.
    pub arguments: Vec<u8>,
    pub environment: Vec<u8>,
    /// Where there may be devices: address and length.
    pub devices: Vec<(u64, u64)>,
    /// Names of devices that are never flushed.
    pub never_flushed: Vec<String>,
}

impl Words {
    pub fn of(text: &str) -> Self {
        let mut all = Self {
            tsc_hz: None,
            now: None,
            arguments: Vec::new(),
            environment: Vec::new(),
            devices: Vec::new(),
            never_flushed: Vec::new(),
        };
        for word in line::words(text) {
            match word {
                Word::Now(now) => all.now = Some(now),
                Word::TscHz(hz) => all.tsc_hz = Some(hz),
                Word::Unsafe(name) => all.never_flushed.push(name.into()),
                Word::Variable(text) => all.environment.extend(text.bytes().chain([0])),
                Word::Argument(text) => all.arguments.extend(text.bytes().chain([0])),
                Word::Device { address, len } => all.devices.push((address, len)),
            }
        }
        all
    }
}

/// Bytes that stay there.
pub fn leak(bytes: Vec<u8>) -> Range {
    let bytes = bytes.leak();
    Range { start: bytes.as_ptr() as u64, len: bytes.len() as u64 }
}
