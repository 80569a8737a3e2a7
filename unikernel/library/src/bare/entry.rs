//! Where a monitor enters the program.

use core::arch::global_asm;

use unikernel_abi::{Boot, Kind, VERSION, boot};

use super::{WORLD, exit, heap};

// The monitor has set the stack pointer to the end of the stack, and `rdi` to the boot page.
global_asm!(
    ".pushsection .text.unikernel_start, \"ax\", @progbits",
    ".global unikernel_start",
    "unikernel_start:",
    "xor ebp, ebp",
    "and rsp, -16",
    "call {start}",
    "ud2",
    ".popsection",
    start = sym start,
);

unsafe extern "Rust" {
    /// The program, as `#[unikernel::main]` makes it.
    safe fn unikernel_main() -> u8;
}

extern "C" fn start(told: &'static Boot) -> ! {
    // Whoever cannot be understood cannot be told why either.
    if told.magic != boot::MAGIC || told.version != VERSION || Kind::of(told.kind).is_none() {
        trap();
    }
    WORLD.boot.set(Some(told));
    heap::give(told.heap);
    run()
}

/// Runs the program, which knows its world.
pub fn run() -> ! {
    exit(unikernel_main())
}

fn trap() -> ! {
    // SAFETY: an instruction that is none ends the program, which is what is wanted.
    unsafe { core::arch::asm!("ud2", options(noreturn)) }
}
