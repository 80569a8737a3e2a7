//! A guest that keeps to no rule. It goes around the library, straight to what the monitor gave it.

#![no_std]
#![no_main]

extern crate alloc;

use core::arch::asm;
use core::sync::atomic::{AtomicU32, Ordering};

use unikernel::{ExitCode, eprintln, println};
use unikernel_abi::call::{self, Console, Op};
use unikernel_abi::ring::{Completion, DEPTH, Request, Segment, completion_at, place, request_at};
use unikernel_abi::{BOOT, Boot, Device, IMAGE, Kind, RINGS, Status};

#[unikernel::main(blocks = ["data"])]
fn main() -> ExitCode {
    let arguments = unikernel::arguments();
    match arguments.first().map_or("", |word| word.as_str()) {
        "requests" => requests(),
        "jump" => {
            word(place::SUBMITTED).store(DEPTH + 1, Ordering::Release);
            ring_doorbell();
            wait_for_ever();
        }
        "back" => {
            word(place::SUBMITTED).store(u32::MAX, Ordering::Release);
            ring_doorbell();
            wait_for_ever();
        }
        "storm" => (0..100_000).for_each(|_| ring_doorbell()),
        "place" => ask(call::place::PAGE + 0x777, 0),
        "port" => {
            // SAFETY: none: that it ends the guest is what the test is about.
            unsafe { asm!("out dx, eax", in("dx") 0x5ff, in("eax") 0) };
        }
        "console-nowhere" => ask_of(call::place::CONSOLE, &Console { text: u64::MAX - 5, len: 100, stream: 1 }),
        "console-much" => ask_of(call::place::CONSOLE, &Console { text: IMAGE, len: u64::MAX, stream: 1 }),
        "argument-nowhere" => ask(call::place::BLOCK, u32::MAX - 3),
        "in" => {
            // SAFETY: none, as above.
            unsafe { asm!("in eax, dx", in("dx") 0x500, out("eax") _) };
        }
        "hole" => {
            // SAFETY: none, as above.
            let there = unsafe { (0xfee0_0000 as *const u32).read_volatile() };
            println!("there was {there}");
        }
        "halt" => {
            // SAFETY: none, as above.
            unsafe { asm!("hlt") };
        }
        "tables" => {
            let tables: u64;
            // SAFETY: none, as above.
            unsafe { asm!("mov {}, cr3", out(reg) tables) };
            println!("they are at {tables:#x}");
        }
        what => eprintln!("what? {what:?}"),
    }
    ExitCode::SUCCESS
}

fn boot() -> &'static Boot {
    // SAFETY: every monitor puts it there.
    unsafe { &*(BOOT as *const Boot) }
}

fn device() -> &'static Device {
    // SAFETY: there is one, as the manifest says.
    unsafe { &*(boot().devices.start as *const Device) }
}

fn word(at: u64) -> &'static AtomicU32 {
    // SAFETY: rings lie there.
    unsafe { AtomicU32::from_ptr((RINGS + at) as *mut u32) }
}

fn ask(place: u64, value: u32) {
    // SAFETY: none, as above.
    unsafe { (place as *mut u32).write_volatile(value) };
}

fn ask_of<T>(place: u64, argument: &T) {
    ask(place, core::ptr::from_ref(argument) as u64 as u32);
}

fn ring_doorbell() {
    if Kind::of(boot().kind) == Some(Kind::Hvt) {
        return ask(call::place::DOORBELL, 0);
    }
    let one = 1u64;
    let (event, number) = (device().handle, &raw const one as u64);
    // SAFETY: write of eight bytes.
    unsafe {
        asm!("syscall", inlateout("rax") 1u64 => _, in("rdi") u64::from(event), in("rsi") number, in("rdx") 8u64, lateout("rcx") _,
            lateout("r11") _);
    }
}

fn wait_for_ever() {
    let end = unikernel::since_start() + core::time::Duration::from_secs(30);
    while unikernel::since_start() < end {
        core::hint::spin_loop();
    }
    println!("nobody minded");
}

