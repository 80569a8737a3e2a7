//! Context switches: from one stack to another.
//!
//! The saved context lies on the task's own stack: r8 to r11, r4 to r7 and the address to go on at. The stack of a task
//! that has not begun holds the address of [`begin`] and room for the registers, whose values do not matter. The lowest
//! word of a stack has a known value unless the stack has overflowed.

use core::arch::naked_asm;

use rtos::port::{Next, Saved};

/// How many bytes lie on the stack of a task that does not run.
const SAVED: usize = 9 * 4;

/// What the lowest word of each stack is.
pub(crate) const UNTOUCHED: u32 = 0x5AFE_57AC;

/// Saves what runs, on its stack.
macro_rules! save {
    () => {
        "push {{r4-r7, lr}}; mov r4, r8; mov r5, r9; mov r6, r10; mov r7, r11; push {{r4-r7}}"
    };
}

/// Goes on with the task that r1 names.
macro_rules! go_on {
    () => {
        "ldr r2, [r1]; mov sp, r2; \
         pop {{r4-r7}}; mov r8, r4; mov r9, r5; mov r10, r6; mov r11, r7; pop {{r4-r7, pc}}"
    };
}

/// The stacks of tasks.
pub struct Stacks;

// SAFETY: each function does what the trait says.
unsafe impl rtos::port::Stacks for Stacks {
    #[inline(always)]
    unsafe fn prepare(task: &Saved) {
        // SAFETY: as the caller says. The registers that are restored for `begin` have no values yet that matter.
        unsafe {
            task.limit.cast::<u32>().write(UNTOUCHED);
            task.begin_at(begin, SAVED);
        }
    }

    #[unsafe(naked)]
    unsafe extern "C-unwind" fn switch(_from: &Saved, _to: &Saved) {
        naked_asm!(
            save!(),
            "mov r2, sp",
            "str r2, [r0]",
            // Has the stack overflowed, now or before?
            "ldr r3, [r0, #4]",
            "ldr r4, [r3]",
            "ldr r5, 3f",
            "cmp r4, r5",
            "bne 2f",
            "cmp r2, r3",
            "blo 2f",
            go_on!(),
            "2: mov r0, r3",
            "bl rtos_overflow",
            ".align 2",
            "3: .word {untouched}",
            untouched = const UNTOUCHED,
        )
    }

    #[unsafe(naked)]
    unsafe extern "C-unwind" fn resume(_to: &Saved) -> ! {
        naked_asm!("mov r1, r0", go_on!())
    }

    #[unsafe(naked)]
    unsafe extern "C-unwind" fn leave(_from: Option<&Saved>, _on: &Saved, _next: Next, _argument: *const ()) {
        naked_asm!(
            "cmp r0, #0",
            "beq 1f",
            save!(),
            "mov r4, sp",
            "str r4, [r0]",
            "1: ldr r4, [r1]",
            // The stack pointer of a saved task is a multiple of four; a call wants eight.
            "movs r5, #7",
            "bics r4, r5",
            "mov sp, r4",
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

/// PendSV: lets the task that was interrupted call the dispatcher, by returning to [`preempted`] on top of its frame,
/// locked, or each further interrupt would leave another frame before that locks. If it interrupts the end of that, it goes back to what was interrupted first, unless the task has to give way again.
#[unsafe(naked)]
pub(crate) unsafe extern "C" fn pend_sv() {
    naked_asm!(
        "mrs r0, psp",
        "ldr r1, [r0, #24]",
        // The second instruction there; the lowest bit of the symbol says that it is Thumb code.
        "ldr r2, ={back}",
        "adds r2, #1",
        "cmp r1, r2",
        "bne 1f",
        "adds r0, #32",
        "msr psp, r0",
        "push {{r4, lr}}",
        "bl rtos_should_dispatch",
        "pop {{r4}}",
        "pop {{r1}}",
        "mov lr, r1",
        "cmp r0, #0",
        "bne 1f",
        "bx lr",
        "1: mrs r0, psp",
        "subs r0, #32",
        "ldr r1, ={preempted}",
        "subs r1, #1",
        "str r1, [r0, #24]",
        "movs r2, #1",
        "lsls r2, r2, #24",
        "str r2, [r0, #28]",
        "msr psp, r0",
        "cpsid i",
        "bx lr",
        ".ltorg",
        preempted = sym preempted,
        back = sym back,
    )
}

/// The task gives way; when it goes on, it asks to be led back.
#[unsafe(naked)]
unsafe extern "C" fn preempted() {
    naked_asm!(
        "bl rtos_preempt",
        "ldr r0, =0xE000ED04",
        "movs r1, #1",
        "lsls r1, r1, #28",
        "ldr r2, ={back}",
        "str r1, [r0]",
        "bx r2",
        ".ltorg",
        back = sym back,
    )
}

/// Unlocks the processor, and waits for the PendSV that leads back.
#[unsafe(naked)]
unsafe extern "C" fn back() {
    naked_asm!("cpsie i", "1: b 1b")
}
