//! Context switches: from one stack to another.
//!
//! The saved context lies on the task's own stack: the registers that a function preserves, and the address to go on
//! at. The stack of a task that has not begun holds the address of [`begin`] and room for the registers, whose values
//! do not matter.

use core::arch::naked_asm;

use rtos::port::{Next, Saved};

use crate::interrupts::unlock;
use crate::terminal;

/// How many bytes lie on the stack of a task that does not run.
const SAVED: usize = 7 * 8;

/// Saves what runs, in `rdi`.
macro_rules! save {
    () => {
        "push rbp; push rbx; push r12; push r13; push r14; push r15; mov [rdi], rsp"
    };
}

/// Goes on with the task that `rsi` names.
macro_rules! go_on {
    () => {
        "mov rsp, [rsi]; pop r15; pop r14; pop r13; pop r12; pop rbx; pop rbp; ret"
    };
}

/// The stacks of tasks.
pub struct Stacks;

// SAFETY: each function does what the trait says.
unsafe impl rtos::port::Stacks for Stacks {
    #[inline(always)]
    unsafe fn prepare(task: &Saved) {
        // SAFETY: as the caller says. The registers that are restored for `begin` have no values yet that matter.
        unsafe { task.begin_at(begin, SAVED) };
    }

    #[unsafe(naked)]
    unsafe extern "C-unwind" fn switch(_from: &Saved, _to: &Saved) {
        naked_asm!(save!(), go_on!())
    }

    #[unsafe(naked)]
    unsafe extern "C-unwind" fn resume(_to: &Saved) -> ! {
        naked_asm!("mov rsi, rdi", go_on!())
    }

    #[unsafe(naked)]
    unsafe extern "C-unwind" fn leave(_from: Option<&Saved>, _on: &Saved, _next: Next, _argument: *const ()) {
        naked_asm!(
            "test rdi, rdi",
            "jz 2f",
            save!(),
            "2:",
            "mov rsp, [rsi]",
            "and rsp, -16",
            "mov rdi, rcx",
            "call rdx",
            "ud2",
        )
    }
}

/// Where a task begins: unlocks the processor and goes to its entry. `rsi` is the task's `Saved`, and the stack pointer
/// is its top.
#[unsafe(naked)]
unsafe extern "C" fn begin() -> ! {
    naked_asm!("mov rdi, rsi", "call {enter}", "ud2", enter = sym enter)
}

/// Unlocks the processor and goes to the task's entry.
unsafe extern "C" fn enter(task: &Saved) -> ! {
    unlock(0);
    // SAFETY: the task was described with this entry and this argument.
    unsafe { (task.entry)(task.argument) };
    terminal::print(format_args!("fatal: a task returned from its entry\n"));
    terminal::exit(1)
}
