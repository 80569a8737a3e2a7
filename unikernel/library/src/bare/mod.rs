//! The bare machine: what a monitor gives, and nothing else.

mod entry;
mod heap;
mod hvt;
mod machine;
mod memory;
mod panic;
mod ring;
mod spt;

use alloc::string::String;
use alloc::vec::Vec;
use core::cell::Cell;

use unikernel_abi::boot::Range;
use unikernel_abi::call::Op;
use unikernel_abi::{Boot, Counts, Device, Kind, MOST_DEVICES, Status};

use crate::stream::Stream;

/// What the program was told when it was entered.
struct World {
    boot: Cell<Option<&'static Boot>>,
    /// Devices that have an owner.
    taken: [Cell<bool>; MOST_DEVICES],
    /// Devices of which nobody knows what they hold.
    failed: [Cell<bool>; MOST_DEVICES],
}

// SAFETY: there is one thread, and nothing interrupts it.
unsafe impl Sync for World {}

static WORLD: World = World {
    boot: Cell::new(None),
    taken: [const { Cell::new(false) }; MOST_DEVICES],
    failed: [const { Cell::new(false) }; MOST_DEVICES],
};

fn boot() -> Option<&'static Boot> {
    WORLD.boot.get()
}

fn kind() -> Kind {
    // Only what was entered by a monitor that is known gets so far.
    boot().and_then(|boot| Kind::of(boot.kind)).unwrap_or(Kind::Spt)
}

/// What lies in a part of memory that the monitor filled.
fn told<T>(range: Range) -> &'static [T] {
    let count = range.len as usize / size_of::<T>();
    if count == 0 {
        return &[];
    }
    // SAFETY: the monitor put so many of them there before it entered the program, and the pages are read only.
    unsafe { core::slice::from_raw_parts(range.start as *const T, count) }
}

fn strings(range: Range) -> impl Iterator<Item = &'static str> {
    let bytes: &[u8] = told(range);
    let bytes = bytes.strip_suffix(&[0]).unwrap_or(bytes);
    let all = bytes.split(|byte| *byte == 0).filter_map(|text| core::str::from_utf8(text).ok());
    all.take(if range.len == 0 { 0 } else { usize::MAX })
}

pub fn arguments() -> Vec<String> {
    boot().map(|boot| strings(boot.arguments).map(Into::into).collect()).unwrap_or_default()
}

pub fn variable(name: &str) -> Option<String> {
    let mut all = strings(boot()?.environment).filter_map(|text| text.split_once('='));
    all.find(|(of, _)| *of == name).map(|(_, value)| value.into())
}

pub fn devices() -> &'static [Device] {
    boot().map(|boot| told(boot.devices)).unwrap_or_default()
}

/// Keeps what was asked of a device for whoever runs the program.
pub fn count(number: usize, more: Counts) {
    let all = boot().map_or(Range::default(), |boot| boot.counts);
    if (number + 1) * size_of::<Counts>() <= all.len as usize {
        // SAFETY: the monitor gave this memory for it, and reads it when the program has ended.
        unsafe { (*(all.start as *mut Counts).add(number)).add(more) };
    }
}

pub fn take(number: usize) -> bool {
    WORLD.taken.get(number).is_some_and(|taken| !taken.replace(true))
}

pub fn give_back(number: usize) {
    if let Some(taken) = WORLD.taken.get(number) {
        taken.set(false);
    }
}

/// Nothing is written to a device any more.
pub fn fail(number: usize) {
    if let Some(failed) = WORLD.failed.get(number) {
        failed.set(true);
    }
}

pub fn has_failed(number: usize) -> bool {
    WORLD.failed.get(number).is_some_and(Cell::get)
}

pub fn console_write(stream: Stream, text: &[u8]) {
    match kind() {
        Kind::Spt => spt::console_write(stream, text),
        Kind::Hvt => hvt::console_write(stream, text),
        Kind::Machine => machine::console_write(stream, text),
    }
}

/// The bytes of the heap, and how many of them are in use.
pub fn memory() -> Option<(u64, u64)> {
    boot().map(|boot| (boot.heap.len, heap::used()))
}

pub fn monotonic() -> u64 {
    match kind() {
        Kind::Spt => spt::clock(spt::MONOTONIC),
        Kind::Hvt => hvt::monotonic(),
        Kind::Machine => machine::monotonic(),
    }
}

pub fn wall() -> u64 {
    match kind() {
        Kind::Spt => spt::clock(spt::REALTIME),
        Kind::Hvt => hvt::wall(),
        Kind::Machine => machine::wall(),
    }
}

pub fn read(device: &Device, block: u64, into: &mut [u8]) -> Result<(), Status> {
    let (start, len) = (into.as_mut_ptr() as u64, into.len());
    match kind() {
        _ if device.rings != 0 => ring::perform(device, Op::Read, block, start, len),
        Kind::Spt => spt::read(device, block, into),
        Kind::Hvt => hvt::block(device, Op::Read, block, start, len),
        Kind::Machine => machine::read(device, block, into),
    }
}

/// `op` is one of those that write.
pub fn write(device: &Device, op: Op, block: u64, from: &[u8]) -> Result<(), Status> {
    let (start, len) = (from.as_ptr() as u64, from.len());
    match kind() {
        _ if device.rings != 0 => ring::perform(device, op, block, start, len),
        Kind::Spt => spt::write(device, op, block, from),
        Kind::Hvt => hvt::block(device, op, block, start, len),
        Kind::Machine => machine::write(device, op == Op::WriteDurable, block, from),
    }
}

pub fn flush(device: &Device) -> Result<(), Status> {
    match kind() {
        _ if device.rings != 0 => ring::perform(device, Op::Flush, 0, 0, 0),
        Kind::Spt => spt::flush(device),
        Kind::Hvt => hvt::block(device, Op::Flush, 0, 0, 0),
        Kind::Machine => machine::flush(device),
    }
}

/// Wakes the monitor, which sleeps.
fn ring_doorbell(device: &Device) {
    match kind() {
        Kind::Spt => spt::tell(device.handle),
        Kind::Hvt => hvt::ring_doorbell(),
        // Its devices have rings of their own.
        Kind::Machine => {}
    }
}

/// Sleeps until the monitor wakes the guest.
fn wait_for_completion(device: &Device) {
    match kind() {
        Kind::Spt => spt::wait(device.durable_handle),
        Kind::Hvt => hvt::wait(),
        Kind::Machine => {}
    }
}

fn exit(code: u8) -> ! {
    match kind() {
        Kind::Spt => spt::exit(code),
        Kind::Hvt => hvt::exit(code),
        Kind::Machine => machine::exit(code),
    }
}
