//! What the program cannot do: the processor tells, and the program ends.

use core::arch::{asm, global_asm};
use core::cell::UnsafeCell;
use core::fmt::{self, Write as _};

use super::{console, exit};
use crate::stream::Stream;

/// Exceptions of the processor.
const VECTORS: usize = 32;

global_asm!(
    ".pushsection .text.unikernel_vectors, \"ax\", @progbits",
    ".p2align 4",
    ".global unikernel_vectors, unikernel_exception_stack_end, unikernel_task",
    "unikernel_vectors:",
    ".set unikernel_vector, 0",
    ".rept 32",
    ".p2align 4",
    "pushq $unikernel_vector",
    "jmp unikernel_exception",
    ".set unikernel_vector, unikernel_vector + 1",
    ".endr",
    "unikernel_exception:",
    "popq %rdi",
    "movq %rsp, %rsi",
    "movq %cr2, %rdx",
    // The stack may be what it fell off.
    "movq $unikernel_exception_stack_end, %rsp",
    "cld",
    "call {told}",
    "ud2",
    ".popsection",
    ".pushsection .bss.unikernel_exception_stack, \"aw\", @nobits",
    ".p2align 4",
    "unikernel_exception_stack: .skip 0x4000",
    "unikernel_exception_stack_end:",
    // The task state: all that counts is the stack of the exceptions, at its place 36.
    ".p2align 4",
    "unikernel_task: .skip 104",
    ".popsection",
    told = sym told,
    options(att_syntax),
);

unsafe extern "C" {
    static unikernel_vectors: u8;
    static unikernel_exception_stack_end: u8;
    static unikernel_task: UnsafeCell<[u32; 26]>;
}

/// What the processor reads.
#[repr(C, align(16))]
struct Table<const N: usize>(UnsafeCell<[u64; N]>);

// SAFETY: there is one thread, which writes to it before the processor reads it.
unsafe impl<const N: usize> Sync for Table<N> {}

static GATES: Table<{ 2 * VECTORS }> = Table(UnsafeCell::new([0; 2 * VECTORS]));
/// Nothing, code, and the task, which is of two words.
static DESCRIPTORS: Table<4> = Table(UnsafeCell::new([0, 0x00af_9b00_0000_ffff, 0, 0]));

/// The address and the length of a table, as the processor takes it.
#[repr(C, packed)]
struct Pointer {
    last: u16,
    start: u64,
}

/// From here on exceptions are told, each on a stack of its own.
pub fn catch() {
    const CODE: u64 = 8;
    const TASK: u16 = 16;
    // SAFETY: the labels are those of the assembler above; only their addresses are taken. The tables are static, and written to before
    // the processor is told of them.
    unsafe {
        let stack = &raw const unikernel_exception_stack_end as u64;
        let task = unikernel_task.get();
        (*task)[9] = stack as u32;
        (*task)[10] = (stack >> 32) as u32;
        let at = task as u64;
        let descriptors = DESCRIPTORS.0.get();
        (*descriptors)[2] = 103 | (at & 0xff_ffff) << 16 | 0x89 << 40 | (at >> 24 & 0xff) << 56;
        (*descriptors)[3] = at >> 32;
        let gates = GATES.0.get();
        for vector in 0..VECTORS {
            let handler = &raw const unikernel_vectors as u64 + 16 * vector as u64;
            // Present, an interrupt gate, on the first of the task's stacks.
            (*gates)[2 * vector] = (handler & 0xffff) | CODE << 16 | 0x8e01 << 32 | (handler >> 16 & 0xffff) << 48;
            (*gates)[2 * vector + 1] = handler >> 32;
        }
        let of_descriptors = Pointer { last: 31, start: descriptors as u64 };
        let of_gates = Pointer { last: (16 * VECTORS - 1) as u16, start: gates as u64 };
        asm!("lgdt [{0}]", "ltr {1:x}", "lidt [{2}]", in(reg) &raw const of_descriptors, in(reg) TASK, in(reg) &raw const of_gates,
            options(nostack));
    }
}

/// Text on the way out, for which nothing is allocated.
struct Console;

impl fmt::Write for Console {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        console::write(Stream::Error, text.as_bytes());
        Ok(())
    }
}

extern "C" fn told(vector: u64, frame: *const u64, address: u64) -> ! {
    let has_code = matches!(vector, 8 | 10..=14 | 17 | 21 | 29 | 30);
    // SAFETY: the processor put it there: a code for some, then the address of the instruction.
    let at = unsafe { frame.add(usize::from(has_code)).read() };
    // What is written does not fail.
    let _ = match vector {
        14 => writeln!(Console, "unikernel: accessed memory at {address:#x} that it has not, at {at:#x}"),
        6 => writeln!(Console, "unikernel: executed what is no instruction, at {at:#x}"),
        0 | 16 | 19 => writeln!(Console, "unikernel: divided by zero, at {at:#x}"),
        _ => writeln!(Console, "unikernel: did what it cannot do (exception {vector}), at {at:#x}"),
    };
    exit(unikernel_abi::exit::FAULT)
}
