//! From one stack to another.
//!
//! What is saved lies on the task's own stack: r4 to r11 and the address to go on at. A task that has not begun has there
//! the address of [`begin`] and room for the registers, whose values do not matter.

use core::arch::naked_asm;

use rtos::port::Saved;

/// How many bytes lie on the stack of a task that does not run.
const SAVED: usize = 9 * 4;

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
        "push {{r4-r11, lr}}",
        "str sp, [r0]",
        "ldrd r2, r3, [r1]",
        // No limit while the stack pointer is neither here nor there.
        "movs r0, #0",
        "msr psplim, r0",
        "mov sp, r2",
        "msr psplim, r3",
        "pop {{r4-r11, pc}}",
    )
}

/// See [`rtos::port::Port::resume`]; `to` is given twice, so that it is in the register where [`begin`] looks for it.
///
/// # Safety
/// As there.
#[unsafe(naked)]
pub(crate) unsafe extern "C" fn resume(_: &Saved, to: &Saved) -> ! {
    naked_asm!(
        "ldrd r2, r3, [r1]",
        "movs r0, #0",
        "msr psplim, r0",
        "mov sp, r2",
        "msr psplim, r3",
        "pop {{r4-r11, pc}}",
    )
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
        "cbz r0, 1f",
        "push {{r4-r11, lr}}",
        "str sp, [r0]",
        "1:",
        "ldrd r12, r1, [r1]",
        "movs r0, #0",
        "msr psplim, r0",
        "mov sp, r12",
        "msr psplim, r1",
        // The stack pointer of a saved task is a multiple of four; a call wants eight.
        "mov r0, sp",
        "bic r0, r0, #7",
        "mov sp, r0",
        "mov r0, r3",
        "bx r2",
    )
}

/// Where a task begins: unlocks the processor and goes to the task's entry. r1 is the task's `Saved`.
#[unsafe(naked)]
unsafe extern "C" fn begin() -> ! {
    naked_asm!("movs r2, #0", "ldr r0, [r1, #16]", "ldr r3, [r1, #12]", "msr basepri, r2", "bx r3",)
}

/// PendSV: lets the task that was interrupted call the dispatcher. Returns to [`preempted`] on top of its frame.
#[unsafe(naked)]
pub(crate) unsafe extern "C" fn pend_sv() {
    naked_asm!(
        "mrs r0, psp",
        "subs r0, #32",
        "ldr r1, ={preempted}",
        "mov r2, #0x01000000",
        "strd r1, r2, [r0, #24]",
        "msr psp, r0",
        "bx lr",
        preempted = sym preempted,
    )
}

#[unsafe(naked)]
unsafe extern "C" fn preempted() {
    naked_asm!("bl rtos_preempt", "svc 0")
}

/// SVC: unlocks the processor and goes back to the code that was interrupted, whose frame lies above that of the SVC. What
/// is pending is taken after that.
#[unsafe(naked)]
pub(crate) unsafe extern "C" fn sv_call() {
    naked_asm!("mrs r0, psp", "adds r0, #32", "msr psp, r0", "movs r0, #0", "msr basepri, r0", "bx lr")
}
