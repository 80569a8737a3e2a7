//! Ports: what a processor and a board provide to the kernel. A port implements [`Port`] and the traits of its parts.

use core::cell::UnsafeCell;
use core::fmt;

/// A task that is not running, as the machine sees it: the stack and what lies saved on it.
///
/// The layout is fixed because ports read it in assembly.
#[repr(C)]
pub struct Saved {
    /// The stack pointer, with all that must survive saved above it. Only meaningful while the task does not run.
    pub sp: UnsafeCell<*mut u8>,
    /// The lowest address of the stack.
    pub limit: *mut u8,
    /// The address after the highest one of the stack.
    pub top: *mut u8,
    /// Where the task begins.
    pub entry: unsafe extern "C" fn(*mut ()),
    /// What it is given.
    pub argument: *mut (),
}

// SAFETY: `sp` is written by the processor that the task belongs to, with its interrupts locked, when it leaves the task
// or prepares it; another processor reads it only after the task was handed over under the giant lock.
unsafe impl Sync for Saved {}

impl Saved {
    /// Makes the stack go on at `begin` with that many bytes on it, of which the highest word is the address to go on
    /// at: [`Stacks::prepare`] for a port that saves so.
    ///
    /// # Safety
    /// Nothing uses the stack.
    #[inline(always)]
    pub unsafe fn begin_at(&self, begin: unsafe extern "C" fn() -> !, saved: usize) {
        // SAFETY: the stack is the task's, and it has at least the room that the port asks for.
        unsafe {
            self.top.cast::<usize>().sub(1).write(begin as *const () as usize);
            self.sp.get().write(self.top.sub(saved));
        }
    }
}

/// A lock between processors.
pub trait Lock: Sync {
    /// The lock before anyone took it.
    const FREE: Self;
    /// Takes the lock if it is free. What the previous holder wrote is visible then.
    fn try_acquire(&self) -> bool;
    /// Gives the lock back.
    fn release(&self);
}

/// What the kernel needs of a processor and its board.
///
/// # Safety
/// The kernel's promises rest on every one of these functions doing what is said here.
pub unsafe trait Port: Sized + 'static {
    /// The smallest stack that a task can have: what saving it takes, and a little to run with, in bytes.
    const MINIMUM_STACK: usize;
    /// The size of the idle task's stack, on which tasks are buried that have ended, in bytes.
    const IDLE_STACK: usize;
    /// The alignment of a stack and its size.
    const STACK_ALIGNMENT: usize;
    /// How many processors the machine has.
    const PROCESSORS: usize;
    /// What is restored when the processor is unlocked.
    type Mask: Copy;
    /// The lock that the kernel takes between processors. There is one of this type.
    type Giant: Lock;
    /// The lock of a user's spin lock.
    type Lock: Lock;
    /// The way from one stack to another.
    type Stacks: Stacks;
    /// The interrupt lines.
    type Lines: Lines;

    /// Locks the processor: from now on no interrupt that the kernel manages is taken. Gives what was before.
    fn lock() -> Self::Mask;
    /// Restores what [`lock`](Self::lock) found.
    ///
    /// # Safety
    /// Nothing may rely on the lock any more.
    unsafe fn unlock(mask: Self::Mask);
    /// Whether the processor was locked already.
    fn was_locked(mask: Self::Mask) -> bool;
    /// The mask of a processor that is not locked.
    fn unlocked() -> Self::Mask;
    /// Whether a task is what the processor runs, and not a handler.
    fn in_task() -> bool;
    /// The number of this processor, from 0. To be asked only while the processor is locked, or it may be old at once.
    fn processor() -> usize;

    /// From a handler: makes the processor call [`crate::system::entry::preempt`], locked, in task context, when the
    /// last handler is left.
    fn request_dispatch();
    /// Waits for an interrupt, with an unlocked processor.
    fn idle();
    /// What a processor does between two tries for a lock.
    #[inline(always)]
    fn relax() {
        core::hint::spin_loop();
    }

    /// Starts another processor, which then calls [`crate::system::entry::begin`].
    fn start_processor(processor: usize);
    /// Interrupts another processor, which then calls [`crate::system::entry::interrupted`].
    fn interrupt(processor: usize);
    /// The time in microseconds, which wraps after 2³², the same on every processor.
    fn now() -> u32;
    /// Makes this processor call [`crate::system::entry::tick`] when that many microseconds have passed, instead of
    /// what was asked before. At once when it is zero.
    fn alarm(after: u32);

    /// The lowest value, below zero, that [`mask_interrupts`](Self::mask_interrupts) takes: as ITRON's PRI.
    const LOWEST_INTERRUPT_MASK: i32;
    /// The mask that lets only interrupts above that priority through, all if it is 0, once unlocked with it.
    fn mask_interrupts(priority: i32) -> Self::Mask;

    /// Prints text for whoever watches the machine.
    fn print(what: fmt::Arguments<'_>);
    /// Ends the program with that status: 0 when the kernel has ended, on processor 0.
    fn exit(status: u32) -> !;
    /// Something that the kernel cannot go on with happened, such as a stack that overflowed: says so and stops.
    fn fatal(what: fmt::Arguments<'_>) -> ! {
        Self::print(format_args!("fatal: {what}\n"));
        Self::exit(1)
    }
}

/// What is called on another stack, with what it is given.
pub type Next = unsafe extern "C-unwind" fn(*const ()) -> !;

/// The way from one stack to another.
///
/// The kernel calls these functions as they stand here, so that a port can write them in assembly.
///
/// # Safety
/// As for [`Port`].
pub unsafe trait Stacks {
    /// Makes the task begin at its entry, with an unlocked processor, when it is switched to.
    ///
    /// # Safety
    /// The processor is locked, and nothing runs on that stack.
    unsafe fn prepare(task: &Saved);
    /// Saves what runs and goes on with another. Returns when somebody switches back.
    ///
    /// # Safety
    /// The processor is locked, `from` is what runs, in task context, and `to` was saved or prepared.
    unsafe extern "C-unwind" fn switch(from: &Saved, to: &Saved);
    /// Leaves the stack of the running task for good, or until it is switched to: saves it in `from` if there is one,
    /// then calls `next` with `argument` on the free part of the stack of `on`, which is saved or prepared and stays
    /// so.
    ///
    /// # Safety
    /// As [`switch`](Self::switch).
    unsafe extern "C-unwind" fn leave(from: Option<&Saved>, on: &Saved, next: Next, argument: *const ());
    /// Goes on with a task, without saving what runs.
    ///
    /// # Safety
    /// As [`switch`](Self::switch).
    unsafe extern "C-unwind" fn resume(to: &Saved) -> !;
}

/// An interrupt controller.
pub trait Lines {
    /// Whether each processor has a controller of its own, which only it reaches.
    const EACH: bool;
    /// Whether there is a line of this number.
    fn exists(line: u32) -> bool;
    /// Lets the line through.
    fn enable(line: u32);
    /// Holds the line back.
    fn disable(line: u32);
    /// Makes the line pending. False if this line cannot be raised by software.
    fn raise(line: u32) -> bool;
    /// Makes it not pending. False if this line cannot be cleared by software.
    fn clear(line: u32) -> bool;
    /// Whether it is pending.
    fn pending(line: u32) -> bool;
}
