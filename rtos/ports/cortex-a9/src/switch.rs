//! Context switches: from one stack to another.
//!
//! The saved context lies on the task's own stack: r4 to r11 and the address to go on at. The stack of a task that has
//! not begun holds the address of [`begin`] and room for the registers, whose values do not matter. One more word keeps
//! the stack pointer a multiple of eight.

use core::arch::naked_asm;

use rtos::port::{Next, Saved};

/// How many bytes lie on the stack of a task that does not run.
const SAVED: usize = 10 * 4;

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
        naked_asm!("push {{r3-r11, lr}}", "str sp, [r0]", "ldr sp, [r1]", "pop {{r3-r11, pc}}")
    }

    #[unsafe(naked)]
    unsafe extern "C-unwind" fn resume(_to: &Saved) -> ! {
        // The kernel starts in another mode than that of tasks.
        naked_asm!("mov r1, r0", "cps #0x1f", "ldr sp, [r1]", "pop {{r3-r11, pc}}")
    }

    #[unsafe(naked)]
    unsafe extern "C-unwind" fn leave(_from: Option<&Saved>, _on: &Saved, _next: Next, _argument: *const ()) {
        naked_asm!(
            "cmp r0, #0",
            "beq 1f",
            "push {{r3-r11, lr}}",
            "str sp, [r0]",
            "1:",
            "ldr sp, [r1]",
            "mov r0, r3",
            "bx r2",
        )
    }
}

/// Where a task begins: unlocks the processor and goes to its entry. r1 is the task's `Saved`.
#[unsafe(naked)]
unsafe extern "C" fn begin() -> ! {
    naked_asm!("ldr r0, [r1, #16]", "ldr r2, [r1, #12]", "cpsie i", "bx r2")
}
