//! Context switches: from one stack to another.
//!
//! The saved context lies on the task's own stack: r4 to r11 and the address to go on at. The stack of a task that has
//! not begun holds the address of [`begin`] and room for the registers, whose values do not matter.

use core::arch::naked_asm;

use rtos::port::{Next, Saved};

use crate::basepri::LOCKED;

/// How many bytes lie on the stack of a task that does not run.
const SAVED: usize = 9 * 4;

/// Saves what runs, in r0.
macro_rules! save {
    () => {
        "push {{r4-r11, lr}}; str sp, [r0]"
    };
}

/// Goes on with the task that r1 names. There is no limit while the stack pointer is neither here nor there.
macro_rules! go_on {
    () => {
        "ldrd r2, r3, [r1]; movs r0, #0; msr psplim, r0; mov sp, r2; msr psplim, r3; pop {{r4-r11, pc}}"
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
        naked_asm!("mov r1, r0", go_on!())
    }

    #[unsafe(naked)]
    unsafe extern "C-unwind" fn leave(_from: Option<&Saved>, _on: &Saved, _next: Next, _argument: *const ()) {
        naked_asm!(
            "cbz r0, 1f",
            save!(),
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
}

/// Where a task begins: unlocks the processor and goes to its entry. r1 is the task's `Saved`.
#[unsafe(naked)]
unsafe extern "C" fn begin() -> ! {
    naked_asm!("movs r2, #0", "ldr r0, [r1, #16]", "ldr r3, [r1, #12]", "msr basepri, r2", "bx r3")
}

/// PendSV: lets the task that was interrupted call the dispatcher. Returns to [`preempted`] on top of its frame, locked, or
/// each further interrupt would leave another frame before that locks.
#[unsafe(naked)]
pub(crate) unsafe extern "C" fn pend_sv() {
    naked_asm!(
        "mrs r0, psp",
        "subs r0, #32",
        "ldr r1, ={preempted}",
        "mov r2, #0x01000000",
        "strd r1, r2, [r0, #24]",
        "msr psp, r0",
        "movs r1, #{locked}",
        "msr basepri, r1",
        "bx lr",
        locked = const LOCKED,
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
