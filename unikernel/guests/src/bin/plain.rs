//! A guest without devices, which does what its first argument says. What it may not do, the tests see it not do.

#![no_std]
#![no_main]

extern crate alloc;

use alloc::vec::Vec;
use core::hint::black_box;

use unikernel::{ExitCode, eprintln, println};

#[unikernel::main]
fn main() -> ExitCode {
    let arguments = unikernel::arguments();
    let (what, rest) = arguments.split_first().map_or(("", &arguments[..]), |(what, rest)| (what.as_str(), rest));
    match what {
        "hello" => println!("hello, {}", rest.join(" and ")),
        "exit" => return ExitCode::from(rest.first().and_then(|code| code.parse::<u8>().ok()).unwrap_or(1)),
        "panic" => panic!("as I was told: {}", rest.join(" ")),
        "variable" => println!("{:?}", rest.first().and_then(|name| unikernel::variable(name))),
        "devices" => println!("{:?}", unikernel::devices()),
        "time" => time(),
        "second" => second(),
        "heap" => heap(),
        "memory" => memory(),
        "float" => println!("{:.6}", (1..=20).map(|n| 1.0 / f64::from(n * n)).sum::<f64>()),
        "errors" => eprintln!("this goes to the other stream"),
        "long" => (0..100_000).for_each(|n| println!("line {n} of many")),
        "null" => touch(8),
        "below" => touch(0xf000),
        "monitor" => touch(0x30_000),
        "behind" => touch(1 << 40),
        "boot" => put(0x10_000),
        "code" => put(main as fn() -> ExitCode as usize as u64 & !0xfff),
        "constant" => put(core::ptr::from_ref(&CONSTANT) as u64),
        "execute" => execute(),
        "stack" => println!("{}", deep(0)),
        "divide" => println!("{}", divide(black_box(1), black_box(0))),
        "instruction" => instruction(),
        "call" => call(rest),
        _ => {
            eprintln!("what? {what:?}");
            return ExitCode::from(2);
        }
    }
    ExitCode::SUCCESS
}

static CONSTANT: u64 = 7;

fn touch(address: u64) {
    // SAFETY: none: that it ends the guest is what the test is about.
    println!("there was {}", unsafe { (address as *const u64).read_volatile() });
}

fn put(address: u64) {
    // SAFETY: none, as above.
    unsafe { (address as *mut u64).write_volatile(0) };
    println!("it was written");
}

fn execute() {
    // ret
    let code = alloc::boxed::Box::new([0xc3u8; 16]);
    // SAFETY: none, as above.
    let function: extern "C" fn() = unsafe { core::mem::transmute(code.as_ptr()) };
    function();
    println!("it was executed");
}

#[allow(unconditional_recursion)]
fn deep(depth: u64) -> u64 {
    let here = black_box([depth; 64]);
    deep(depth + 1) + here[(depth % 64) as usize]
}

fn divide(a: u32, b: u32) -> u32 {
    let result;
    // SAFETY: none, as above: Rust itself would not divide.
    unsafe { core::arch::asm!("div {b:e}", b = in(reg) b, inlateout("eax") a => result, inlateout("edx") 0 => _) };
    result
}

fn instruction() {
    // SAFETY: none, as above.
    unsafe { core::arch::asm!("ud2") }
}

/// A system call of Linux, whatever it may be.
fn call(arguments: &[alloc::string::String]) {
    let mut numbers = arguments.iter().map(|text| text.parse::<u64>().unwrap_or(0));
    let mut next = || numbers.next().unwrap_or(0);
    let (number, a, b, c, d) = (next(), next(), next(), next(), next());
    let result: i64;
    // SAFETY: none, as above.
    unsafe {
        core::arch::asm!("syscall", inlateout("rax") number => result, in("rdi") a, in("rsi") b, in("rdx") c, in("r10") d, in("r8") 0,
            in("r9") 0, lateout("rcx") _, lateout("r11") _);
    }
    println!("it returned {result}");
}

/// Says when a second begins, and when it is over.
fn second() {
    let start = unikernel::since_start();
    println!("begins");
    while unikernel::since_start() - start < core::time::Duration::from_secs(1) {
        core::hint::spin_loop();
    }
    println!("is over");
}

fn time() {
    let (start, first) = (unikernel::now(), unikernel::since_start());
    let mut before = first;
    for _ in 0..10_000 {
        let now = unikernel::since_start();
        assert!(now >= before, "the clock went back");
        before = now;
    }
    assert!(before > first && start.as_secs() > 1_700_000_000, "{first:?} to {before:?}, {start:?} since 1970");
    println!("{}", start.as_secs());
}

/// All of the memory, and all of it given back.
fn heap() {
    for _ in 0..3 {
        let mut pieces: Vec<Vec<u8>> = Vec::new();
        loop {
            let mut piece = Vec::new();
            if piece.try_reserve_exact(100_000).is_err() {
                break;
            }
            piece.resize(100_000, pieces.len() as u8);
            // The list itself needs memory too.
            if pieces.try_reserve(1).is_err() {
                break;
            }
            pieces.push(piece);
        }
        assert!(pieces.iter().enumerate().all(|(n, piece)| piece.iter().all(|byte| *byte == n as u8)));
        println!("{} pieces", pieces.len());
    }
}

/// Copies, moves, fills and compares of every short length at every place in a word.
fn memory() {
    let source: Vec<u8> = (0..700u32).map(|n| (n * 7 + 3) as u8).collect();
    for len in (0..40).chain([63, 64, 65, 127, 128, 129, 200, 255, 256, 257, 258, 500]) {
        for from in 0..9 {
            for to in 0..9 {
                let mut target = alloc::vec![0xee; 700];
                target[to..to + len].copy_from_slice(black_box(&source[from..from + len]));
                let is_right = target
                    .iter()
                    .enumerate()
                    .all(|(n, byte)| *byte == if (to..to + len).contains(&n) { source[from + n - to] } else { 0xee });
                assert!(is_right, "copy of {len} from {from} to {to}");
                let mut moved = source.clone();
                moved.copy_within(black_box(from..from + len), to);
                let is_right = moved.iter().enumerate().all(|(n, byte)| {
                    *byte == if (to..to + len).contains(&n) { source[from + n - to] } else { source[n] }
                });
                assert!(is_right, "move of {len} from {from} to {to}");
            }
            let mut filled = source.clone();
            filled[from..from + len].fill(black_box(0x5a));
            let is_right = filled
                .iter()
                .enumerate()
                .all(|(n, byte)| *byte == if (from..from + len).contains(&n) { 0x5a } else { source[n] });
            assert!(is_right, "fill of {len} at {from}");
            for differs in 0..len {
                let mut other = source.clone();
                other[from + differs] ^= 0x80;
                let (one, other) = (black_box(&source[from..from + len]), black_box(&other[from..from + len]));
                assert!(
                    one != other && one.cmp(other) == one[differs].cmp(&other[differs]),
                    "{len} at {from}, {differs}"
                );
            }
            assert!(black_box(&source[from..from + len]) == black_box(&source.clone()[from..from + len]));
        }
    }
    println!("memory is right");
}
