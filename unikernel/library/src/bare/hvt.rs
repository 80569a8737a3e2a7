//! Under hvt: a virtual machine that asks its monitor by writes to places where no memory is.

use core::arch::asm;

use unikernel_abi::call::{Block, Console, Op, Time, place};
use unikernel_abi::{Device, Status};

use super::boot;
use crate::stream::Stream;

/// Gives the monitor this value. It returns when the monitor has done what was asked.
fn ask(place: u64, value: u32) {
    // SAFETY: the monitor reads and writes the argument that the value is the address of, which callers own, and nothing else. The
    // instruction is one that every monitor can do for the guest.
    unsafe {
        asm!("mov dword ptr [{place}], {value:e}", place = in(reg) place, value = in(reg) value, options(nostack))
    }
}

/// The same with an argument. Memory lies below 4 GiB for this.
fn ask_of<T>(place: u64, argument: &mut T) {
    ask(place, &raw mut *argument as u64 as u32);
}

pub fn console_write(stream: Stream, text: &[u8]) {
    let stream = match stream {
        Stream::Out => 1,
        Stream::Error => 2,
    };
    ask_of(place::CONSOLE, &mut Console { text: text.as_ptr() as u64, len: text.len() as u64, stream });
}

pub fn exit(code: u8) -> ! {
    loop {
        ask(place::EXIT, u32::from(code));
    }
}

pub fn block(device: &Device, op: Op, block: u64, data: u64, len: usize) -> Result<(), Status> {
    let mut request =
        Block { device: device.handle, op: op as u32, block, data, len: len as u64, status: u32::MAX, reserved: 0 };
    ask_of(place::BLOCK, &mut request);
    match Status::of(request.status) {
        Status::Ok => Ok(()),
        why => Err(why),
    }
}

/// The host looks at the value only where it is an address.
pub fn ring_doorbell() {
    ask(place::DOORBELL, 0);
}

pub fn wait() {
    ask(place::WAIT, 0);
}

/// By the time stamp counter, if it is one that time can be told by.
pub fn monotonic() -> u64 {
    let Some((hz, then)) = boot().map(|boot| (boot.clock.tsc_hz, boot.clock.tsc_then)).filter(|(hz, _)| *hz > 0) else {
        return wall();
    };
    // SAFETY: every processor of this kind has the instruction, and the monitor lets it through.
    let now = unsafe { core::arch::x86_64::_rdtsc() };
    (u128::from(now.saturating_sub(then)) * 1_000_000_000 / u128::from(hz)) as u64
}

pub fn wall() -> u64 {
    let mut time = Time::default();
    ask_of(place::TIME, &mut time);
    time.now
}
