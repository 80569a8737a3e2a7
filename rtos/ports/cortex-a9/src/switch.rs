//! From one stack to another.
//!
//! What is saved lies on the task's own stack: r4 to r11 and the address to go on at. A task that has not begun has there
//! the address of [`begin`] and room for the registers, whose values do not matter. One more word keeps the stack pointer
//! a multiple of eight.

use core::arch::naked_asm;

use rtos::port::Saved;

/// How many bytes lie on the stack of a task that does not run.
const SAVED: usize = 10 * 4;

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
    naked_asm!("push {{r3-r11, lr}}", "str sp, [r0]", "ldr sp, [r1]", "pop {{r3-r11, pc}}")
}

/// See [`rtos::port::Port::resume`]; `to` is given twice, so that it is in the register where [`begin`] looks for it.
///
/// # Safety
/// As there.
#[unsafe(naked)]
pub(crate) unsafe extern "C" fn resume(_: &Saved, to: &Saved) -> ! {
    // The kernel starts in another mode than that of tasks.
    naked_asm!("cps #0x1f", "ldr sp, [r1]", "pop {{r3-r11, pc}}")
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

/// Where a task begins: unlocks the processor and goes to the task's entry. r1 is the task's `Saved`.
#[unsafe(naked)]
unsafe extern "C" fn begin() -> ! {
    naked_asm!("ldr r0, [r1, #16]", "ldr r2, [r1, #12]", "cpsie i", "bx r2")
}