/// Requests that cannot be, each with the status that it has to get, and one that can be behind them.
fn requests() {
    let bytes = device().blocks * u64::from(device().block_size);
    let block = u64::from(device().block_size);
    let data = alloc::vec![7u8; 4096];
    let here = data.as_ptr() as u64;
    let part = |start, len| Segment { start, len };
    let request = |op: Op, segments: &[Segment], at: u64| {
        let mut all = [Segment::default(); 3];
        all[..segments.len().min(3)].copy_from_slice(&segments[..segments.len().min(3)]);
        Request { op: op as u16, segments: segments.len() as u16, id: 0, block: at, data: all }
    };
    let good = part(here, 512);
    let cases = [
        (request(Op::Read, &[good], 0), Status::Ok),
        (Request { op: 0, ..request(Op::Read, &[good], 0) }, Status::Unsupported),
        (Request { op: u16::MAX, ..request(Op::Read, &[good], 0) }, Status::Unsupported),
        (Request { segments: u16::MAX, ..request(Op::Read, &[good], 0) }, Status::Invalid),
        (Request { segments: 4, ..request(Op::Read, &[good], 0) }, Status::Invalid),
        (request(Op::Read, &[], 0), Status::Invalid),
        (request(Op::Read, &[part(here, 0)], 0), Status::Invalid),
        (request(Op::Read, &[part(here, 511)], 0), Status::Invalid),
        (request(Op::Write, &[part(here, 256), part(here, 256)], 0), Status::Ok),
        (request(Op::Write, &[good, good, good], bytes / block - 3), Status::Ok),
        (request(Op::Write, &[good, good, good], bytes / block - 2), Status::Range),
        (request(Op::Read, &[good], bytes / block), Status::Range),
        (request(Op::Read, &[good], u64::MAX), Status::Range),
        (request(Op::Read, &[good], u64::MAX / block), Status::Range),
        (request(Op::Read, &[part(here, u64::MAX - 511)], 0), Status::TooLarge),
        (request(Op::Read, &[good, part(here, u64::MAX - 511), good], 0), Status::Invalid),
        (request(Op::Read, &[part(0, 512)], 0), Status::Invalid),
        (request(Op::Read, &[part(BOOT, 512)], 0), Status::Invalid),
        (request(Op::Read, &[part(RINGS, 512)], 0), Status::Invalid),
        (request(Op::Read, &[part(IMAGE - 256, 512)], 0), Status::Invalid),
        // Its own code, which nobody may write to for it.
        (request(Op::Read, &[part(IMAGE, 512)], 0), Status::Invalid),
        (request(Op::Write, &[part(IMAGE, 512)], 0), Status::Ok),
        (request(Op::Write, &[part(1 << 40, 512)], 0), Status::Invalid),
        (request(Op::Write, &[part(u64::MAX - 100, 512)], 0), Status::Invalid),
        (request(Op::Write, &[part(boot().stack.start + boot().stack.len - 256, 512)], 0), Status::Invalid),
        (request(Op::Flush, &[], u64::MAX), Status::Ok),
        (request(Op::Write, &[good], 1), Status::Ok),
    ];
    let all = cases.len() as u32;
    for (n, (request, _)) in cases.iter().enumerate() {
        // SAFETY: a place of the ring.
        unsafe {
            ((RINGS + request_at(n as u32)) as *mut Request).write_volatile(Request { id: 1000 + n as u32, ..*request })
        };
    }
    word(place::SUBMITTED).store(all, Ordering::Release);
    ring_doorbell();
    let end = unikernel::since_start() + core::time::Duration::from_secs(30);
    while word(place::COMPLETED).load(Ordering::Acquire) != all {
        assert!(unikernel::since_start() < end, "{} were done", word(place::COMPLETED).load(Ordering::Relaxed));
    }
    for (n, (request, status)) in cases.iter().enumerate() {
        // SAFETY: as above.
        let told = unsafe { ((RINGS + completion_at(n as u32)) as *const Completion).read_volatile() };
        assert_eq!((told.id, Status::of(told.status)), (1000 + n as u32, *status), "{request:?}");
    }
    println!("every request got its status");
}
