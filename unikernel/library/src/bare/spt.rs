//! Under spt: a process of Linux behind a filter that lets these system calls through, with these arguments.

use core::arch::asm;

use unikernel_abi::call::Op;
use unikernel_abi::{Device, Durability, Status};

use super::boot;
use crate::stream::Stream;

pub const REALTIME: u32 = 0;
pub const MONOTONIC: u32 = 1;

const READ: u64 = 0;
const WRITE: u64 = 1;
const PREAD64: u64 = 17;
const PWRITE64: u64 = 18;
const FDATASYNC: u64 = 75;
const CLOCK_GETTIME: u64 = 228;
const EXIT_GROUP: u64 = 231;

const EINTR: i64 = 4;

/// A system call.
fn call(number: u64, [a, b, c, d, e, f]: [u64; 6]) -> i64 {
    let result;
    // SAFETY: callers pass what the call says, and memory that is theirs.
    unsafe {
        asm!("syscall", inlateout("rax") number => result, in("rdi") a, in("rsi") b, in("rdx") c, in("r10") d, in("r8") e,
            in("r9") f, lateout("rcx") _, lateout("r11") _, options(nostack));
    }
    result
}

pub fn console_write(stream: Stream, text: &[u8]) {
    let descriptor = match stream {
        Stream::Out => 1,
        Stream::Error => 2,
    };
    let mut rest = text;
    while !rest.is_empty() {
        let written = call(WRITE, [descriptor, rest.as_ptr() as u64, rest.len() as u64, 0, 0, 0]);
        match written {
            1.. => rest = &rest[(written as usize).min(rest.len())..],
            _ if written == -EINTR => {}
            // Nobody listens any more.
            _ => return,
        }
    }
}

pub fn clock(which: u32) -> u64 {
    #[repr(C)]
    struct Timespec {
        seconds: i64,
        nanoseconds: i64,
    }
    let mut now = Timespec { seconds: 0, nanoseconds: 0 };
    let function = boot().map_or(0, |boot| boot.clock.function);
    if function == 0 {
        call(CLOCK_GETTIME, [u64::from(which), &raw mut now as u64, 0, 0, 0, 0]);
    } else {
        // SAFETY: the monitor says that this is the kernel's function, which is one of the C calling convention.
        let function: extern "C" fn(u32, *mut Timespec) -> i32 = unsafe { core::mem::transmute(function) };
        function(which, &raw mut now);
    }
    now.seconds as u64 * 1_000_000_000 + now.nanoseconds as u64
}

pub fn exit(code: u8) -> ! {
    loop {
        call(EXIT_GROUP, [u64::from(code), 0, 0, 0, 0, 0]);
    }
}

pub fn read(device: &Device, block: u64, into: &mut [u8]) -> Result<(), Status> {
    let mut done = 0;
    while done < into.len() {
        let at = block * u64::from(device.block_size) + done as u64;
        let rest = &mut into[done..];
        match call(PREAD64, [u64::from(device.handle), rest.as_mut_ptr() as u64, rest.len() as u64, at, 0, 0]) {
            read @ 1.. => done += read as usize,
            // The file has been cut.
            0 => return Err(Status::Io),
            why if why == -EINTR => {}
            why => return Err(Status::of_linux(-why as i32)),
        }
    }
    Ok(())
}

pub fn write(device: &Device, op: Op, block: u64, from: &[u8]) -> Result<(), Status> {
    let handle = if op == Op::WriteDurable { device.durable_handle } else { device.handle };
    let mut done = 0;
    while done < from.len() {
        let at = block * u64::from(device.block_size) + done as u64;
        let rest = &from[done..];
        match call(PWRITE64, [u64::from(handle), rest.as_ptr() as u64, rest.len() as u64, at, 0, 0]) {
            written @ 1.. => done += written as usize,
            0 => return Err(Status::Io),
            why if why == -EINTR => {}
            why => return Err(Status::of_linux(-why as i32)),
        }
    }
    Ok(())
}

pub fn flush(device: &Device) -> Result<(), Status> {
    // Of what is durable already, or is never to be, nothing is asked.
    if Durability::of(device.durability) != Some(Durability::Writeback) {
        return Ok(());
    }
    match call(FDATASYNC, [u64::from(device.handle), 0, 0, 0, 0, 0]) {
        0.. => Ok(()),
        why => Err(Status::of_linux(-why as i32)),
    }
}

/// Tells an event of the kernel.
pub fn tell(event: u32) {
    let one = 1u64;
    call(WRITE, [u64::from(event), &raw const one as u64, 8, 0, 0, 0]);
}

/// Until an event of the kernel is told.
pub fn wait(event: u32) {
    let mut count = 0u64;
    call(READ, [u64::from(event), &raw mut count as u64, 8, 0, 0, 0]);
}
