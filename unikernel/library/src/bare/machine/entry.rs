//! Where a machine enters the program, in 32 bits and without page tables, and how it gets from there to 64 bits.

use core::arch::global_asm;

use alloc::boxed::Box;
use unikernel_abi::boot::{Clock, MAGIC, Range};
use unikernel_abi::{Boot, Kind, PAGE, STACK, VERSION};

use super::{clock, console, exit, fault, pvh, tables, virtio};
use crate::stream::Stream;
use crate::system::{WORLD, entry, heap};

// The note that tells a loader where to enter: the 18th of Xen's.
global_asm!(
    ".pushsection .note.Xen, \"a\", @note",
    ".p2align 2",
    ".long 4, 8, 18",
    ".asciz \"Xen\"",
    ".quad unikernel_start_pvh",
    ".popsection",
);

// `ebx` has the address of what the machine says of itself.
global_asm!(
    ".pushsection .text.unikernel_start_pvh, \"ax\", @progbits",
    ".code32",
    ".global unikernel_start_pvh",
    "unikernel_start_pvh:",
    "cli",
    "cld",
    "movl $unikernel_first_stack_end, %esp",
    "movl %ebx, %edi",
    // Every address below 4 GiB is itself, in pages of 2 MiB.
    "movl $unikernel_tables + 0x1003, unikernel_tables",
    "movl $unikernel_tables + 0x2003, %eax",
    "movl $unikernel_tables + 0x1000, %edx",
    "movl $4, %ecx",
    "1: movl %eax, (%edx)",
    "addl $0x1000, %eax",
    "addl $8, %edx",
    "decl %ecx",
    "jnz 1b",
    "movl $0x83, %eax",
    "movl $unikernel_tables + 0x2000, %edx",
    "movl $2048, %ecx",
    "2: movl %eax, (%edx)",
    "addl $0x200000, %eax",
    "addl $8, %edx",
    "decl %ecx",
    "jnz 2b",
    "movl $unikernel_tables, %eax",
    "movl %eax, %cr3",
    // Large addresses, and the registers of floating point.
    "movl %cr4, %eax",
    "orl $0x620, %eax",
    "movl %eax, %cr4",
    // 64 bits, and pages that are not executed.
    "movl $0xc0000080, %ecx",
    "rdmsr",
    "orl $0x900, %eax",
    "wrmsr",
    // Page tables, also for who has all privileges.
    "movl %cr0, %eax",
    "andl $0xfffffff3, %eax",
    "orl $0x80010023, %eax",
    "movl %eax, %cr0",
    "lgdt unikernel_descriptors_at",
    "ljmp $8, $3f",
    ".code64",
    "3: xorl %eax, %eax",
    "movl %eax, %ds",
    "movl %eax, %es",
    "movl %eax, %ss",
    "movl %eax, %fs",
    "movl %eax, %gs",
    "xorl %ebp, %ebp",
    "movl %edi, %edi",
    "call {start}",
    "ud2",
    ".popsection",
    ".pushsection .rodata.unikernel_descriptors, \"a\", @progbits",
    ".p2align 3",
    "unikernel_descriptors: .quad 0, 0x00af9b000000ffff",
    "unikernel_descriptors_at: .word 15",
    ".long unikernel_descriptors",
    ".popsection",
    ".pushsection .bss.unikernel_tables, \"aw\", @nobits",
    ".p2align 12",
    ".global unikernel_tables",
    "unikernel_tables: .skip 0x6000",
    "unikernel_first_stack: .skip 0x4000",
    "unikernel_first_stack_end:",
    ".popsection",
    start = sym start,
    options(att_syntax),
);

/// Says why the program was not begun, and ends.
fn refuse(why: &str) -> ! {
    for text in ["unikernel: ", why, "\n"] {
        console::write(Stream::Error, text.as_bytes());
    }
    exit(unikernel_abi::exit::VIOLATION)
}

/// On a small stack, in memory that is all of it.
extern "C" fn start(info: u64) -> ! {
    fault::catch();
    let told = pvh::read(info).unwrap_or_else(|why| refuse(why));
    // The line is still to be read.
    let first = tables::image_end().max(told.told_end.next_multiple_of(PAGE));
    if told.memory_end < first + (64 << 10) + PAGE + STACK {
        refuse("this machine has too little memory for the program");
    }
    let stack = Range { start: told.memory_end - STACK, len: STACK };
    let heap = Range { start: first, len: stack.start - PAGE - first };
    heap::give(heap);
    let words = pvh::Words::of(told.line);
    clock::start(words.tsc_hz, words.now);
    let [arguments, environment] = [words.arguments, words.environment].map(pvh::leak);
    let clock = Clock::default();
    let nothing = Range::default();
    let mut boot = Boot {
        magic: MAGIC,
        version: VERSION,
        kind: Kind::Machine as u32,
        heap,
        stack,
        arguments,
        environment,
        clock,
        devices: nothing,
        counts: nothing,
    };
    // From here on text goes where it belongs.
    WORLD.boot.set(Some(Box::leak(Box::new(boot))));
    tables::protect(stack.start - PAGE);
    boot.devices = virtio::find(&words.devices, &words.never_flushed);
    WORLD.boot.set(Some(Box::leak(Box::new(boot))));
    // SAFETY: the memory is there, and nothing else is in it; nothing on this stack is used any more.
    unsafe {
        core::arch::asm!("mov rsp, {stack}", "xor ebp, ebp", "call {run}", "ud2", stack = in(reg) stack.start + stack.len,
            run = sym run, options(noreturn))
    }
}

extern "C" fn run() -> ! {
    entry::run()
}
