//! From one stack to another.
//!
//! What is saved lies on the task's own stack: the registers that a function preserves, and the address to go on at. A
//! task that has not begun has there the address of [`begin`] and room for the registers, whose values do not matter.

use core::arch::naked_asm;

use rtos::port::Saved;

/// How many bytes lie on the stack of a task that does not run.
const SAVED: usize = 7 * 8;

/// See [`rtos::port::Port::prepare`].
///
/// # Safety
/// As there.
#[inline(always)]
pub(crate) unsafe fn prepare(task: &Saved) {
    // SAFETY: nothing uses the stack, and it has at least the room that the port asks for.
    unsafe {
        let sp = task.top.sub(SAVED);
        task.top.cast::<usize>().sub(1).write(begin as *const () as usize);
        task.sp.get().write(sp);
    }
}

/// See [`rtos::port::Port::switch`].
///
/// # Safety
/// As there.
#[unsafe(naked)]
pub(crate) unsafe extern "C" fn switch(from: &Saved, to: &Saved) {
    naked_asm!(
        "push rbp",
        "push rbx",
        "push r12",
        "push r13",
        "push r14",
        "push r15",
        "mov [rdi], rsp",
        "mov rsp, [rsi]",
        "pop r15",
        "pop r14",
        "pop r13",
        "pop r12",
        "pop rbx",
        "pop rbp",
        "ret",
    )
}

/// See [`rtos::port::Port::resume`]; `to` is given twice, so that it is in the register where [`begin`] looks for it.
///
/// # Safety
/// As there.
#[unsafe(naked)]
pub(crate) unsafe extern "C" fn resume(_: &Saved, to: &Saved) -> ! {
    naked_asm!("mov rsp, [rsi]", "pop r15", "pop r14", "pop r13", "pop r12", "pop rbx", "pop rbp", "ret",)
}

/// See [`rtos::port::Port::leave`].
///
/// # Safety
/// As there.
#[unsafe(naked)]
pub(crate) unsafe extern "C" fn leave(
    from: Option<&Saved>,
    on: &Saved,
    next: unsafe extern "C-unwind" fn(*const ()) -> !,
    argument: *const (),
) {
    naked_asm!(
        "test rdi, rdi",
        "jz 2f",
        "push rbp",
        "push rbx",
        "push r12",
        "push r13",
        "push r14",
        "push r15",
        "mov [rdi], rsp",
        "2:",
        "mov rsp, [rsi]",
        "and rsp, -16",
        "mov rdi, rcx",
        "call rdx",
        "ud2",
    )
}

/// Where a task begins. `rsi` is the task's `Saved`, and the stack pointer is its top.
#[unsafe(naked)]
unsafe extern "C" fn begin() -> ! {
    naked_asm!("mov rdi, rsi", "call {enter}", "ud2", enter = sym enter)
}

/// Unlocks the processor and goes to the task's entry.
unsafe extern "C" fn enter(task: &Saved) -> ! {
    crate::machine::unlock(0);
    // SAFETY: the task was described with this entry and this argument.
    unsafe { (task.entry)(task.argument) };
    crate::print(format_args!("fatal: a task returned from its entry\n"));
    std::process::exit(1)
}
