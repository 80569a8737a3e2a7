//! The last steps of the child, which nothing of the monitor is left for.
//!
//! They run from a page of their own in the guest's memory, since they unmap the memory that the monitor's code is in; so does what is
//! run when the guest does what it may not: it says what happened, and ends the process.

use std::arch::global_asm;
use std::mem::offset_of;

/// What the last steps need, at the beginning of a page of its own.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Last {
    /// Ranges of memory that are unmapped: first byte and length.
    pub unmap: [[u64; 2]; 4],
    /// The filter, as the kernel takes it.
    pub filter_len: u16,
    pub filter: u64,
    pub stack: u64,
    pub boot: u64,
    pub entry: u64,
}

/// What is known of the end, in a page that the monitor shares.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Told {
    /// A signal; 0 if there was none.
    pub signal: u64,
    /// Of SIGSYS: the number of the call. Else the address that was accessed.
    pub address: u64,
    /// Where.
    pub at: u64,
    /// A step of [`enter`] that failed, and with what error.
    pub failed: u64,
    pub error: i64,
}

const FAILED: usize = offset_of!(Told, failed);
const ERROR: usize = offset_of!(Told, error);

// Where the two pages lie is filled in, so that the code does not depend on where it is.
global_asm!(
    ".pushsection .rodata.unikernel_enter, \"a\", @progbits",
    ".global unikernel_enter, unikernel_fault, unikernel_enter_end",
    ".p2align 4",
    "unikernel_enter:",
    "mov r12, {last}",
    "mov r13, {told}",
    "xor ebx, ebx",
    "2: mov rdi, [r12 + rbx]",
    "mov rsi, [r12 + rbx + 8]",
    "test rsi, rsi",
    "je 3f",
    "mov eax, {munmap}",
    "syscall",
    "mov edx, 1",
    "test rax, rax",
    "jne 5f",
    "3: add ebx, 16",
    "cmp ebx, 64",
    "jb 2b",
    "mov eax, {seccomp}",
    "mov edi, {set_mode_filter}",
    "xor esi, esi",
    "lea rdx, [r12 + {filter_len}]",
    "syscall",
    "mov edx, 2",
    "test rax, rax",
    "jne 5f",
    "mov rsp, [r12 + {stack}]",
    "mov rdi, [r12 + {boot}]",
    "mov rax, [r12 + {entry}]",
    "xor ebx, ebx",
    "xor ecx, ecx",
    "xor edx, edx",
    "xor esi, esi",
    "xor ebp, ebp",
    "xor r8d, r8d",
    "xor r9d, r9d",
    "xor r10d, r10d",
    "xor r11d, r11d",
    "xor r12d, r12d",
    "xor r13d, r13d",
    "xor r14d, r14d",
    "xor r15d, r15d",
    "jmp rax",
    "5: mov [r13 + {failed}], rdx",
    "mov [r13 + {error}], rax",
    "mov edi, {fault}",
    "mov eax, {exit_group}",
    "syscall",
    "ud2",
    // signal, siginfo, ucontext
    ".p2align 4",
    "unikernel_fault:",
    "mov r13, {told}",
    "mov rax, [rsi + 16]",
    "mov edi, {fault}",
    "cmp dword ptr [rsi], {sigsys}",
    "jne 6f",
    "mov eax, [rsi + 24]",
    "mov edi, {violation}",
    "6: mov [r13 + {address}], rax",
    "mov rax, [rdx + 168]",
    "mov [r13 + {at}], rax",
    "mov eax, [rsi]",
    "mov [r13], rax",
    "mov eax, {exit_group}",
    "syscall",
    "ud2",
    "unikernel_enter_end:",
    ".popsection",
    last = const LAST,
    told = const TOLD,
    munmap = const libc::SYS_munmap,
    seccomp = const libc::SYS_seccomp,
    set_mode_filter = const libc::SECCOMP_SET_MODE_FILTER,
    exit_group = const libc::SYS_exit_group,
    filter_len = const offset_of!(Last, filter_len),
    stack = const offset_of!(Last, stack),
    boot = const offset_of!(Last, boot),
    entry = const offset_of!(Last, entry),
    failed = const FAILED,
    error = const ERROR,
    address = const offset_of!(Told, address),
    at = const offset_of!(Told, at),
    sigsys = const libc::SIGSYS,
    fault = const unikernel_abi::exit::FAULT,
    violation = const unikernel_abi::exit::VIOLATION,
);

/// The pages of the monitor in the guest's memory: the stack of the handler, what it tells, what the last steps need, and the code.
pub(super) const HANDLER_STACK: u64 = unikernel_abi::BOOT_END;
pub(super) const HANDLER_STACK_LEN: u64 = 0x8000;
pub(super) const TOLD: u64 = 0x3_d000;
pub(super) const LAST: u64 = 0x3_e000;
pub(super) const CODE: u64 = 0x3_f000;

unsafe extern "C" {
    static unikernel_enter: u8;
    static unikernel_fault: u8;
    static unikernel_enter_end: u8;
}

/// The code, and where in it the handler begins.
pub(super) fn code() -> (&'static [u8], u64) {
    let (start, fault, end) = (&raw const unikernel_enter, &raw const unikernel_fault, &raw const unikernel_enter_end);
    // SAFETY: the labels are the beginning and the end of what the assembler wrote, which nobody changes.
    let code = unsafe { std::slice::from_raw_parts(start, end as usize - start as usize) };
    (code, fault as u64 - start as u64)
}
