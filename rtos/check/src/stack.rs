//! Stacks: each is a thread, and a switch gives the processor's turn to another stack.
//!
//! The value in a task's `sp` says whether and how its stack can be continued, so that two processors on one stack are
//! found out.

use std::panic::resume_unwind;

use rtos::port::Saved;

use crate::machine::{Next, of_mine, with};
use crate::step::Wait;
use crate::threads::{Over, spawn, wait};

const PREPARED: usize = 1;
const IN_USE: usize = 2;
const LEFT: usize = 3;
/// The number of the thread, from here.
const SAVED: usize = 16;

fn sp(task: &Saved) -> usize {
    // SAFETY: threads run one at a time.
    unsafe { *task.sp.get() as usize }
}

fn set_sp(task: &Saved, value: usize) {
    // SAFETY: threads run one at a time.
    unsafe { *task.sp.get() = std::ptr::without_provenance_mut(value) }
}

/// Makes a stack one that can be begun.
pub(crate) fn prepare(task: &Saved) {
    assert!(sp(task) != IN_USE, "a stack is prepared while a processor uses it");
    set_sp(task, PREPARED);
}

/// Gives this processor's turn to that stack. The thread that calls has to wait, or to end.
fn go_to(to: &Saved, begin: fn(*mut ())) {
    let thread = match sp(to) {
        PREPARED => {
            let argument = to.argument as usize;
            spawn(move || begin(argument as *mut ()))
        }
        IN_USE => panic!("a processor goes on with a stack that another one uses"),
        LEFT => panic!("a processor goes on with a stack that was left"),
        saved => saved - SAVED,
    };
    set_sp(to, IN_USE);
    of_mine(|processor| (processor.thread, processor.stack) = (thread, Some(std::ptr::from_ref(to))));
    with(|machine| machine.next = Next::Thread(thread));
}

/// Saves the stack that runs, which is this.
fn save(from: &Saved) {
    let mine = of_mine(|processor| processor.stack);
    assert!(mine.is_some_and(|mine| std::ptr::eq(mine, from)), "what is saved is not what runs");
    set_sp(from, SAVED + usize::from(shuttle::current::me()));
}

/// See [`rtos::port::Stacks::switch`]. `begin` is where a stack begins that was prepared.
pub(crate) fn switch(from: &Saved, to: &Saved, begin: fn(*mut ())) {
    save(from);
    go_to(to, begin);
    wait(Wait::Turn);
}

/// See [`rtos::port::Stacks::resume`].
pub(crate) fn resume(to: &Saved, begin: fn(*mut ())) -> ! {
    go_to(to, begin);
    resume_unwind(Box::new(Over))
}

/// See [`rtos::port::Stacks::leave`]. What is left for good ends with `next`, which does not come back; what may be gone on
/// with waits, while another thread calls `next`.
pub(crate) fn leave(from: Option<&Saved>, on: &Saved, next: impl FnOnce() + Send + 'static) {
    assert!(sp(on) == PREPARED || sp(on) >= SAVED, "the idle task's stack is in use");
    let Some(from) = from else {
        if let Some(mine) = of_mine(|processor| processor.stack.take()) {
            // SAFETY: the stack is one of the kernel's, which lives as long as the run.
            set_sp(unsafe { &*mine }, LEFT);
        }
        return next();
    };
    save(from);
    let thread = spawn(next);
    of_mine(|processor| (processor.thread, processor.stack) = (thread, None));
    with(|machine| machine.next = Next::Thread(thread));
    wait(Wait::Turn);
}
